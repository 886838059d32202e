"""The stand-in's Slack workspace: its channels and direct messages, and Slack's own limits and errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from local.slack_files import Files
from local.slack_refused import Refused

CHANNEL = {"id": "C0PADDOCK", "name": "gpu-training"}
PEOPLE = {"U0ADA": "ada", "U0LIN": "lin"}
BOT = "B0PADDOCK"
"""The app's user, too: whoever types `/invite @paddock` invites it."""
OTHERS = {"C0LOUNGE": "lounge", "C0OLD": "old-project"}
"""Channels where the app is not; the second is archived."""

TEXT_POSTED, TEXT_UPDATED, BLOCKS, SECTION, FIELDS, FIELD, HEADER, ACTIONS = (
    40_000,
    4_000,
    50,
    3_000,
    10,
    2_000,
    150,
    25,
)
BUTTON_TEXT, BUTTON_VALUE, CONTEXT, ID = 75, 2_000, 10, 255


class Workspace:
    """Thread-safe. `changed` counts every change, for those who wait for the next one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """Seconds, for the rate limits."""
        self.poison: dict[str, str] = {}
        """Errors to give, by a word in the message's text."""
        self.changed = 0
        self.messages: list[dict[str, Any]] = []
        self.modal: dict[str, Any] | None = None
        self.failing: dict[str, str] = {}
        """Errors to give, by method, until taken back."""
        self.calls: list[dict[str, Any]] = []
        self.members = {CHANNEL["id"]}
        """The channels where the app is."""
        self.archived = {"C0OLD"}
        self.closed_directs: set[str] = set()
        """People whom the app cannot write to directly."""
        self.http_status = 0
        """Answer every call with this status and no JSON, as Slack does when it is down; 0: do not."""
        self.files = Files()
        self._lock = threading.Condition()
        self._last_ts = 0.0
        self._by_client_id: dict[str, str] = {}
        self._buckets: dict[str, tuple[float, float]] = {}

    def post(self, asked: dict[str, Any]) -> dict[str, Any]:
        """chat.postMessage: about one a second in a channel, short bursts allowed. A person's id stands for the direct
        message with them."""
        _check(asked, TEXT_POSTED)
        channel = self._open_channel(asked["channel"])
        with self._lock:
            again = self._by_client_id.get(str(asked.get("client_msg_id") or ""))
            if again:
                return {"ts": again, "channel": channel}
            self._take(f"post/{channel}", per_s=1.0, burst=10)
            if asked.get("thread_ts") and not any(m["ts"] == asked["thread_ts"] for m in self.messages):
                raise Refused("thread_not_found")
            ts = self._ts()
            if asked.get("client_msg_id"):
                self._by_client_id[str(asked["client_msg_id"])] = ts
            self._add({"ts": ts, "user": BOT, "text": asked.get("text", ""), "blocks": asked.get("blocks") or [],
                       "thread_ts": asked.get("thread_ts"), "broadcast": bool(asked.get("reply_broadcast")),
                       "only_for": None, "channel": channel, "edited": 0})  # fmt: skip
            return {"ts": ts, "channel": channel}

    def _open_channel(self, id: str) -> str:
        """The channel where the app may post. It cannot see conversations between people."""
        person = id if id in PEOPLE else next((who for who in PEOPLE if direct(who) == id), None)
        if person is not None:
            if person in self.closed_directs:
                raise Refused("messages_tab_disabled")
            return direct(person)
        if id not in OTHERS and id != CHANNEL["id"]:
            raise Refused("channel_not_found")
        if id in self.archived:
            raise Refused("is_archived")
        if id not in self.members:
            raise Refused("not_in_channel")
        return id

    def invite(self, channel: str) -> None:
        """The app joins a channel."""
        with self._lock:
            self.members.add(channel)
            self._bump()

    def update(self, asked: dict[str, Any]) -> dict[str, Any]:
        """chat.update, tier 3: 50 a minute for the workspace. Without blocks the message loses those it had."""
        _check(asked, TEXT_UPDATED)
        channel = self._open_channel(asked["channel"])
        with self._lock:
            self._take("update", per_s=50 / 60, burst=50)
            message = next(
                (
                    m
                    for m in self.messages
                    if (m["ts"], m["channel"]) == (asked.get("ts"), channel) and not m["only_for"]
                ),
                None,
            )
            if message is None:
                raise Refused("message_not_found")
            message.update(text=asked.get("text", ""), blocks=asked.get("blocks") or [], edited=message["edited"] + 1)
            self._bump()
            return {"ts": message["ts"], "channel": channel}

    def ephemeral(self, channel: str, user: str, text: str) -> dict[str, Any]:
        """What only one person sees."""
        if not text:
            raise Refused("no_text")
        with self._lock:
            ts = self._ts()
            self._add({"ts": ts, "user": BOT, "text": text, "blocks": [], "thread_ts": None, "broadcast": False,
                       "only_for": user, "channel": channel, "edited": 0})  # fmt: skip
            return {"message_ts": ts}

    def typed(self, user: str, text: str, channel: str) -> None:
        """What a person typed, as they see it themselves."""
        with self._lock:
            self._add({"ts": self._ts(), "user": user, "text": text, "blocks": [], "thread_ts": None,
                       "broadcast": False, "only_for": user, "channel": channel, "edited": 0})  # fmt: skip

    def open(self, view: dict[str, Any]) -> dict[str, Any]:
        """views.open."""
        for name in ("title", "close", "submit"):
            if len(view.get(name, {}).get("text", "")) > 24:
                raise Refused("invalid_arguments", f"{name} is longer than 24 characters")
        _check_blocks(view.get("blocks", []), most=100)
        with self._lock:
            self.modal = view
            self._bump()
            return {"view": view}

    def close_modal(self) -> None:
        with self._lock:
            self.modal = None
            self._bump()

    def call(self, method: str, asked: dict[str, Any]) -> dict[str, Any]:
        """One Web API call. Raises Refused."""
        self.calls.append({"method": method, "at": time.time(), "ts": asked.get("ts"), "channel": asked.get("channel")})
        if method in self.failing:
            raise Refused(self.failing[method])
        for word, error in self.poison.items():
            if word in str(asked.get("text")):
                raise Refused(error)
        if method == "chat.postMessage":
            return self.post(asked)
        if method == "chat.update":
            return self.update(asked)
        if method == "chat.postEphemeral":
            self._open_channel(asked["channel"])
            if asked["user"] not in PEOPLE:
                raise Refused("user_not_in_channel")
            return self.ephemeral(asked["channel"], asked["user"], asked.get("text", ""))
        if method == "views.open":
            return self.open(asked["view"])
        if method == "files.getUploadURLExternal":
            return self.files.begin(asked)
        if method == "files.completeUploadExternal":
            return self._share(asked)
        if method == "auth.test":
            return {"user_id": BOT, "team_id": "T0PADDOCK", "bot_id": BOT}
        raise Refused("unknown_method")

    def _share(self, asked: dict[str, Any]) -> dict[str, Any]:
        """files.completeUploadExternal: the files appear where the app may post."""
        channel = self._open_channel(asked["channel_id"])
        files = self.files.complete(asked)
        with self._lock:
            if asked.get("thread_ts") and not any(m["ts"] == asked["thread_ts"] for m in self.messages):
                raise Refused("thread_not_found")
            self._add({"ts": self._ts(), "user": BOT, "text": asked.get("initial_comment") or "", "blocks": [],
                       "thread_ts": asked.get("thread_ts"), "broadcast": False, "only_for": None, "channel": channel,
                       "edited": 0, "files": files})  # fmt: skip
        return {"files": files}

    def state(self) -> dict[str, Any]:
        """Everything that a person could see."""
        with self._lock:
            return {"changed": self.changed, "channel": CHANNEL, "people": PEOPLE,
                    "channels": {CHANNEL["id"]: CHANNEL["name"]} | OTHERS, "bot": BOT,
                    "modal": self.modal, "messages": [dict(m) for m in self.messages]}  # fmt: skip

    def wait(self, since: int, timeout_s: float) -> dict[str, Any]:
        """The state once it is newer than `since`, or after the time."""
        with self._lock:
            self._lock.wait_for(lambda: self.changed > since, timeout_s)
        return self.state()

    def _add(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self._bump()

    def _bump(self) -> None:
        self.changed += 1
        self._lock.notify_all()

    def _ts(self) -> str:
        self._last_ts = max(time.time(), self._last_ts + 0.000001)
        return f"{self._last_ts:.6f}"

    def _take(self, name: str, per_s: float, burst: float) -> None:
        level, at = self._buckets.get(name, (burst, self.clock()))
        now = self.clock()
        level = min(burst, level + (now - at) * per_s)
        if level < 1:
            raise Refused("ratelimited", retry_after=max(1, round((1 - level) / per_s)))
        self._buckets[name] = (level - 1, now)


def direct(person: str) -> str:
    """The id of the app's direct message with somebody."""
    return f"D{person[1:]}"


def _check(asked: dict[str, Any], most: int) -> None:
    text, blocks = asked.get("text") or "", asked.get("blocks") or []
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > most:
        raise Refused("msg_too_long")
    _check_blocks(blocks, BLOCKS)


def _check_blocks(blocks: list[dict[str, Any]], most: int) -> None:
    """Slack's sizes (docs.slack.dev, "Block Kit" reference)."""
    if len(blocks) > most:
        raise Refused("invalid_blocks", f"{len(blocks)} blocks")
    for block in blocks:
        kind = block["type"]
        if kind == "header":
            _fits(block["text"]["text"], HEADER)
        elif kind == "section":
            if "text" in block:
                _fits(block["text"]["text"], SECTION)
            if len(block.get("fields", [])) > FIELDS:
                raise Refused("invalid_blocks", "more than 10 fields")
            for field in block.get("fields", []):
                _fits(field["text"], FIELD)
        elif kind == "actions":
            if not 1 <= len(block["elements"]) <= ACTIONS:
                raise Refused("invalid_blocks", "actions")
            for element in block["elements"]:
                _fits(element["text"]["text"], BUTTON_TEXT)
                _fits(element.get("value", "-"), BUTTON_VALUE)
                _fits(element["action_id"], ID)
        elif kind == "context":
            if not 1 <= len(block["elements"]) <= CONTEXT:
                raise Refused("invalid_blocks", "context")
        else:
            raise Refused("invalid_blocks", kind)


def _fits(text: str, most: int) -> None:
    if not 1 <= len(text) <= most:
        raise Refused("invalid_blocks", f"text of {len(text)} characters")
