"""What a stack started, and what is left of stacks whose owner was killed: processes and folders. Every process of a
stack carries its folder in the environment, so those that lost their parents are found too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psutil
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from local.places import RUNS

MARK = "PADDOCK_STACK"
PATIENCE_S = 60


class Remains(Exception):
    """Something does not go away yet."""


def write_owner(folder: Path) -> None:
    """Mark the folder as this process's."""
    me = psutil.Process()
    (folder / "owner").write_text(json.dumps({"pid": me.pid, "started": me.create_time()}))


def clean() -> list[str]:
    """End the processes and delete the folders of stacks whose owner is gone. Answers what was cleaned.

    Raises Remains if that cannot be done."""
    abandoned = [folder for folder in RUNS.glob("*") if folder.is_dir() and not is_owned(folder)]
    for folder in abandoned:
        remove(folder)
    return [folder.name for folder in abandoned]


@retry(stop=stop_after_delay(PATIENCE_S), wait=wait_fixed(0.1), retry=retry_if_exception_type(Remains), reraise=True)
def remove(folder: Path) -> None:
    """End every process of the stack in `folder`, then delete it: what lives on could write into it again.

    Raises Remains if something outlives SIGKILL or cannot be deleted."""
    processes = _processes(folder)
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    if processes:
        # What was killed may have started others: looked for again.
        psutil.wait_procs(processes, timeout=1)
        raise Remains(f"processes of {folder}: {processes}")
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Remains(f"{folder} cannot be deleted: {error}") from error


def _processes(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_owned(folder: Path) -> bool:
    """Whether the stack in `folder` runs."""
    return _owned(folder / "owner")


def _owned(note: Path) -> bool:
    """Whether the very process that was written down lives; another one with its number does not count."""
    try:
        known = json.loads(note.read_text())
        process = psutil.Process(known["pid"])
        same = abs(process.create_time() - known["started"]) < 2
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, KeyError, psutil.Error):
        return False
