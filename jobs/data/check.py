"""Judging data before a GPU is paid for, from the first part of a file."""

from __future__ import annotations

from typing import Protocol

from jobs.data import texts
from jobs.problem import Problem
from jobs.recipe import Param, Value

HEAD = 1 << 20
"""Bytes: more than enough rows, and read in a fraction of a second."""


class Remote(Protocol):
    """A file that is somewhere else. Reading raises OSError when it cannot be read."""

    @property
    def file(self) -> str: ...

    @property
    def size(self) -> int: ...

    def read_range(self, start: int, length: int) -> bytes: ...


def check(param: Param, params: dict[str, Value | None], remote: Remote) -> list[Problem]:
    """What is wrong with the file that was given for `param`, as far as its beginning shows."""
    try:
        if param.holds == "texts":
            return _texts(params, remote)
    except OSError as error:
        return [Problem(code="data_unreadable", facts={"value": remote.file, "detail": str(error)})]
    return []


def asked(params: dict[str, Value | None]) -> texts.Asked:
    """What was typed about a table's columns."""
    return texts.Asked(text_column=str(params.get("text_column") or ""),
                       label_column=str(params.get("label_column") or ""))  # fmt: skip


def _texts(params: dict[str, Value | None], remote: Remote) -> list[Problem]:
    head = remote.read_range(0, HEAD)
    found = texts.read(head, remote.file, asked(params), whole=len(head) >= remote.size)
    return found if isinstance(found, list) else []
