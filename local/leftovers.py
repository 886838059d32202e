"""What a stack that was killed left behind: its processes and its folder. Only what a stack of ours wrote down."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import psutil

from local.places import RUNS


def write_owner(folder: Path) -> None:
    """Mark the folder as this process's."""
    me = psutil.Process()
    (folder / "owner").write_text(json.dumps({"pid": me.pid, "started": me.create_time()}))


def note_process(folder: Path, name: str, pid: int) -> None:
    """Write down a process of the stack, so that the next start can end it."""
    process = psutil.Process(pid)
    (folder / f"{name}.process").write_text(json.dumps({"pid": pid, "started": process.create_time()}))


def clean() -> list[str]:
    """End the processes and delete the folders of stacks whose owner is gone. Answers what was cleaned."""
    cleaned = []
    for folder in RUNS.glob("*"):
        if not folder.is_dir() or _alive(folder / "owner"):
            continue
        for note in folder.glob("*.process"):
            _end(note)
        for instance in folder.glob("instances/*/pid"):
            _end(instance)
        shutil.rmtree(folder, ignore_errors=True)
        cleaned.append(folder.name)
    return cleaned


def _alive(note: Path) -> bool:
    return _process(note) is not None


def _process(note: Path) -> psutil.Process | None:
    """The very process that was written down; another one with its number does not count."""
    try:
        known = json.loads(note.read_text())
        process = psutil.Process(known["pid"])
        same = abs(process.create_time() - known.get("started", note.stat().st_mtime)) < 2
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (OSError, ValueError, KeyError, psutil.Error):
        return None


def _end(note: Path) -> None:
    process = _process(note)
    if process is None or process.pid == os.getpid():
        return
    for one in [*process.children(recursive=True), process]:
        try:
            one.kill()
        except psutil.Error:
            continue
