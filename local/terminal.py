"""The channel in a terminal: messages, the card changing in place, thread replies."""

from __future__ import annotations

import re
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

_PART = re.compile(r"`([^`\n]+)`|\*([^*\n]+)\*|<@(\w+)>")
_LINK, _DATE = re.compile(r"<(https?:[^|>]+)\|([^>]*)>"), re.compile(r"<!date\^[^|>]*\|([^>]*)>")


class Channel:
    """Shows states of the Slack stand-in, one after the other. On a terminal cards change in place; elsewhere a line
    is printed for every new message and every change of a card's state or epoch."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = (
            Live(console=console, auto_refresh=False, vertical_overflow="visible") if console.is_terminal else None
        )
        self._printed: dict[str, str] = {}

    def __enter__(self) -> Channel:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, state: dict[str, Any]) -> None:
        """Draw what the channel now holds."""
        people = state["people"]
        if self._live is not None:
            self._live.update(
                Group(*(_message(m, state, people) for m in state["messages"] if m["text"] or m["blocks"])),
                refresh=True,
            )
            return
        for message in [m for m in state["messages"] if m["text"] or m["blocks"]]:
            line = _line(message, people)
            if self._printed.get(message["ts"]) != line:
                self._printed[message["ts"]] = line
                who = "paddock" if message["user"] == state["bot"] else people.get(message["user"], message["user"])
                self._console.print(f"[{who}] {line}", markup=False, highlight=False, soft_wrap=True)


def _line(message: dict[str, Any], people: dict[str, str]) -> str:
    """A message in plain words. Of a card only what is worth a line of its own: the state, the reason, the epoch."""
    text = message["text"]
    if message["blocks"]:
        lines = text.split("\n")
        kept = [
            line
            for line in lines
            if not re.match(r"(Speed|Left|Loss|Elapsed|Instance|速度|剩余|损失|已用时|实例)", line)
        ]
        done = any(word in lines[0] for word in ("✅", "❌", "⏹", "⌛", "💰", "🚫"))
        if not done:
            kept = [re.sub(r"`[█░]+ \d+ %` (.*?) · .*", r"\1", line) for line in kept]
            kept = [line for line in kept if not line.startswith(("`", "Spend", "花费", "on demand", "按需"))]
        text = "\n    ".join(kept)
    return _plain(re.sub(r"<@(\w+)>", lambda m: "@" + people.get(m.group(1), m.group(1)), _linked(text)))


def _message(message: dict[str, Any], state: dict[str, Any], people: dict[str, str]) -> RenderableType:
    name = "paddock" if message["user"] == state["bot"] else people.get(message["user"], message["user"])
    if message["blocks"]:
        return _card(message["blocks"], people)
    head = Text(f"{name}  ", style="bold")
    if message["only_for"] and message["user"] == state["bot"]:
        head.append("only visible to you  ", style="dim")
    body = head + _rich(message["text"], people)
    return Panel(body, box=box.SIMPLE, padding=(0, 0, 0, 4 if message["thread_ts"] else 0))


def _card(blocks: list[dict[str, Any]], people: dict[str, str]) -> RenderableType:
    parts: list[RenderableType] = []
    title = ""
    for block in blocks:
        if block["type"] == "header":
            title = block["text"]["text"]
        elif block["type"] == "section" and "fields" in block:
            grid = Table.grid(padding=(0, 3))
            cells = [_rich(field["text"], people) for field in block["fields"]]
            for start in range(0, len(cells), 3):
                grid.add_row(*cells[start : start + 3])
            parts.append(grid)
        elif block["type"] == "section":
            parts.append(_rich(block["text"]["text"], people))
        elif block["type"] == "actions":
            parts.append(Text("  ".join(f"[ {e['text']['text']} ]" for e in block["elements"]), style="dim"))
        else:
            parts.append(_rich(" ".join(e["text"] for e in block["elements"]), people, style="dim"))
    return Panel(Group(*parts), title=Text(title, style="bold"), title_align="left", box=box.ROUNDED, width=96)


def _rich(text: str, people: dict[str, str], style: str = "") -> Text:
    """Slack's mrkdwn as rich text."""
    text = _linked(text)
    result, end = Text(style=style), 0
    for part in _PART.finditer(text):
        result.append(_plain(text[end : part.start()]))
        if part.group(1):
            result.append(_plain(part.group(1)), style="cyan")
        elif part.group(2):
            result.append(_plain(part.group(2)), style="bold")
        else:
            result.append("@" + people.get(part.group(3), part.group(3)), style="blue")
        end = part.end()
    result.append(_plain(text[end:]))
    return result


def _linked(text: str) -> str:
    """Links with their address, times as they are written for those who cannot convert them."""
    return _DATE.sub(r"\1", _LINK.sub(r"\2: \1", text))


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
