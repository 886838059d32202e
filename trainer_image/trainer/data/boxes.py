"""Scenes with boxes, ready to be trained on; and made-up scenes, for trying it out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from PIL import Image, ImageDraw

from jobs.data import boxes
from jobs.messages import Left
from jobs.problem import Problem
from trainer_image.trainer.data import images
from trainer_image.trainer.data.pictures import picture
from trainer_image.trainer.data.split import VALID_WORDS, Parts, split
from trainer_image.trainer.setting import Refused, Setting

DRAWN, SIDE = 240, 160
SHAPES = ("circle", "square", "triangle")
COLOURS = ((214, 48, 49), (9, 132, 227), (0, 148, 50), (253, 150, 20), (108, 92, 231))


class SceneSet(NamedTuple):
    """`open(i)` gives picture `i`; `boxes[i]` its boxes in its own pixels; `parts` holds such numbers."""

    open: Callable[[int], Image.Image]
    boxes: list[tuple[boxes.Box, ...]]
    labels: tuple[str, ...]
    parts: Parts
    version: str


def load(setting: Setting) -> SceneSet:
    """The scenes that the run names, and a word to the thread about what was found. Raises Refused."""
    opened, seed, most = images.open_store(setting, "data"), setting.params["seed"], setting.params["samples"]
    if opened is None:
        scenes = [_drawn(seed, number) for number in range(most or DRAWN)]
        parts = split([""] * len(scenes), seed)
        return SceneSet(lambda i: scenes[i][0], [found for _, found in scenes], SHAPES, parts, "")
    found = boxes.arrange(opened.store.names(), opened.store.read, whole=True)
    if isinstance(found, Problem):
        raise Refused(found.with_(facts={"file": opened.name} | found.facts))
    left: dict[str, Left] = {}
    kept: list[boxes.Scene] = []
    seen: set[str] = set()
    usable = [scene for scene in found if not scene.fault]
    contents = dict(
        zip((s.name for s in usable), images.looked_at([s.name for s in usable], opened.store), strict=True)
    )
    for scene in found:
        content = contents.get(scene.name)
        reason = scene.fault or ("broken" if content is None else "repeat" if content in seen else "")
        if reason:
            images.leave_out(left, reason, scene.name)
        else:
            seen.add(str(content))
            kept.append(scene)
    images.refuse_if_too_many(opened.name, len(found), left)
    said = [scene.split for scene in kept] if any(scene.split in VALID_WORDS for scene in kept) else None
    parts = split([""] * len(kept), seed, said)
    parts = Parts(parts.train[:most], parts.valid) if most else parts
    counts = Counter(box.label for scene in kept for box in scene.boxes)
    setting.data_read(
        name=opened.name, sha256=opened.version, train=len(parts.train), valid=len(parts.valid),
        labels=dict(counts.most_common(images.LABELS_TOLD)), label_count=len(counts), left_out=left,
    )  # fmt: skip
    return SceneSet(lambda i: picture(opened.store.read(kept[i].name)), [scene.boxes for scene in kept],
                    tuple(sorted(counts)), parts, opened.version)  # fmt: skip


def _drawn(seed: int, number: int) -> tuple[Image.Image, tuple[boxes.Box, ...]]:
    """One to three coloured shapes on a grey ground, that do not overlap much."""
    dice = random.Random(f"{seed}/{number}")
    ground = dice.randint(150, 245)
    image = Image.new("RGB", (SIDE, SIDE), (ground, ground, ground))
    pen = ImageDraw.Draw(image)
    found: list[boxes.Box] = []
    for _ in range(dice.randint(1, 3)):
        shape, size = dice.choice(SHAPES), dice.randint(28, 64)
        x, y = dice.randint(0, SIDE - size - 1), dice.randint(0, SIDE - size - 1)
        if any(x < b.x2 and b.x1 < x + size and y < b.y2 and b.y1 < y + size for b in found):
            continue
        colour = dice.choice(COLOURS)
        if shape == "circle":
            pen.ellipse((x, y, x + size, y + size), fill=colour)
        elif shape == "square":
            pen.rectangle((x, y, x + size, y + size), fill=colour)
        else:
            pen.polygon([(x, y + size), (x + size, y + size), (x + size // 2, y)], fill=colour)
        found.append(boxes.Box(shape, x, y, x + size, y + size))
    return image, tuple(found)
