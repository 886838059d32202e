"""`detect` on made-up scenes. Baseline: no boxes at all, an mAP of 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.trainer.attempts import attempt, drawn, exactly_resumed, predicted

PARAMS: dict[str, Any] = {"model": "xs", "size": 128, "epochs": 4, "samples": 96, "batch": 8}


def test_it_learns_to_find_shapes_and_is_exactly_resumable(tmp_path: Path) -> None:
    done = exactly_resumed(tmp_path, "detect", PARAMS, leave_after=30)
    assert done["finished"]["map50"] > 0.1, "no boxes: 0"
    assert done["model"]["difference"] < 1e-2, "of corners in pixels"


def test_own_scenes_in_coco_format(tmp_path: Path) -> None:
    files = {"data": drawn(tmp_path, "scenes")}
    done = attempt(tmp_path, recipe="detect", job="own", params=PARAMS | {"samples": None, "epochs": 1}, files=files)
    assert (done["data"]["train"], done["data"]["valid"], done["data"]["label_count"]) == (36, 4, 3)
    answers = predicted(tmp_path, done["model"], tmp_path / "model", str(tmp_path / "model" / "curves.png"))
    assert [answer["input"].endswith("curves.png") for answer in answers] == [True]
