"""Starts and ends local "instances", and knows what their metadata service tells them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from local.places import ROOT

PATIENCE_S = 8


class Machines:
    """One process group per instance, each in its own folder. `on_end(id)` is called once a group is gone."""

    def __init__(self, folder: Path, environment: dict[str, str], on_end: Callable[[str], None]) -> None:
        self._folder, self._environment, self._on_end = folder, environment, on_end
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def start(self, id: str, user_data: str, metadata_url: str) -> None:
        """Start the instance's processes."""
        folder = self._folder / id
        folder.mkdir(parents=True)
        (folder / "user-data").write_text(user_data)
        process = subprocess.Popen(
            [sys.executable, "-m", "local.machine", str(folder)], cwd=ROOT, stdin=subprocess.DEVNULL,
            env=self._environment | {"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata_url}, start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._processes[id] = process
        threading.Thread(target=self._wait, args=(id, process), daemon=True, name=id).start()

    def stop(self, id: str) -> None:
        """Shut down: SIGTERM to its first process, SIGKILL to the whole group a little later. Does not wait."""
        with self._lock:
            process = self._processes.get(id)
        if process is None or process.poll() is not None:
            return
        process.terminate()
        timer = threading.Timer(PATIENCE_S, _kill_group, (process.pid,))
        timer.daemon = True
        timer.start()

    def running(self) -> list[str]:
        """Ids of the instances that have processes."""
        with self._lock:
            return [id for id, process in self._processes.items() if process.poll() is None]

    def kill_all(self) -> None:
        """The stack ends: nothing may be left."""
        with self._lock:
            processes = list(self._processes.values())
        for process in processes:
            if process.poll() is None:
                _kill_group(process.pid)
                process.wait()

    def _wait(self, id: str, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        _kill_group(process.pid)
        self._on_end(id)


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
