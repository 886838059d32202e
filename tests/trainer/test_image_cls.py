"""`image-cls` on scikit-learn's digits. Baseline: the most frequent of ten digits, about 10 %."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.attempts import attempts, drawn, exactly_resumed, predicted

PARAMS: dict[str, Any] = {"epochs": 3, "seed": 5}


def test_it_learns_digits_and_is_exactly_resumable(tmp_path: Path) -> None:
    done = exactly_resumed(tmp_path, "image-cls", PARAMS, leave_after=70)
    assert done["finished"]["accuracy"] > 0.85, "the most frequent digit has 0.10"
    assert done["finished"]["macro_f1"] > 0.85
    assert done["model"]["difference"] < 1e-4


def test_own_images_of_every_kind(tmp_path: Path) -> None:
    """EXIF rotation, grey, palette, CMYK, transparency, 16 bits, an animation; a truncated one, a repeat and one with two
    labels are left out and said."""
    files = {"data": drawn(tmp_path, "digits")}
    asked = {"recipe": "image-cls", "params": PARAMS | {"epochs": 6}, "files": files}
    small = {"model": "mobilenet_v3_small", "size": 32, "epochs": 1, "augment": "standard", "batch": 64}
    done, net = attempts(tmp_path, asked | {"job": "own"}, asked | {"job": "net", "params": PARAMS | small})
    data = done["data"]
    assert data["label_count"] == 10
    assert data["left_out"]["broken"]["count"] == 1
    assert data["left_out"]["broken"]["first"].endswith("16.png")
    assert data["left_out"]["repeat"]["count"] == 1
    assert data["left_out"]["two_labels"]["count"] == 2
    assert data["train"] + data["valid"] == 600 - 2
    assert done["finished"]["accuracy"] > 0.6
    assert net["model"]["difference"] < 1e-3, "a network of paddle.vision, as a static program"
    with zipfile.ZipFile(tmp_path / "digits.zip") as packed:
        (tmp_path / "seven.png").write_bytes(packed.read("digits/数字7/7.png"))
    [answer] = predicted(tmp_path, done["model"], tmp_path / "model", str(tmp_path / "seven.png"))
    assert answer["answer"] == ["数字7"]
    assert sum(label["share"] for label in answer["labels"]) == pytest.approx(1, abs=1e-3)


def test_data_workers_change_nothing(tmp_path: Path) -> None:
    """Augmentation is random by the step, not by the process that does it."""
    asked = {"recipe": "image-cls", "params": PARAMS | {"epochs": 1, "augment": "standard"}}
    alone, two = attempts(tmp_path, asked | {"job": "alone"}, asked | {"job": "two", "workers": 2})
    assert two["digest"] == alone["digest"]
