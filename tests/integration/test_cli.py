"""The command line as a person uses it: exit codes, Ctrl-C, and what a crash leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from local.places import ROOT, TRAINER_PYTHON
from tests.waiting import PATIENCE_S, until


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment with its own PADDOCK_HOME."""
    return {**os.environ, "PADDOCK_HOME": str(tmp_path), "PADDOCK_TRAINER_PYTHON": str(TRAINER_PYTHON),
           "PYTHONPATH": str(ROOT)}  # fmt: skip


def paddock(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "local.cli", *words]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S + 120, check=False
    )


def begin(env: dict[str, str], log: Path, *words: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        command = [sys.executable, "-m", "local.cli", *words]
        return subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out, start_new_session=True)


def family(env: dict[str, str]) -> list[psutil.Process]:
    """Every process of a stack below this home, whoever its parent is now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("PADDOCK_HOME") == env["PADDOCK_HOME"] or env["PADDOCK_HOME"] in " ".join(
                process.cmdline()
            ):
                found.append(process)
        except psutil.Error:
            continue
    return [p for p in found if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_a_wrong_command_starts_nothing_and_says_so(home: dict[str, str]) -> None:
    done = paddock(home, "run", "/train erny-cls epoch=abc")
    assert done.returncode == 2
    assert "Did you mean `ernie-cls`?" in done.stdout
    assert family(home) == []


def test_a_run_that_ends_otherwise_and_one_that_goes_on_from_it(home: dict[str, str], tmp_path: Path) -> None:
    """Runs and checkpoints outlast the stack."""
    done = paddock(home, "run", "/train ernie-cls epochs=400 samples=640 time=60s")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "out of time" in done.stdout
    resume = re.search(r"resume=([a-z2-7]{8})", done.stdout)
    assert resume
    assert family(home) == []
    first, log = resume.group(1), tmp_path / "log"
    again = begin(home, log, "run", f"/train ernie-cls epochs=401 resume={first}")
    until(lambda: "resumed from step" in log.read_text(), log.read_text)
    os.kill(again.pid, signal.SIGINT)
    assert again.wait(PATIENCE_S) == 130
    assert "out of time" not in log.read_text(), "the kept run's card and replies are not told again"
    listed = paddock(home, "run", "/jobs").stdout
    assert f"`{first}`" in listed
    assert "stopped" in listed
    assert family(home) == []


def test_ctrl_c_stops_the_run_and_leaves_nothing(home: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = begin(home, log, "run", "/train ernie-cls epochs=500 samples=640")
    until(lambda: "running" in log.read_text(), log.read_text)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE_S) == 130
    assert "stopped" in log.read_text()
    until(lambda: not family(home))
    assert list((tmp_path / "runs").iterdir()) == []


def test_what_a_crash_leaves_is_cleaned_at_the_next_start(home: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = begin(home, log, "run", "/train ernie-cls epochs=500 samples=640")
    until(lambda: "running" in log.read_text(), log.read_text)
    process.kill()
    process.wait()
    done = paddock(home, "reset")
    assert done.returncode == 0
    assert "cleaned up after" in done.stdout
    until(lambda: not family(home))
    assert list((tmp_path / "runs").iterdir()) == []


def test_the_console_stays_up_and_ends_cleanly(home: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = begin(home, log, "console")
    found = until(lambda: re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()))
    import httpx

    assert "gpu-training" in httpx.get(found.group(0), trust_env=False).text
    os.kill(process.pid, signal.SIGTERM)
    process.wait(PATIENCE_S)
    until(lambda: not family(home))
