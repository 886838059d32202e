"""Images with labels, ready to be trained on."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from PIL import Image

from jobs.data import images
from jobs.data.texts import MOST_LEFT_OUT
from jobs.messages import Left
from jobs.problem import Problem
from trainer_image.trainer.data.fetch import local_folder
from trainer_image.trainer.data.pictures import picture
from trainer_image.trainer.data.split import Parts, split
from trainer_image.trainer.data.store import PrefixStore, Store, is_prefix, open_archive
from trainer_image.trainer.setting import Refused, Setting

LABELS_TOLD, ONCE_TOLD = 20, 5
Open = Callable[[int], Image.Image]


class ImageSet(NamedTuple):
    """`open(i)` gives image `i` in RGB; `targets[i]` is the number of its label. `parts` holds such numbers."""

    open: Open
    targets: np.ndarray
    labels: tuple[str, ...]
    parts: Parts
    version: str


class Opened(NamedTuple):
    """A set of files, and which it is."""

    store: Store
    name: str
    version: str


def open_store(setting: Setting, param: str) -> Opened | None:
    """The archive or prefix that was named for a parameter; None if what the recipe ships is meant."""
    ref = setting.spec.files.get(param)
    if ref is None:
        return None
    if is_prefix(ref):
        store = PrefixStore(setting.open_bucket(ref.bucket), ref.key, local_folder(setting.scratch) / "prefix")
        return Opened(store, ref.name, store.version)
    fetched = setting.fetched(param)
    assert fetched is not None
    return Opened(open_archive(fetched), ref.name, fetched.sha256)


def load(setting: Setting) -> ImageSet:
    """The images that the run names, and a word to the thread about what was found. Raises Refused."""
    opened = open_store(setting, "data")
    if opened is None:
        return _digits(setting.params["seed"])
    found = images.arrange(opened.store.names(), opened.store.read, whole=True)
    if isinstance(found, Problem):
        raise Refused(found.with_(facts={"file": opened.name} | found.facts))
    kept, left = sorted_out(found, opened.store)
    refuse_if_too_many(opened.name, len(found), left)
    labels = [image.label for image in kept]
    counts = Counter(labels)
    names = tuple(sorted(counts))
    said = [image.split for image in kept] if any(image.split for image in kept) else None
    groups = [image.group for image in kept] if any(image.group for image in kept) else None
    parts = split(labels, setting.params["seed"], said, groups)
    setting.data_read(
        name=opened.name, sha256=opened.version, train=len(parts.train), valid=len(parts.valid),
        labels=dict(counts.most_common(LABELS_TOLD)), label_count=len(names),
        once=tuple([label for label, count in counts.items() if count == 1][:ONCE_TOLD]), left_out=left,
    )  # fmt: skip
    number = {name: i for i, name in enumerate(names)}
    targets = np.asarray([number[label] for label in labels], dtype="int64")
    return ImageSet(lambda i: picture(opened.store.read(kept[i].name)), targets, names, parts, opened.version)


def sorted_out(found: list[images.Image], store: Store) -> tuple[list[images.Image], dict[str, Left]]:
    """Each readable image once. The same picture with different labels is not used at all."""
    left: dict[str, Left] = {}
    by_content: dict[str, list[images.Image]] = {}
    for image, content in zip(found, looked_at([image.name for image in found], store), strict=True):
        if content is None:
            leave_out(left, "broken", image.name)
        else:
            by_content.setdefault(content, []).append(image)
    kept = []
    for same in by_content.values():
        if len({image.label for image in same}) > 1:
            for image in same:
                leave_out(left, "two_labels", image.name)
            continue
        kept.append(same[0])
        for image in same[1:]:
            leave_out(left, "repeat", image.name)
    return kept, left


def looked_at(names: Iterable[str], store: Store) -> list[str | None]:
    """Every image read to its end: what its content is called (the same for the same content), None if it is broken."""

    def look(name: str) -> str | None:
        try:
            data = store.read(name)
            picture(data)
        except (OSError, KeyError):
            return None
        return hashlib.sha1(data, usedforsecurity=False).hexdigest()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(look, names))


def leave_out(left: dict[str, Left], reason: str, name: str) -> None:
    was = left.get(reason)
    left[reason] = Left(count=(was.count if was else 0) + 1, first=was.first if was else name)


def refuse_if_too_many(name: str, rows: int, left: dict[str, Left]) -> None:
    """Above 5 % there is something wrong with the set. Raises Refused."""
    lost = {reason: there for reason, there in left.items() if reason != "repeat"}
    total = sum(there.count for there in lost.values())
    if total <= MOST_LEFT_OUT * rows:
        return
    worst = max(lost, key=lambda reason: lost[reason].count)
    facts = {"file": name, "rows": str(rows), "lost": str(total), "reason": worst, "row": lost[worst].first}
    raise Refused(Problem(code="data_too_many_left_out", facts=facts))


def _digits(seed: int) -> ImageSet:
    """1,797 handwritten digits, 8 by 8 pixels, that scikit-learn ships."""
    from sklearn.datasets import load_digits

    shipped = load_digits()
    pixels = (shipped.images * (255 / 16)).astype("uint8")
    targets = shipped.target.astype("int64")
    parts = split([int(t) for t in targets], seed)
    return ImageSet(lambda i: Image.fromarray(pixels[i]).convert("RGB"), targets, tuple("0123456789"), parts, "")
