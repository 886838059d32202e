"""Metrics that several recipes share, from numbers of labels."""

from __future__ import annotations

import numpy as np


def macro_f1(answers: np.ndarray, right: np.ndarray) -> float:
    """The mean over the labels that occur of their F1 [samples] (int), 0 to 1."""
    return _mean([_f1(answers == label, right == label) for label in np.unique(np.concatenate([answers, right]))])


def multi_label_f1(answers: np.ndarray, right: np.ndarray) -> float:
    """The same where a sample may have several labels: [samples, labels] (bool)."""
    occur = np.flatnonzero((answers | right).any(0))
    return _mean([_f1(answers[:, label], right[:, label]) for label in occur])


def _f1(answered: np.ndarray, is_so: np.ndarray) -> float:
    both = float((answered & is_so).sum())
    return 2 * both / float(answered.sum() + is_so.sum())


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def edits(said: str, right: str) -> int:
    """The fewest insertions, deletions and replacements of characters that make one into the other (Levenshtein)."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(said, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]
