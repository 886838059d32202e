"""Checkpoints: whole or not at all; a damaged one is passed over; the last few and the best are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainer_image.trainer.checkpoints import Checkpoints, Entry
from trainer_image.trainer.storage import Folder


def write(state: Any, path: Path) -> None:
    path.write_text(json.dumps(state))


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def checkpoints(root: Path) -> Checkpoints:
    scratch = root / "scratch"
    scratch.mkdir(exist_ok=True)
    return Checkpoints(Folder(root / "bucket"), "jobs/a/checkpoints", scratch, write, read)


def save(kept: Checkpoints, step: int, score: float | None = None) -> Entry:
    told: list[Entry] = []
    kept.save({"step": step}, step, 0, score, told.append)
    kept.wait()
    return told[0]


def test_the_newest_comes_back(tmp_path: Path) -> None:
    kept = checkpoints(tmp_path)
    for step in (10, 20):
        save(kept, step)
    found = checkpoints(tmp_path).newest()
    assert found is not None
    assert found[1] == {"step": 20}


def test_none_at_first(tmp_path: Path) -> None:
    assert checkpoints(tmp_path).newest() is None


@pytest.mark.parametrize("damage", ["truncated", "flipped", "missing"])
def test_a_damaged_one_is_passed_over(tmp_path: Path, damage: str) -> None:
    kept = checkpoints(tmp_path)
    save(kept, 10)
    path = tmp_path / "bucket" / save(kept, 20).key
    if damage == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[:-3] if damage == "truncated" else bytes([data[0] ^ 1]) + data[1:])
    found = kept.newest()
    assert found is not None
    assert found[0].step == 10


def test_a_damaged_pointer_starts_anew(tmp_path: Path) -> None:
    kept = checkpoints(tmp_path)
    save(kept, 10)
    (tmp_path / "bucket" / "jobs/a/checkpoints/pointer.json").write_text('{"checkpoints": [{')
    assert kept.newest() is None


def test_the_last_three_and_the_best_are_kept(tmp_path: Path) -> None:
    kept = checkpoints(tmp_path)
    scores = {10: 0.5, 20: 0.9, 30: 0.6, 40: 0.7, 50: 0.6, 60: None}
    for step, score in scores.items():
        save(kept, step, score)
    assert [e.step for e in kept.entries()] == [60, 50, 40, 20]
    files = sorted(p.name for p in (tmp_path / "bucket/jobs/a/checkpoints").glob("*.ckpt"))
    assert files == [f"step-{s:09d}.ckpt" for s in (20, 40, 50, 60)]
    assert list((tmp_path / "scratch").iterdir()) == []


class Failing(Folder):
    """A bucket that loses its connection at a given call."""

    def __init__(self, root: Path, fails_at: str) -> None:
        super().__init__(root)
        self.fails_at = fails_at

    def put_file(self, key: str, path: Path) -> None:
        if self.fails_at == "file":
            raise ConnectionError(key)
        super().put_file(key, path)

    def put_bytes(self, key: str, data: bytes) -> None:
        if self.fails_at == "pointer" and key.endswith("pointer.json"):
            raise ConnectionError(key)
        super().put_bytes(key, data)


class FailsOnce(Folder):
    """A bucket that cannot be reached the first time."""

    failed = False

    def put_file(self, key: str, path: Path) -> None:
        if not self.failed:
            self.failed = True
            raise ConnectionError(key)
        super().put_file(key, path)


@pytest.mark.parametrize("fails_at", ["file", "pointer"])
def test_a_crash_while_saving_leaves_the_one_before(tmp_path: Path, fails_at: str) -> None:
    save(checkpoints(tmp_path), 10)
    broken = Checkpoints(
        Failing(tmp_path / "bucket", fails_at), "jobs/a/checkpoints", tmp_path / "scratch", write, read
    )
    broken.save({"step": 20}, 20, 0, None, lambda _: None)
    with pytest.raises(ConnectionError):
        broken.wait()
    found = checkpoints(tmp_path).newest()
    assert found is not None
    assert found[0].step == 10


def test_a_save_that_failed_does_not_stop_the_next(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    kept = Checkpoints(FailsOnce(tmp_path / "bucket"), "jobs/a/checkpoints", tmp_path / "scratch", write, read)
    kept.save({"step": 10}, 10, 0, None, lambda _: None)
    save(kept, 20)
    assert [e.step for e in kept.entries()] == [20]
