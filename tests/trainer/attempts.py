"""Starting attempts in the trainer's own Python, each call a new process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from local.places import ROOT, TRAINER_PYTHON

PATIENCE_S = 400


def attempts(root: Path, *asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What came of each (see tests/trainer/attempt.py), one after another in one new process."""
    command = [str(TRAINER_PYTHON), "-m", "tests.trainer.attempt", str(root), json.dumps(asked)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    results = [line.removeprefix("RESULT ") for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return [json.loads(line) for line in results]


def attempt(root: Path, **asked: Any) -> dict[str, Any]:
    """What came of one attempt in a process of its own."""
    [result] = attempts(root, asked)
    return result


def exactly_resumed(root: Path, recipe: str, params: dict[str, Any], leave_after: int, **more: Any) -> dict[str, Any]:
    """Train straight, and in two processes; both must be the same bit for bit. The straight run's result."""
    straight = attempt(root, recipe=recipe, job="straight", params=params, **more)
    first = attempt(root, recipe=recipe, job="parts", params=params, leave_after=leave_after, **more)
    second = attempt(root, recipe=recipe, job="parts", params=params, **more)
    assert (straight["code"], first["code"], second["code"]) == (0, 75, 0)
    assert (first["step"], second["began"]) == (leave_after, leave_after)
    assert first["digest"] != straight["digest"]
    assert second["digest"] == straight["digest"]
    assert second["losses"] == straight["losses"], "the curve of an interrupted run is whole"
    assert second["finished"] == straight["finished"]
    return straight
