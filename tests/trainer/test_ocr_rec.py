"""`ocr-rec` on lines drawn in a font of this machine. Baseline: answering nothing, a character error rate of 100 %."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from tests.trainer.attempts import attempt, drawn, exactly_resumed, predicted

PARAMS: dict[str, Any] = {
    "epochs": 5,
    "samples": 640,
    "height": 24,
    "width": 104,
    "hidden": 48,
    "batch": 16,
    "lr": 3e-3,
}


def test_it_learns_to_read_and_is_exactly_resumable(tmp_path: Path) -> None:
    done = exactly_resumed(tmp_path, "ocr-rec", PARAMS, leave_after=100)
    assert done["finished"]["cer"] < 0.2, "answering nothing has 1.0"
    assert done["model"]["difference"] < 1e-3


def test_own_lines_by_paddleocrs_lists(tmp_path: Path) -> None:
    files = {"data": drawn(tmp_path, "lines")}
    done = attempt(
        tmp_path, recipe="ocr-rec", job="own", params=PARAMS | {"samples": None, "epochs": 9, "batch": 8}, files=files
    )
    assert (done["data"]["train"], done["data"]["valid"]) == (270, 30)
    assert done["finished"]["cer"] < 0.3
    with zipfile.ZipFile(tmp_path / "lines.zip") as packed:
        (tmp_path / "line.png").write_bytes(packed.read("rec/images/7.png"))
        listed = packed.read("rec/rec_gt_train.txt").decode()
    right = next(line.split("\t")[1] for line in listed.split("\n") if line.startswith("images/7.png"))
    [answer] = predicted(tmp_path, done["model"], tmp_path / "model", str(tmp_path / "line.png"))
    assert set(answer["answer"]) & set(right)
