"""Checkpoints: whole or not at all, checked on load, the last few and the best one kept.

A checkpoint is one file. It is written aside, flushed to disk and renamed; then uploaded; then the pointer names it.
So whatever moment the instance is lost at, the pointer names only checkpoints that are there."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from trainer_image.trainer.storage import Storage

KEPT = 3
POINTER = "pointer.json"


class Entry(BaseModel):
    """One checkpoint in the pointer. `score`: higher is better, None if not measured."""

    model_config = ConfigDict(frozen=True)

    step: int
    epoch: int
    key: str
    sha256: str
    score: float | None = None


class Checkpoints:
    """The checkpoints below `prefix`. `write(state, path)` and `read(path)` turn a state into a file and back."""

    def __init__(
        self, storage: Storage, prefix: str, scratch: Path,
        write: Callable[[Any, Path], None], read: Callable[[Path], Any],
    ) -> None:  # fmt: skip
        self._storage, self._prefix, self._scratch = storage, prefix, scratch
        self._write, self._read = write, read
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def newest(self) -> tuple[Entry, Any] | None:
        """The newest checkpoint that is whole, and its state. A damaged or missing one is passed over."""
        return self._first_whole(self.entries())

    def best(self) -> tuple[Entry, Any] | None:
        """The checkpoint with the best score that is whole, the newest of equals; None if none has a score."""
        scored = [entry for entry in self.entries() if entry.score is not None]
        return self._first_whole(sorted(scored, key=lambda e: (e.score or 0.0, e.step), reverse=True))

    def _first_whole(self, entries: list[Entry]) -> tuple[Entry, Any] | None:
        for entry in entries:
            path = self._scratch / "resumed"
            if self._storage.get_file(entry.key, path) and sha256(path) == entry.sha256:
                return entry, self._read(path)
            print(f"checkpoint at step {entry.step} is damaged, using another", file=sys.stderr)
        return None

    def entries(self) -> list[Entry]:
        """What the pointer names, newest first."""
        data = self._storage.get_bytes(f"{self._prefix}/{POINTER}")
        if data is None:
            return []
        try:
            entries = [Entry.model_validate(e) for e in json.loads(data)["checkpoints"]]
        except (ValueError, KeyError, TypeError):
            print("the checkpoint pointer is damaged, starting anew", file=sys.stderr)
            return []
        return sorted(entries, key=lambda e: e.step, reverse=True)

    def save(self, state: Any, step: int, epoch: int, score: float | None, saved: Callable[[Entry], None]) -> None:
        """Write `state` (already a copy in host memory) in the background, then call `saved`. Waits for the save
        before it; that it failed is no reason to stop training: this one tries again."""
        self.settled()
        self._thread = threading.Thread(target=self._guarded, args=(state, step, epoch, score, saved))
        self._thread.start()

    def settled(self) -> bool:
        """Waits for the save in progress; whether it went well."""
        try:
            self.wait()
        except Exception as error:  # noqa: BLE001  (whatever the storage raised)
            print(f"a checkpoint could not be saved, going on: {error}", file=sys.stderr)
            return False
        return True

    def wait(self) -> None:
        """Until the save in progress is done. Raises what it failed with."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _guarded(self, state: Any, step: int, epoch: int, score: float | None, saved: Callable[[Entry], None]) -> None:
        try:
            saved(self._store(state, step, epoch, score))
        except BaseException as error:  # noqa: BLE001  (raised again by wait())
            self._failure = error

    def _store(self, state: Any, step: int, epoch: int, score: float | None) -> Entry:
        path = self._scratch / f"step-{step:09d}"
        aside = path.with_name(path.name + ".new")
        self._write(state, aside)
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(path)
        entry = Entry(
            step=step, epoch=epoch, key=f"{self._prefix}/step-{step:09d}.ckpt", sha256=sha256(path), score=score
        )
        self._storage.put_file(entry.key, path)
        path.unlink()
        before = [e for e in self.entries() if e.step != step]
        kept = _kept([entry, *before])
        pointer = json.dumps({"checkpoints": [e.model_dump() for e in kept]})
        self._storage.put_bytes(f"{self._prefix}/{POINTER}", pointer.encode())
        for old in before:
            if old not in kept:
                self._storage.delete(old.key)
        return entry


def _kept(entries: list[Entry]) -> list[Entry]:
    """The newest few and the best."""
    newest = sorted(entries, key=lambda e: e.step, reverse=True)
    scored = [e for e in newest if e.score is not None]
    best = max(scored, key=lambda e: e.score or 0.0) if scored else None
    return [e for i, e in enumerate(newest) if i < KEPT or e is best]


def sha256(path: Path) -> str:
    """Hex digest of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
