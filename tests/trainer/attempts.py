"""Starting attempts in the trainer's own Python, each call a new process."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
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


def uploaded(root: Path, name: str, data: bytes) -> dict[str, Any]:
    """A file in the team's bucket, as a run names it."""
    sha256 = hashlib.sha256(data).hexdigest()
    path = root / "own" / "data" / "mine" / sha256 / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    key = f"data/mine/{sha256}/{name}"
    return {"name": "mine", "bucket": "own", "key": key, "size": len(data), "sha256": sha256}


def drawn(root: Path, what: str) -> dict[str, Any]:
    """An archive of small data (tests/trainer/drawn.py), uploaded."""
    path = root / f"{what}.zip"
    command = [str(TRAINER_PYTHON), "-m", "tests.trainer.drawn", what, str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_S)
    return uploaded(root, path.name, path.read_bytes())


def predicted(root: Path, model: dict[str, Any], folder: Path, *inputs: str) -> list[dict[str, Any]]:
    """What a run's model answers, unpacked into `folder`, as `paddock predict` asks it."""
    with zipfile.ZipFile(root / "own" / model["key"]) as packed:
        packed.extractall(folder)
    command = [str(TRAINER_PYTHON), "-m", "trainer_image.trainer.predict", str(folder), *inputs]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return list(json.loads(said.stdout.splitlines()[-1]))
