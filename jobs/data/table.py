"""Rows and columns of CSV, TSV and JSONL."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from jobs.data.encoding import DAMAGED
from jobs.model import Model

Form = Literal["csv", "tsv", "jsonl"]
FAULTS = ("columns", "characters", "json")
LOOKED_AT = 200
csv.field_size_limit(1 << 27)


class Row(NamedTuple):
    """One row. `number`: the line it begins at, from 1, as an editor counts. `fault`: why it cannot be used, or empty.
    `cells` by column; of JSONL all kinds of values, else texts."""

    number: int
    cells: dict[str, object]
    fault: str = ""


class Table(Model):
    """How a text is to be read. `columns`: names from its header, or `1`, `2`, … where there is none."""

    form: Form
    delimiter: str = ","
    quoted: bool = True
    columns: tuple[str, ...]
    header: bool

    def rows(self, text: str, whole: bool = True) -> Iterator[Row]:
        """Every row but the header and empty lines. `whole`: false for the first part of a file, whose last row is
        left alone."""
        rows = self._json_rows(text) if self.form == "jsonl" else self._cell_rows(text)
        if whole or text.endswith("\n"):
            yield from rows
            return
        waiting: Row | None = None
        for row in rows:
            if waiting is not None:
                yield waiting
            waiting = row

    def _cell_rows(self, text: str) -> Iterator[Row]:
        for place, (number, cells) in enumerate(_lines(text, self.delimiter, self.quoted)):
            if place == 0 and self.header:
                continue
            fault = "columns" if len(cells) != len(self.columns) else ""
            if any(DAMAGED in cell for cell in cells):
                fault = "characters"
            yield Row(number, dict(zip(self.columns, cells, strict=False)), fault)

    def _json_rows(self, text: str) -> Iterator[Row]:
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if not isinstance(value, dict):
                yield Row(number, {}, "json")
            else:
                yield Row(number, value, "characters" if DAMAGED in line else "")


def recognise(text: str, name: str, known: set[str]) -> Table:
    """How `text`, the beginning of the file `name`, is to be read. `known`: lower-case names that only a header has."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    if name.lower().endswith((".jsonl", ".ndjson")) or first.lstrip().startswith("{"):
        keys: Counter[str] = Counter()
        for row in islice(Table(form="jsonl", columns=(), header=False).rows(text), LOOKED_AT):
            keys.update(row.cells.keys())
        return Table(form="jsonl", columns=tuple(keys), header=True)
    delimiter = "\t" if "\t" in first else "," if "," in first or ";" not in first else ";"
    quoted = delimiter != "\t" or _odd(text, "\t", True) <= _odd(text, "\t", False)
    cells = next(iter(_lines(text, delimiter, quoted)), (1, [""]))[1]
    names = [cell.strip() for cell in cells]
    header = any(name.lower() in known for name in names) and len(set(names)) == len(names)
    columns = tuple(names) if header else tuple(str(i + 1) for i in range(_width(text, delimiter, quoted)))
    return Table(
        form="tsv" if delimiter == "\t" else "csv", delimiter=delimiter, quoted=quoted, columns=columns, header=header
    )


def _lines(text: str, delimiter: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold anything, with the line each begins at."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )  # fmt: skip
    begins = 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield begins, cells
        begins = reader.line_num + 1


def _widths(text: str, delimiter: str, quoted: bool) -> Counter[int]:
    return Counter(len(cells) for _, cells in islice(_lines(text, delimiter, quoted), LOOKED_AT))


def _width(text: str, delimiter: str, quoted: bool) -> int:
    """The number of columns that most rows have."""
    common = _widths(text, delimiter, quoted).most_common(1)
    return common[0][0] if common else 1


def _odd(text: str, delimiter: str, quoted: bool) -> float:
    """The share of rows that do not have that number, and of lines that were taken into another row."""
    widths = _widths(text, delimiter, quoted)
    lines = min(LOOKED_AT, sum(1 for line in text.split("\n") if line.strip()))
    usual = widths.most_common(1)[0][1] if widths else 0
    return 1 - usual / max(1, lines)
