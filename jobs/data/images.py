"""Images with labels, from the names of files: a folder per class, or a list of paths with labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jobs.data import texts
from jobs.data.encoding import decode
from jobs.data.table import recognise
from jobs.problem import Problem

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
LISTS = (".csv", ".tsv", ".txt")
PATH = ("path", "image", "file", "filename", "图片", "路径", "文件")
SPLITS = {"train", "valid", "val", "validation", "dev", "test"}
FEWEST = 20
SHOWN = 6


class Image(NamedTuple):
    """`name` in the archive; `split` is empty where nothing says it."""

    name: str
    label: str
    split: str = ""
    group: str = ""


def is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def arrange(names: Sequence[str], read: Callable[[str], bytes], whole: bool) -> list[Image] | Problem:
    """The images and their labels. `read` gives a member's content, for a list of paths; `whole`: false if `names` are
    only the first ones."""
    pictures = [name for name in names if is_image(name)]
    lists = [name for name in names if name.lower().endswith(LISTS)]
    if not pictures:
        return Problem(code="data_no_images", facts={"known": ", ".join(sorted(names)[:SHOWN])})
    found = _from_list(lists, set(pictures), read) if len(lists) == 1 else None
    found = found if found is not None else _from_folders(pictures)
    if isinstance(found, Problem):
        return found
    labels = Counter(image.label for image in found)
    facts = {"count": str(len(found)), "known": ", ".join(list(labels)[:SHOWN]), "bound": str(FEWEST)}
    if len(labels) < 2 and whole:
        return Problem(code="data_one_class", facts=facts | {"label": next(iter(labels), "")})
    if len(found) < FEWEST and whole:
        return Problem(code="data_few_images", facts=facts)
    return found


def common_folder(names: Sequence[str]) -> str:
    """The folder that all names begin with, with its slash; empty if there is none."""
    parts = [name.split("/")[:-1] for name in names]
    shared = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return "".join(f"{part}/" for part in shared)


def _from_folders(pictures: list[str]) -> list[Image] | Problem:
    top = common_folder(pictures)
    if all("/" not in name.removeprefix(top) for name in pictures):
        # Everything is in one folder, which is then the only class.
        top = top[: top.rstrip("/").rfind("/") + 1]
    found: list[Image] = []
    for name in pictures:
        parts = name.removeprefix(top).split("/")
        split = parts.pop(0).lower() if len(parts) > 2 and parts[0].lower() in SPLITS else ""
        if len(parts) < 2:
            return Problem(code="data_no_class_folder", facts={"value": name})
        found.append(Image(name, parts[0], split))
    return found


def _from_list(lists: list[str], pictures: set[str], read: Callable[[str], bytes]) -> list[Image] | Problem | None:
    """From a table of paths and labels; None if the file is no such table."""
    name = lists[0]
    text = decode(read(name)).text
    known = {*PATH, *texts.LABEL, *texts.SPLIT, *texts.GROUP}
    table = recognise(text, name, known)
    by_name = {column.lower(): column for column in table.columns}
    path = next((by_name[column] for column in PATH if column in by_name), None)
    label = next((by_name[column] for column in texts.LABEL if column in by_name), None)
    if (path is None or label is None) and not table.header and len(table.columns) == 2:
        path, label = table.columns
    if path is None or label is None:
        return None
    split, group = (next((by_name[c] for c in columns if c in by_name), "") for columns in (texts.SPLIT, texts.GROUP))
    found, missing = [], []
    for row in table.rows(text):
        given = str(row.cells.get(path, "")).replace("\\", "/").removeprefix("./").strip()
        near = name.rsplit("/", 1)[0] + "/" + given if "/" in name else given
        member = next((candidate for candidate in (given, near) if candidate in pictures), None)
        if member is None:
            missing.append((row.number, given))
            continue
        found.append(Image(member, str(row.cells.get(label, "")).strip(), str(row.cells.get(split, "")).strip().lower(),
                           str(row.cells.get(group, "")).strip()))  # fmt: skip
    if len(missing) > texts.MOST_LEFT_OUT * (len(found) + len(missing)):
        row_number, value = missing[0]
        facts = {"file": name, "row": str(row_number), "value": value, "lost": str(len(missing))}
        return Problem(code="data_images_missing", facts=facts)
    return [image for image in found if image.label]
