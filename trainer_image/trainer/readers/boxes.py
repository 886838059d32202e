"""Pictures with objects in them, for `detect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from trainer_image.trainer.data.pictures import picture
from trainer_image.trainer.readers.images import normal

NMS_IOU, LOW_SCORE, MOST_BOXES = 0.6, 0.01, 100
LIKELY = 0.4
"""An object is named when the network is this sure."""


class Found(NamedTuple):
    """An object: the number of its label, how sure the network is, its corners in pixels of what the model sees."""

    label: int
    score: float
    corners: tuple[float, float, float, float]


def seen(image: Image.Image, size: int) -> np.ndarray:
    """[size, size, 3] (uint8): what the model sees of a picture."""
    return np.asarray(image.resize((size, size), Image.Resampling.BILINEAR))


def objects(corners: np.ndarray, scores: np.ndarray) -> list[Found]:
    """From all candidates of one picture, [candidates, 4] and [labels, candidates], the best that do not overlap:
    non-maximum suppression for each label."""
    found: list[Found] = []
    for label, likely in enumerate(scores):
        order = [int(i) for i in np.argsort(-likely, kind="stable")[: 4 * MOST_BOXES] if likely[i] >= LOW_SCORE]
        while order:
            best = order.pop(0)
            found.append(Found(label, float(likely[best]), tuple(map(float, corners[best]))))  # type: ignore[arg-type]
            order = [i for i in order if overlap(corners[best], corners[i]) < NMS_IOU]
    return sorted(found, key=lambda f: -f.score)[:MOST_BOXES]


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return float(both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both))


def answer(model: Any, folder: Path, reading: dict[str, Any], inputs: list[str]) -> list[dict[str, Any]]:
    """For each image file the objects in it, with their corners in the file's own pixels."""
    answers = []
    for name in inputs:
        image, size = picture(Path(name).read_bytes()), reading["size"]
        corners, scores = model(normal(seen(image, size)[None], False))
        scale = np.asarray([image.width, image.height] * 2) / size
        said = [
            {
                "label": reading["labels"][f.label],
                "share": f.score,
                "box": [round(float(v), 1) for v in f.corners * scale],
            }
            for f in objects(corners[0], scores[0])
            if f.score >= reading["likely"]
        ]
        answers.append({"input": name, "answer": [entry["label"] for entry in said], "labels": said})
    return answers
