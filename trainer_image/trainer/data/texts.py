"""Texts with labels, ready to be trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jobs.data import texts
from jobs.data.check import asked
from jobs.messages import Left
from trainer_image.trainer.data import reviews
from trainer_image.trainer.data.fetch import Fetched
from trainer_image.trainer.data.split import split
from trainer_image.trainer.setting import Refused, Setting

SHIPPED_SAMPLES = 8000
LABELS_TOLD, ONCE_TOLD = 20, 5


class Text(NamedTuple):
    """A text and the numbers of its labels."""

    text: str
    labels: tuple[int, ...]


class TextSet(NamedTuple):
    """`labels`: their names, by number. `many`: a text may have several. `version`: sha256 of what was read."""

    train: list[Text]
    valid: list[Text]
    labels: tuple[str, ...]
    many: bool
    version: str


def load(setting: Setting) -> TextSet:
    """The texts that the run names, and a word to the thread about what was found in them.

    Raises Refused for data that cannot be trained on."""
    fetched, seed, most = setting.fetched("data"), setting.params["seed"], setting.params["samples"]
    if fetched is None:
        shipped = reviews.load(most or SHIPPED_SAMPLES, seed)
        train, valid = ([Text(text, (label,)) for text, label in part] for part in (shipped.train, shipped.valid))
        return TextSet(train, valid, reviews.LABELS, False, "")
    samples, findings = _read(setting, fetched)
    other = setting.fetched("valid")
    if other is not None:
        held, more = _read(setting, other)
        texts_held = {sample.text for sample in held}
        parts = ([s for s in samples if s.text not in texts_held], held)
        names = sorted({*findings.labels, *more.labels})
    else:
        groups = [s.group for s in samples] if findings.columns.group else None
        said = [s.split for s in samples] if findings.columns.split else None
        chosen = split([s.labels for s in samples], seed, said, groups)
        parts = ([samples[i] for i in chosen.train], [samples[i] for i in chosen.valid])
        names = sorted(findings.labels)
    number = {name: i for i, name in enumerate(names)}
    train, valid = ([Text(s.text, tuple(number[name] for name in s.labels)) for s in part] for part in parts)
    train = train[:most] if most else train
    setting.data_read(
        name=fetched.ref.name, sha256=fetched.sha256, encoding=findings.encoding, train=len(train), valid=len(valid),
        labels=dict(list(findings.labels.items())[:LABELS_TOLD]), label_count=len(names),
        once=tuple(findings.once[:ONCE_TOLD]),
        left_out={why: Left(count=left.count, first=str(left.first)) for why, left in findings.left_out.items()},
    )  # fmt: skip
    version = fetched.sha256 + (f"+{other.sha256}" if other else "")
    return TextSet(train, valid, tuple(names), findings.columns.many, version)


def majority(train: Sequence[Text], valid: Sequence[Text]) -> float:
    """The trivial baseline: the accuracy of always answering what is most frequent in training."""
    most = Counter(t.labels for t in train).most_common(1)[0][0]
    return sum(t.labels == most for t in valid) / len(valid)


def _read(setting: Setting, fetched: Fetched) -> tuple[list[texts.Sample], texts.Findings]:
    found = texts.read(fetched.path.read_bytes(), fetched.ref.file, asked(setting.params), whole=True)
    if isinstance(found, list):
        raise Refused(found[0])
    return found
