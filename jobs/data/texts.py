"""Texts with labels: which columns they are in, which rows can be used and which cannot, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from jobs.data.encoding import decode, is_binary
from jobs.data.table import Row, Table, recognise
from jobs.model import Model
from jobs.problem import Problem, nearest

TEXT = ("text", "sentence", "content", "文本", "内容", "句子", "review", "comment")
LABEL = ("label", "category", "标签", "类别", "labels", "class", "多标签")
MANY_LABELS = ("labels", "多标签")
SPLIT, GROUP = ("split", "划分"), ("group", "分组")
SEPARATOR = "|"
"""Between the labels of a text that has several."""
FEWEST_ROWS = 20
MOST_LEFT_OUT = 0.05
"""The share of rows that may be left out; above it there is something wrong with the file."""
MOST_LABELS_SHOWN = 8
MOST_LABELS = 1000
KEPT_NAMES = 12


class Columns(Model):
    """Where a sample's parts are."""

    text: str
    label: str
    split: str = ""
    group: str = ""
    many: bool = False
    """A text may have several labels."""


class Sample(NamedTuple):
    """A text that can be used. `row`: its line in the file; `split` and `group` are empty where no column says them."""

    text: str
    labels: tuple[str, ...]
    row: int
    split: str = ""
    group: str = ""


class LeftOut(Model):
    """Rows that are not used for one reason, and the first of them (a line of the file)."""

    count: int
    first: int


class Findings(Model):
    """What was found in a file. `labels`: how many used texts have each. `left_out` by reason: `columns`, `characters`,
    `json`, `no_text`, `no_label`, `two_labels` (the same text with another label elsewhere), `repeat`."""

    file: str
    encoding: str
    form: str
    rows: int
    used: int
    labels: dict[str, int]
    left_out: dict[str, LeftOut]
    columns: Columns

    @property
    def lost(self) -> int:
        """Rows left out because something is wrong with them; a repeat loses nothing."""
        return sum(left.count for reason, left in self.left_out.items() if reason != "repeat")

    @property
    def once(self) -> list[str]:
        """Labels that only one text has: such a text can only be trained on, never validated."""
        return [label for label, count in self.labels.items() if count == 1]


class Asked(Model):
    """What was typed about columns; empty: recognised by name, or by place where there is no header."""

    text_column: str = ""
    label_column: str = ""


def read(data: bytes, file: str, asked: Asked, whole: bool) -> tuple[list[Sample], Findings] | list[Problem]:
    """The samples of a file, or what is wrong with it. `whole`: false if `data` is only its first part, of which fewer
    rows are enough and nothing is said about how many rows are left out."""
    if not data.strip():
        return [Problem(code="data_empty", facts={"file": file})]
    if is_binary(data):
        return [Problem(code="data_binary", facts={"file": file})]
    decoded = decode(data, whole)
    known = {name.lower() for name in (*TEXT, *LABEL, asked.text_column, asked.label_column) if name}
    table = recognise(decoded.text, file, known)
    found = _columns(table, asked, file)
    if isinstance(found, Problem):
        return [found]
    rows = table.rows(decoded.text, whole)
    first = next(iter(rows), None)
    many = found.many or (first is not None and isinstance(first.cells.get(found.label), list))
    columns = found.with_(many=many)
    samples, findings = _sorted_out(
        chain([first] if first is not None else [], rows), columns,
        Findings(file=file, encoding=decoded.name, form=table.form, rows=0, used=0, labels={}, left_out={},
                 columns=columns),
    )  # fmt: skip
    wrong = _judge(findings, whole)
    return [wrong] if wrong else (samples, findings)


def _columns(table: Table, asked: Asked, file: str) -> Columns | Problem:
    by_name = {name.lower(): name for name in table.columns}
    chosen: dict[str, str] = {}
    for part, typed, names in (("text", asked.text_column, TEXT), ("label", asked.label_column, LABEL)):
        if typed:
            if typed.lower() not in by_name:
                facts = {"key": f"{part}_column", "value": typed, "nearest": nearest(typed, by_name) or "",
                         "known": ", ".join(table.columns[:KEPT_NAMES]), "file": file}  # fmt: skip
                return Problem(code="data_no_such_column", facts=facts)
            chosen[part] = by_name[typed.lower()]
            continue
        named = next((by_name[name] for name in names if name in by_name), None)
        if named is not None:
            chosen[part] = named
    if not table.header and len(table.columns) == 2 and not chosen:
        chosen = {"text": table.columns[0], "label": table.columns[1]}
    for part in ("text", "label"):
        if part not in chosen:
            facts = {"file": file, "part": part, "known": ", ".join(table.columns[:KEPT_NAMES]),
                     "example": f"{part}_column={(table.columns or ('1',))[0]}"}  # fmt: skip
            return Problem(code=f"data_no_{part}_column", facts=facts)
    if chosen["text"] == chosen["label"]:
        return Problem(code="data_same_column", facts={"file": file, "value": chosen["text"]})
    more = {part: next((by_name[n] for n in names if n in by_name), "") for part, names in
            (("split", SPLIT), ("group", GROUP))}  # fmt: skip
    return Columns(**chosen, **more, many=chosen["label"].lower() in MANY_LABELS)


def _sorted_out(rows: Iterable[Row], columns: Columns, findings: Findings) -> tuple[list[Sample], Findings]:
    """Each text once, with one set of labels. A text that has different labels in different rows is not used at all:
    which of them is right cannot be known."""
    left: dict[str, LeftOut] = {}
    kept: dict[str, Sample] = {}
    disputed: dict[str, list[int]] = {}
    count = 0

    def leave_out(reason: str, row: int) -> None:
        was = left.get(reason)
        first = row if was is None else min(was.first, row)
        left[reason] = LeftOut(count=(was.count if was else 0) + 1, first=first)

    for row in rows:
        count += 1
        sample = None if row.fault else _sample(row, columns)
        if sample is None or not sample.text or not sample.labels:
            reason = row.fault or ("columns" if sample is None else "no_label" if sample.text else "no_text")
            leave_out(reason, row.number)
            continue
        earlier = kept.get(sample.text)
        if sample.text in disputed:
            disputed[sample.text].append(row.number)
        elif earlier is None:
            kept[sample.text] = sample
        elif set(earlier.labels) == set(sample.labels):
            leave_out("repeat", row.number)
        else:
            disputed[sample.text] = [earlier.row, row.number]
            del kept[sample.text]
    for numbers in disputed.values():
        for number in numbers:
            leave_out("two_labels", number)
    labels = Counter(label for sample in kept.values() for label in sample.labels)
    ranked = dict(sorted(labels.items(), key=lambda item: (-item[1], item[0])))
    return list(kept.values()), findings.with_(rows=count, used=len(kept), labels=ranked, left_out=left)


def _sample(row: Row, columns: Columns) -> Sample | None:
    """None if the row lacks a column."""
    if columns.text not in row.cells or columns.label not in row.cells:
        return None
    parts = {name: _plain(row.cells.get(column)) if column else "" for name, column in
             (("split", columns.split), ("group", columns.group))}  # fmt: skip
    label = row.cells[columns.label]
    if columns.many:
        parts_of = label if isinstance(label, list) else _plain(label).split(SEPARATOR)
        labels = tuple(sorted({_plain(part) for part in parts_of} - {""}))
    else:
        labels = (_plain(label),) if _plain(label) else ()
    return Sample(_plain(row.cells[columns.text]), labels, row.number, parts["split"].lower(), parts["group"])


def _plain(value: object) -> str:
    return "" if value is None else str(value).strip()


def _judge(found: Findings, whole: bool) -> Problem | None:
    """Why these data cannot be trained on, or None."""
    facts = {"file": found.file, "rows": str(found.rows), "used": str(found.used)}
    worst = max(found.left_out, key=lambda reason: (reason != "repeat", found.left_out[reason].count), default="")
    if worst and worst != "repeat":
        facts |= {"reason": worst, "row": str(found.left_out[worst].first), "lost": str(found.lost)}
    if found.used == 0:
        return Problem(code="data_nothing_usable", facts={"reason": "", "row": "", **facts})
    if found.lost > MOST_LEFT_OUT * found.rows and (whole or found.lost > FEWEST_ROWS):
        return Problem(code="data_too_many_left_out", facts=facts)
    if len(found.labels) < 2:
        return Problem(code="data_one_label", facts=facts | {"label": next(iter(found.labels))}) if whole else None
    if len(found.labels) > max(2, found.used // 2) or len(found.labels) > MOST_LABELS:
        shown = ", ".join(list(found.labels)[:MOST_LABELS_SHOWN])
        facts |= {"count": str(len(found.labels)), "known": shown, "column": found.columns.label}
        return Problem(code="data_many_labels", facts=facts)
    if whole and found.used < FEWEST_ROWS:
        return Problem(code="data_few_rows", facts=facts | {"bound": str(FEWEST_ROWS)})
    return None
