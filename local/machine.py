"""A local "instance": a process group that runs the same lease guard and trainer as an EC2 instance does.
`python -m local.machine FOLDER` reads FOLDER/user-data, powers off when the trainer is done, the guard says so, or
EC2 (SIGTERM) does."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

from local.log_driver import LogDriver
from local.places import ROOT, TRAINER_PYTHON

LAST_LINES_S = 2
SHUTDOWN_S = 2
"""How long a stopping trainer may take to save; systemd's TimeoutStopSec on a real instance."""


def write_files(user_data: str, folder: Path) -> dict[str, Path]:
    """cloud-init's write_files, below `folder`; by base name."""
    header, _, body = user_data.partition("\n")
    if header != "#cloud-config":
        raise ValueError("start-up data is not a #cloud-config")
    written = {}
    for entry in json.loads(body)["write_files"]:
        path = folder / Path(entry["path"]).name
        path.write_bytes(base64.b64decode(entry["content"]))
        written[path.name] = path
    return written


def main(folder: Path) -> int:
    off = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: off.set())
    files = write_files((folder / "user-data").read_text(), folder)
    guard_config = json.loads(files["guard.json"].read_text())
    me = str(os.getpid())
    guard_config |= {"period_s": 1, "warn": ["kill", "-USR1", me], "power_off": ["kill", "-TERM", me]}
    files["guard.json"].write_text(json.dumps(guard_config))
    trainer: list[subprocess.Popen[bytes]] = []
    warned = threading.Event()

    def warn(_: int, __: FrameType | None) -> None:
        warned.set()
        for process in trainer:
            process.send_signal(signal.SIGTERM)

    signal.signal(signal.SIGUSR1, warn)
    with (folder / "guard.log").open("wb") as guard_log:
        guard = subprocess.Popen([sys.executable, str(files["lease_guard.py"]), str(files["guard.json"])],
                                 stdin=subprocess.DEVNULL, stdout=guard_log, stderr=guard_log)  # fmt: skip
        trainer.append(
            subprocess.Popen([str(TRAINER_PYTHON), "-m", "trainer_image.trainer", "--spec", str(files["run.json"])],
                             cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )  # fmt: skip
        assert trainer[0].stdout is not None
        logs = LogDriver(files["paddock-trainer.service"].read_text(), trainer[0].stdout, folder / "trainer.log")
        if warned.is_set():
            trainer[0].send_signal(signal.SIGTERM)
        (folder / "trainer.pid").write_text(str(trainer[0].pid))
        threading.Thread(target=_wait, args=(trainer[0], off), daemon=True).start()
        off.wait()
        _end(trainer[0])
        logs.close(LAST_LINES_S)
        guard.terminate()
        guard.wait()
    return 0


def _wait(process: subprocess.Popen[bytes], off: threading.Event) -> None:
    process.wait()
    off.set()


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, then SIGKILL, as a shutdown does."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(SHUTDOWN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
