"""Pictures of text lines, for `ocr-rec`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from trainer_image.trainer.data.pictures import picture

STRIDE = 4
"""Columns of pixels for each place where the network reads a character."""
BLANK = 0
"""The class between characters; character i of the dictionary is class i + 1."""


def shaped(image: Image.Image, height: int, width: int) -> tuple[np.ndarray, int]:
    """[height, width] (uint8, grey): scaled to the height, white to the right of it; and how many columns are used."""
    grey = image.convert("L")
    used = max(STRIDE, min(width, round(grey.width * height / grey.height)))
    values = np.full((height, width), 255, dtype="uint8")
    values[:, :used] = np.asarray(grey.resize((used, height), Image.Resampling.BILINEAR))
    return values, used


def normal(values: np.ndarray) -> np.ndarray:
    """[n, height, width] (uint8) as [n, 1, height, width] (float32) from -1 to 1."""
    return (values.astype("float32") / 127.5 - 1)[:, None]


def read(logits: np.ndarray, dictionary: Sequence[str]) -> list[str]:
    """The texts of [n, places, classes]: the likeliest class at each place, repetitions and blanks dropped (greedy CTC
    decoding; Graves et al. 2006, "Connectionist Temporal Classification")."""
    texts = []
    for row in logits.argmax(-1):
        changed = np.concatenate([[True], row[1:] != row[:-1]])
        texts.append("".join(dictionary[c - 1] for c in row[changed] if c != BLANK))
    return texts


def answer(model: Any, folder: Path, reading: dict[str, Any], inputs: list[str]) -> list[dict[str, Any]]:
    """The text of each image file."""
    dictionary = (folder / "dictionary.txt").read_text(encoding="utf-8").split("\n")
    pictures = [shaped(picture(Path(p).read_bytes()), reading["height"], reading["width"])[0] for p in inputs]
    [logits] = model(normal(np.stack(pictures)))
    return [{"input": name, "answer": text} for name, text in zip(inputs, read(logits, dictionary), strict=True)]
