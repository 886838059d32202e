"""Images, for `image-cls`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trainer_image.trainer.data.pictures import center, picture, short_side

MARGIN = 8 / 7
"""The short side is scaled to this many times the size that the model sees: room for crops."""
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""ImageNet's, which pretrained weights expect."""


def normal(pictures: np.ndarray, grey: bool) -> np.ndarray:
    """[n, height, width, 3] (uint8) as [n, 3, height, width] (float32), or [n, 1, …] of grey values from -1 to 1."""
    values = pictures.astype("float32") / 255
    if grey:
        return (values.mean(-1) * 2 - 1)[:, None].astype("float32")
    scaled = (values - np.asarray(MEAN, "float32")) / np.asarray(STD, "float32")
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))


def answer(model: Any, folder: Path, reading: dict[str, Any], inputs: list[str]) -> list[dict[str, Any]]:
    """For each image file its label, and how likely each is."""
    size = reading["size"]
    shown = [center(np.asarray(short_side(picture(Path(p).read_bytes()), round(size * MARGIN))), size) for p in inputs]
    [logits] = model(normal(np.stack(shown), reading["grey"]))
    exact = np.exp(logits.astype("float64") - logits.max(-1, keepdims=True))
    answers = []
    for name, shares in zip(inputs, exact / exact.sum(-1, keepdims=True), strict=True):
        ranked = sorted(zip(reading["labels"], map(float, shares), strict=True), key=lambda pair: -pair[1])
        labels = [{"label": label, "share": share} for label, share in ranked]
        answers.append({"input": name, "answer": [ranked[0][0]], "labels": labels})
    return answers
