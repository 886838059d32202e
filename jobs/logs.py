"""What may be shown of a log, and what of it matters."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "•••"
SHORTEST_SECRET = 4
"""Characters: what is shorter would be found everywhere."""
_SHAPES = re.compile(
    r"xox[abeoprs]-[\w-]+"  # Slack
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS access key ids
    r"|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:(?<=password=)|(?<=passwd=)|(?<=token=)|(?<=api_key=)|(?<=apikey=)|(?<=secret=)|(?<=authorization: bearer ))"
    r"[^\s&\"',;]{4,}"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_TRACEBACK = "Traceback (most recent call last)"
_FATAL = re.compile(
    r"(?:^|\W)(?:[A-Za-z_.]*(?:Error|Exception|Interrupt)\b.*|FATAL|CUDA error|out of memory|Killed)", re.I
)
SHOWN = 12


class Masked:
    """Takes secrets out of a line: those that are known, and what has the form of one."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        self._known = sorted((k for k in known if len(k) >= SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, line: str) -> str:
        for secret in self._known:
            line = line.replace(secret, MASK)
        return _SHAPES.sub(MASK, line)


def plain(line: str) -> str:
    """Without colours, and of a progress bar that wrote over itself only the last state."""
    return _ANSI.sub("", line.rstrip("\r\n").rsplit("\r", 1)[-1])


def lines_that_matter(lines: Iterable[str], most: int = SHOWN) -> list[str]:
    """Of a failed program's output what says why: the last traceback's beginning of the end, else the lines around the
    last error, else the last lines. At most `most`."""
    kept = [text for line in lines if (text := plain(line)).strip()]
    begins = max((i for i, line in enumerate(kept) if _TRACEBACK in line), default=None)
    if begins is not None:
        ends = next((i for i in range(begins + 1, len(kept)) if not kept[i].startswith((" ", "\t"))), len(kept) - 1)
        found = kept[begins : ends + 1]
        return found if len(found) <= most else ["…", *found[-(most - 1) :]]
    errors = [i for i, line in enumerate(kept) if _FATAL.search(line)]
    if errors:
        end = min(len(kept), errors[-1] + 3)
        return kept[max(0, end - most) : end]
    return kept[-most:]
