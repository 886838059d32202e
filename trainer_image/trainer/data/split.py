"""Which samples are trained on and which validate. No sample, and no group of samples, is in both."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

VALIDATION = 0.1
MOST_VALIDATED = 2000
VALID_WORDS = {"valid", "validation", "val", "dev", "eval", "验证", "验证集"}
UNUSED_WORDS = {"test", "测试", "测试集"}


class Parts(NamedTuple):
    """Numbers of samples, each list ascending."""

    train: list[int]
    valid: list[int]


def split(
    labels: Sequence[Hashable], seed: int, said: Sequence[str] | None = None, groups: Sequence[str] | None = None
) -> Parts:
    """By what a `split` column said, if it names any validation; else a tenth of each label, at most 2,000 samples, the
    same for the same seed. A label's only sample is trained on. A group goes where its first sample goes.

    Raises ValueError if nothing is left to train on or to validate."""
    words = [word.lower() for word in said] if said is not None else []
    if any(word in VALID_WORDS for word in words):
        valid = {i for i, word in enumerate(words) if word in VALID_WORDS}
        unused = {i for i, word in enumerate(words) if word in UNUSED_WORDS}
    else:
        valid, unused = _stratified(labels, seed, groups), set()
    if groups is not None:
        held = {groups[i] for i in valid if groups[i]}
        valid |= {i for i, group in enumerate(groups) if group in held and i not in unused}
    train = [i for i in range(len(labels)) if i not in valid and i not in unused]
    if not train or not valid:
        raise ValueError(f"{len(train)} samples to train on and {len(valid)} to validate: both are needed")
    return Parts(train, sorted(valid))


def _stratified(labels: Sequence[Hashable], seed: int, groups: Sequence[str] | None) -> set[int]:
    by_label: dict[Hashable, list[int]] = defaultdict(list)
    for number, label in enumerate(labels):
        by_label[label].append(number)
    share = min(VALIDATION, MOST_VALIDATED / max(1, len(labels)))
    chosen: set[int] = set()
    for place, members in enumerate(by_label.values()):
        random.Random(f"{seed}/{place}").shuffle(members)
        units = members if groups is None else _one_each(members, groups)
        count = max(1, round(len(members) * share)) if len(units) > 1 else 0
        chosen.update(units[: min(count, len(units) - 1)])
    return chosen


def _one_each(members: list[int], groups: Sequence[str]) -> list[int]:
    """One member of each group; those without a group stand for themselves."""
    seen: set[str] = set()
    units = []
    for member in members:
        if not groups[member] or groups[member] not in seen:
            seen.add(groups[member])
            units.append(member)
    return units
