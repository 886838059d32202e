"""Trying a model that a run left. `python -m trainer_image.trainer.predict FOLDER INPUT…`: prints a JSON list with an
answer for each input."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

READERS = {"text": "texts", "image": "images", "line": "lines", "boxes": "boxes"}
"""By kind of input: the module of trainer_image/trainer/readers/ that knows it."""


def predict(folder: Path, inputs: list[str]) -> list[dict[str, Any]]:
    """An answer for each input: a text, or the path of an image, as the model's recipe wants it."""
    from trainer_image.trainer.exported import Exported

    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    reading = about.get("reading") or {}
    if reading.get("kind") not in READERS:
        raise SystemExit(f"{about.get('recipe')}: this model was left by code of your own; load it as that code says")
    answer: Callable[..., list[dict[str, Any]]] = import_module(
        f"trainer_image.trainer.readers.{READERS[reading['kind']]}"
    ).answer
    return answer(Exported(folder), folder, reading, inputs)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    os.environ.setdefault("GLOG_minloglevel", "2")
    print(json.dumps(predict(Path(sys.argv[1]), sys.argv[2:]), ensure_ascii=False))
