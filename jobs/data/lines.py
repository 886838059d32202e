"""Images of text lines with their texts: PaddleOCR's lists, `path<TAB>text` (PaddleOCR documentation, "Data preparation
for text recognition")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jobs.data.encoding import decode
from jobs.data.images import FEWEST, is_image
from jobs.data.texts import MOST_LEFT_OUT
from jobs.problem import Problem

VALID_WORDS = ("val", "eval", "test", "dev", "验证")


class Line(NamedTuple):
    """`name` in the archive; `split` is `valid` if its list is called so."""

    name: str
    text: str
    split: str = ""


def arrange(names: Sequence[str], read: Callable[[str], bytes], whole: bool) -> list[Line] | Problem:
    """The lines of every list in the archive. `whole`: false if `names` are only the first ones."""
    pictures = {name for name in names if is_image(name)}
    found: list[Line] = []
    missing: list[tuple[str, int, str]] = []
    for name in sorted(name for name in names if name.lower().endswith(".txt")):
        split = "valid" if any(word in name.rsplit("/", 1)[-1].lower() for word in VALID_WORDS) else ""
        for number, line in enumerate(decode(read(name)).text.split("\n"), start=1):
            path, tab, text = line.rstrip("\r").partition("\t")
            if not tab or not is_image(path):
                continue
            member = _member(path, name, pictures)
            if member is None:
                missing.append((name, number, path))
            elif text.strip():
                found.append(Line(member, text.strip(), split))
    if not found and not missing:
        return Problem(code="data_no_lines")
    if whole and len(missing) > MOST_LEFT_OUT * (len(found) + len(missing)):
        file, number, path = missing[0]
        facts = {"file": file, "row": str(number), "value": path, "lost": str(len(missing))}
        return Problem(code="data_images_missing", facts=facts)
    if whole and len(found) < FEWEST:
        return Problem(code="data_few_images", facts={"count": str(len(found)), "bound": str(FEWEST)})
    return found


def _member(path: str, list_name: str, pictures: set[str]) -> str | None:
    """The image that a list means: by its path from the archive's top, from the list's folder, or by its end."""
    plain = path.replace("\\", "/").removeprefix("./").lstrip("/")
    folder = list_name.rsplit("/", 1)[0] + "/" if "/" in list_name else ""
    for candidate in (plain, folder + plain):
        if candidate in pictures:
            return candidate
    base = folder + plain.rsplit("/", 1)[-1]
    return base if base in pictures else None
