"""The trainer with real Paddle on real text, run by its own Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local.places import ROOT, TRAINER_PYTHON


def run(folder: Path, what: str) -> dict[str, Any]:
    command = [str(TRAINER_PYTHON), "-m", "tests.trainer.exact_resume", str(folder), what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_a_resumed_run_is_bit_for_bit_the_same(tmp_path: Path) -> None:
    """With dropout, AdamW and a decaying learning rate: 40 steps, or 17 and 23 in a new process."""
    straight = run(tmp_path, "straight")
    first, second = run(tmp_path, "first"), run(tmp_path, "second")
    assert straight["done"]
    assert straight["step"] == 40
    assert (first["step"], first["done"]) == (17, False)
    assert (second["began"], second["step"], second["done"]) == (17, 40, True)
    assert first["digest"] != straight["digest"]
    assert second["digest"] == straight["digest"]
    assert second["last_loss"] == straight["last_loss"]
    assert second["accuracy"] == straight["accuracy"]
    assert "checkpoint" in straight["kinds"]


def test_a_resumed_run_honours_more_epochs_and_another_rate(tmp_path: Path) -> None:
    """40 steps were done. More epochs: the rate is where a run of 60 steps would be. Another rate: it begins there.
    Both fall to 0 at the last step, and an interruption on the way changes nothing."""
    assert run(tmp_path, "straight")["schedule"] == "as_planned"
    longer, again = run(tmp_path, "longer"), run(tmp_path, "longer-again")
    assert (longer["began"], longer["step"], longer["schedule"]) == (40, 50, "longer")
    assert longer["rates"] == pytest.approx([2e-3 * 20 / 60, 2e-3 * 10 / 60])
    assert (again["began"], again["step"], again["schedule"]) == (50, 60, "as_planned")
    assert again["rates"] == pytest.approx([2e-3 * 10 / 60, 0.0])
    other, again = run(tmp_path, "other-rate"), run(tmp_path, "other-rate-again")
    assert (other["began"], other["step"], other["schedule"]) == (40, 50, "new_rate")
    assert other["rates"] == pytest.approx([1e-5, 1e-5 / 2])
    assert again["rates"] == pytest.approx([1e-5 / 2, 0.0])


def test_a_model_from_a_local_folder(tmp_path: Path) -> None:
    """The code path that loads a hub's model by name."""
    done = run(tmp_path, "local")
    assert done["done"]
    assert done["step"] == 20
    assert done["accuracy"] > 0.4


def test_the_reviews_do_not_leak() -> None:
    """Repeats are dropped before the split: no text is in both parts. Uses the trainer's copy of the texts."""
    code = (
        "from trainer_image.trainer import reviews as r; import json;"
        "d = r.load(8000, 1); t = {x for x, _ in d.train}; v = {x for x, _ in d.valid};"
        "w = r.vocabulary(d.train); c = {c for x in t for c in x.lower()};"
        "print(json.dumps([len(t), len(v), len(t & v), d.majority, len(w), all(x in c for x in w[5:])]))"
    )
    done = subprocess.run(
        [str(TRAINER_PYTHON), "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    train, valid, both, majority, words, from_training = json.loads(done.stdout)
    assert (train, valid, both) == (8000, 2000, 0)
    assert 0.5 <= majority <= 0.55
    assert words > 1000
    assert from_training
