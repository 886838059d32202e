"""Images with boxes: COCO's JSON (cocodataset.org, "Data format") and PASCAL VOC's XML, a file for each image."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from jobs.data.images import FEWEST, is_image
from jobs.data.lines import VALID_WORDS
from jobs.problem import Problem

LOOKED_AT = 20
"""XML files that are read before a launch."""
SMALLEST = 1.0
"""Pixels: a box that is narrower or lower is none."""


class Box(NamedTuple):
    """Corners in pixels of the image."""

    label: str
    x1: float
    y1: float
    x2: float
    y2: float


class Scene(NamedTuple):
    """`name` in the archive; `fault`: why its annotation cannot be used, or empty."""

    name: str
    boxes: tuple[Box, ...]
    split: str = ""
    fault: str = ""


def arrange(names: Sequence[str], read: Callable[[str], bytes], whole: bool) -> list[Scene] | Problem:
    """The scenes of the archive. `whole`: false before a launch, when only a few annotations are read."""
    pictures = {name.rsplit("/", 1)[-1]: name for name in names if is_image(name)}
    found: list[Scene] = []
    for name in sorted(name for name in names if name.lower().endswith(".json")):
        found += _coco(read(name), name, pictures)
    if not found:
        files = sorted(name for name in names if name.lower().endswith(".xml"))
        for name in files if whole else files[:LOOKED_AT]:
            found.append(_voc(read(name), name, pictures))
    if not any(scene.boxes for scene in found):
        return Problem(code="data_no_boxes")
    if whole and len(found) < FEWEST:
        return Problem(code="data_few_images", facts={"count": str(len(found)), "bound": str(FEWEST)})
    return found


def _split(name: str) -> str:
    return "valid" if any(word in name.rsplit("/", 1)[-1].lower() for word in VALID_WORDS) else ""


def _coco(data: bytes, name: str, pictures: dict[str, str]) -> list[Scene]:
    """Boxes are [x, y, width, height]; crowds are left alone. A JSON that is something else holds no scenes."""
    try:
        said = json.loads(data)
        labels = {entry["id"]: str(entry["name"]) for entry in said["categories"]}
        images = {entry["id"]: str(entry["file_name"]) for entry in said["images"]}
        boxes: dict[object, list[Box]] = {id: [] for id in images}
        for entry in said["annotations"]:
            x, y, width, height = (float(value) for value in entry["bbox"])
            if not entry.get("iscrowd") and min(width, height) >= SMALLEST and entry["image_id"] in boxes:
                boxes[entry["image_id"]].append(Box(labels[entry["category_id"]], x, y, x + width, y + height))
    except (ValueError, KeyError, TypeError):
        return []
    found = []
    for id, file in images.items():
        member = pictures.get(file.replace("\\", "/").rsplit("/", 1)[-1])
        found.append(Scene(member or file, tuple(boxes[id]), _split(name), "" if member else "missing"))
    return found


def _voc(data: bytes, name: str, pictures: dict[str, str]) -> Scene:
    """One image's objects; its picture is the one that `filename` names, or that is called like the file."""
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    try:
        root = ElementTree.fromstring(data)
        file = root.findtext("filename") or ""
        boxes = []
        for entry in root.iter("object"):
            corners = [
                float(entry.findtext(f"bndbox/{corner}") or "nan") for corner in ("xmin", "ymin", "xmax", "ymax")
            ]
            box = Box((entry.findtext("name") or "").strip(), *corners)
            if box.label and box.x2 - box.x1 >= SMALLEST and box.y2 - box.y1 >= SMALLEST:
                boxes.append(box)
    except (ElementTree.ParseError, ValueError):
        return Scene(name, (), "", "no_boxes")
    member = pictures.get(file) or next((pictures[p] for p in pictures if p.rsplit(".", 1)[0] == stem), None)
    return Scene(member or name, tuple(boxes), _split(name.rsplit("/", 2)[-2] if "/" in name else ""),
                 "" if member else "missing")  # fmt: skip
