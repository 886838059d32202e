"""Judging data before a GPU is paid for, from the first part of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from jobs.data import archive, boxes, images, lines, texts
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


@runtime_checkable
class Folder(Protocol):
    """Many files that are somewhere else: a Remote that has names."""

    def names(self) -> list[str]:
        """Of the first thousand."""

    def read_member(self, name: str) -> bytes: ...


def check(param: Param, params: dict[str, Value | None], remote: Remote) -> list[Problem]:
    """What is wrong with the file that was given for `param`, as far as its beginning shows."""
    try:
        if param.holds == "texts":
            return _texts(params, remote)
        if param.holds == "images":
            return _archive(remote, images.arrange)
        if param.holds == "lines":
            return _archive(remote, lines.arrange)
        if param.holds == "boxes":
            return _archive(remote, boxes.arrange)
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


def _archive(remote: Remote, arrange: Callable[[Sequence[str], Callable[[str], bytes], bool], object]) -> list[Problem]:
    """By the names in an archive, and the small text files in it."""
    if isinstance(remote, Folder):
        found = arrange(remote.names(), remote.read_member, False)
        return [found.with_(facts={"file": remote.file} | found.facts)] if isinstance(found, Problem) else []
    if not archive.is_archive(remote.file):
        return [Problem(code="data_not_archive", facts={"file": remote.file})]
    try:
        names = archive.names_of(remote.file, remote)
        seen_whole = remote.file.lower().endswith(archive.ZIP) or remote.size <= archive.MOST_OF_A_TAR
        found = arrange(names, archive.reader(remote.file, remote), seen_whole)
    except archive.TooLarge:
        return []  # the trainer reads it
    except archive.BadArchive as error:
        return [Problem(code="data_bad_archive", facts={"file": remote.file, "detail": str(error)})]
    return [found.with_(facts={"file": remote.file} | found.facts)] if isinstance(found, Problem) else []
