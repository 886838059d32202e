"""Where a job's card is, and how it gets there: posted once, updated in place, replaced when it is lost, and in the
owner's direct messages as long as the job's channel does not take it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_sdk import WebClient

from bot.cards import Card, card, with_note
from bot.slack_errors import CHANNEL_CLOSED, CONNECTION_ERRORS, code_of
from bot.told import Away, Save, Told
from bot.wording import say
from jobs.job import Job

PATIENCE_S = 600
"""A card that cannot be updated is replaced, and a closed channel tried again, at a change of state or after this
time, never more often."""
NOT_DUE = "not due"


def place(job: Job, told: Told) -> tuple[str, str]:
    """Channel and `ts` of the card that people look at; without a card, where messages go all the same."""
    if told.away is not None:
        return told.away.channel or job.owner.id, told.away.ts
    return job.channel, told.ts


def attempt(call: Callable[[], object]) -> str:
    """Empty if the call went through, else Slack's permanent error. Raises Later."""
    try:
        call()
    except CONNECTION_ERRORS as error:
        return code_of(error)
    return ""


def closed_text(job: Job, code: str) -> str:
    """Why the card is not in its channel, whether the run goes on, and what to type."""
    return say(job.language, f"closed_{closed_reason(code)}", job=job.id, channel=job.channel)


def closed_reason(code: str) -> str:
    """Slack has several words for a channel where an app may not post."""
    return "restricted_action" if code.startswith("restricted_action") else code


class CardPosting:
    """One job's card, one time. `told` is what Slack has, saved after each call."""

    def __init__(
        self, job: Job, told: Told, client: WebClient, now: datetime, save: Save, message_id: Callable[[str, str], str]
    ) -> None:
        self.told = told
        self._job, self._client, self._now, self._save, self._message_id = job, client, now, save, message_id
        self._card = card(job)
        self._digest = hashlib.sha256(self._card.model_dump_json().encode()).hexdigest()[:16]

    def bring(self, gap_s: float) -> Told:
        """The card as it should be, in the channel if that takes it. Raises Later."""
        if self._is_current(gap_s):
            return self.told
        away = self.told.away
        if away is None:
            code, _, ts = self._show(self._job.channel, self.told.ts, self._card, self.told.lost)
            if code in CHANNEL_CLOSED:
                self._keep(
                    away=Away(code=code, tried_at=self._now),
                    lost="",
                    posted_at=None,
                    failed=self.told.failed | {"home": code},
                )
            elif not code:
                self._keep(ts=ts, **self._shown())
        elif self._changed() or self._since(away.tried_at) >= PATIENCE_S:
            code, _, ts = self._show(self._job.channel, self.told.ts, self._card, "", due=True)
            if not code:
                self._keep(ts=ts, away=None, **self._shown())
                self._say_goodbye(away)
            else:
                reason = code if code in CHANNEL_CLOSED else away.code
                self._keep(away=away.with_(tried_at=self._now, code=reason))
        if self.told.away is not None:
            self._bring_away(self.told.away)
        return self.told

    def _is_current(self, gap_s: float) -> bool:
        """Whether people see what there is to see; or saw something a moment ago."""
        told = self.told
        if self._changed() or told.lost or not place(self._job, told)[1]:
            return False
        if told.away is not None and self._since(told.away.tried_at) >= PATIENCE_S:
            return False
        soon = told.updated_at is not None and self._since(told.updated_at) < gap_s
        return soon or told.digest == self._digest

    def _bring_away(self, away: Away) -> None:
        """The card in the owner's direct messages, which says why it is there and how it comes home."""
        shape = with_note(self._card, closed_text(self._job, away.code))
        code, channel, ts = self._show(away.channel or self._job.owner.id, away.ts, shape, self.told.lost)
        if not code:
            self._keep(away=away.with_(channel=channel, ts=ts), **self._shown())

    def _show(self, channel: str, ts: str, shape: Card, lost: str, due: bool = False) -> tuple[str, str, str]:
        """Update the card `ts`, or post one if there is none or it is lost, as often as that is due. Answers Slack's
        permanent error, or none, with the card's channel and `ts`."""
        content: dict[str, Any] = {"text": shape.text, "blocks": shape.blocks}
        if ts and not lost:
            code = attempt(lambda: self._client.chat_update(channel=channel, ts=ts, **content))
            if not code or code in CHANNEL_CLOSED:
                return code, channel, ts
            self._keep(lost=code, failed=self.told.failed | {f"card-{self.told.generation}": code})
        waits = self.told.posted_at is not None and self._since(self.told.posted_at) < PATIENCE_S
        if waits and not due and not self._changed():
            return NOT_DUE, channel, ts
        name = f"card-{self.told.generation + 1}"
        answer: dict[str, Any] = {}
        id = self._message_id(self._job.id, f"{name}-{channel}")

        def post() -> None:
            said = self._client.chat_postMessage(channel=channel, unfurl_links=False, client_msg_id=id, **content)
            answer.update(ts=said["ts"], channel=said.get("channel"))

        code = attempt(post)
        if code and code not in CHANNEL_CLOSED:
            self._keep(lost=code, state=self._job.state.value, failed=self.told.failed | {name: code})
        if not code or code not in CHANNEL_CLOSED:
            self._keep(posted_at=self._now, generation=self.told.generation + 1)
        return code, str(answer.get("channel") or channel), str(answer.get("ts") or "")

    def _say_goodbye(self, away: Away) -> None:
        """The card in the direct messages says where it is now. A courtesy: whatever Slack answers."""
        text = say(self._job.language, "came_home", job=self._job.id, channel=self._job.channel)
        if away.ts:
            attempt(lambda: self._client.chat_update(channel=away.channel, ts=away.ts, text=text, blocks=[]))

    def _shown(self) -> dict[str, Any]:
        return {"digest": self._digest, "state": self._job.state.value, "updated_at": self._now, "lost": "",
                "version": self._job.version}  # fmt: skip

    def _changed(self) -> bool:
        return self.told.state != self._job.state.value

    def _since(self, moment: datetime) -> float:
        return (self._now - moment).total_seconds()

    def _keep(self, **changes: Any) -> None:
        self.told = self.told.with_(**changes)
        self._save(self.told)
