"""The checkpoint folder of own code: taken whole when nothing in it changes, uploaded like any checkpoint, and there
again on the next attempt."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path

from trainer_image.trainer.checkpoints import Checkpoints, Entry
from trainer_image.trainer.reports import Reporter

QUIET_S = 2.0
"""A folder in which nothing changed for so long is whole: a program that writes longer than this without a byte going
to the disk writes aside and renames (docs/own-code.md)."""
PATIENCE_S = 10.0
"""A folder that is written to more often than that is taken between two writes, if it stays as it is meanwhile."""
Print = tuple[tuple[str, int, int], ...]


class Snapshots:
    """The folder `folder`, kept as `checkpoints`. `step()` is where the training is."""

    def __init__(self, folder: Path, checkpoints: Checkpoints, reporter: Reporter) -> None:
        self._folder, self._checkpoints, self._reporter = folder, checkpoints, reporter
        self._seen, self._since = fingerprint(folder), time.monotonic()
        self._saved, self._saved_at = self._seen, time.monotonic()
        self._number = 0

    def restore(self) -> int | None:
        """Bring back the newest whole one. The step that it was taken at; None: there is none."""
        found = self._checkpoints.newest()
        if found is None:
            return None
        with tarfile.open(found[1]) as packed:
            packed.extractall(self._folder, filter="data")
        self._number = found[0].step
        self._seen = self._saved = fingerprint(self._folder)
        return found[0].step

    def look(self, step: int, epoch: int, now: bool = False) -> None:
        """Save the folder if it has changed and then been quiet; `now`: do not wait, the program has ended."""
        found = fingerprint(self._folder)
        if found != self._seen:
            self._seen, self._since = found, time.monotonic()
        if not found or found == self._saved:
            self._saved_at = time.monotonic() if found == self._saved else self._saved_at
            return
        quiet = time.monotonic() - self._since >= QUIET_S
        if not (now or quiet or time.monotonic() - self._saved_at >= PATIENCE_S):
            return
        # A later state of the same step is a later checkpoint all the same.
        number = max(step, self._number + 1)
        copy = self._pack(number)
        if fingerprint(self._folder) != found and not now:
            copy.unlink()
            return
        self._number = number
        self._saved, self._saved_at = found, time.monotonic()
        self._checkpoints.save(copy, self._number, epoch, None, self._told)

    def wait(self) -> None:
        """Until what is being saved is saved. Raises what it failed with."""
        self._checkpoints.wait()

    def _pack(self, number: int) -> Path:
        path = self._folder.with_name(f"checkpoint-{number}.tar")
        with tarfile.open(path, "w") as packed:
            for file in sorted(self._folder.rglob("*")):
                try:
                    packed.add(file, file.relative_to(self._folder).as_posix(), recursive=False)
                except FileNotFoundError:
                    continue
        return path

    def _told(self, entry: Entry) -> None:
        self._reporter.checkpoint(step=entry.step, epoch=entry.epoch, key=entry.key, sha256=entry.sha256)


def write(packed: Path, target: Path) -> None:
    """A packed folder as a checkpoint's file."""
    packed.rename(target)


def read(path: Path) -> Path:
    """A checkpoint's file as a packed folder."""
    return path


def fingerprint(folder: Path) -> Print:
    """Changes when a file below the folder does."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        if path.is_file():
            found.append((path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns))
    return tuple(found)
