"""Texts, for `ernie-cls`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np


def answer(model: Any, folder: Path, reading: dict[str, Any], inputs: list[str]) -> list[dict[str, Any]]:
    """For each text the labels that it has, and how likely each of all labels is."""
    from paddlenlp.transformers import ErnieTokenizer

    logging.disable(logging.INFO)
    tokenizer = ErnieTokenizer(str(folder / "vocab.txt"))
    ids = tokenizer(inputs, max_length=reading["max_len"], truncation=True, padding="max_length",
                    return_token_type_ids=False)["input_ids"]  # fmt: skip
    [logits] = model(np.asarray(ids, dtype="int64"))
    return [_one(text, row, reading) for text, row in zip(inputs, logits, strict=True)]


def _one(text: str, logits: np.ndarray, reading: dict[str, Any]) -> dict[str, Any]:
    exact = logits.astype("float64")
    shares = 1 / (1 + np.exp(-exact)) if reading["many"] else np.exp(exact - exact.max())
    shares = shares if reading["many"] else shares / shares.sum()
    ranked = sorted(zip(reading["labels"], map(float, shares), strict=True), key=lambda pair: -pair[1])
    said = [label for label, share in ranked if share >= reading["likely"]] if reading["many"] else [ranked[0][0]]
    return {"input": text, "answer": said, "labels": [{"label": name, "share": share} for name, share in ranked]}
