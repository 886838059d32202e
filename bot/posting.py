"""Bringing Slack in line with a job: its card, its thread, its private replies. Called again and again with whatever
the job now is; what was told once is not told twice."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.cards import card, explain, plain_text, section, spent_so_far
from bot.wording import say
from jobs.job import Alert, Job, State
from jobs.model import Model, UtcTime
from jobs.money import shown

NEVER_HEALS = frozenset(
    {"is_archived", "channel_not_found", "not_in_channel", "account_inactive", "token_revoked", "invalid_auth"}
)
CARD_LOST = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_NAMESPACE = uuid.UUID("8d7f1f0e-6a51-4b0e-9d4e-2f7d0b8a4c11")


class Told(Model):
    """What Slack already has of a job. Written only by functions/notify.py."""

    version: int = 0
    ts: str = ""
    generation: int = 0
    """Counts the cards of this job: a lost card is posted anew."""
    digest: str = ""
    state: str = ""
    updated_at: UtcTime | None = None
    said: tuple[str, ...] = ()
    """Names of the thread and private messages that were sent."""
    dead: str = ""
    """The error that will never heal; nothing more is sent."""


Save = Callable[[Told], None]


def tell(job: Job, told: Told, client: WebClient, now: datetime, gap_s: float, save: Save) -> Told:
    """Send what Slack lacks and save what it has after each call. `gap_s`: least seconds between updates of a card
    (chat.update is tier 3, shared by all cards); a change of state does not wait.

    Raises SlackApiError for what may heal, so that the caller delivers the job again."""
    if told.dead or job.version < told.version:
        return told
    try:
        if job.state is not State.REFUSED:
            told = _card(job, told, client, now, gap_s, save)
            told = _thread(job, told, client, save)
        return _replies(job, told, client, save)
    except SlackApiError as error:
        code = error.response.get("error", "")
        if code not in NEVER_HEALS:
            raise
        told = told.with_(dead=code)
        save(told)
        if code in ("is_archived", "channel_not_found", "not_in_channel"):
            _tell_owner(job, client, code)
        return told


def _card(job: Job, told: Told, client: WebClient, now: datetime, gap_s: float, save: Save) -> Told:
    shape = card(job)
    digest = hashlib.sha256(shape.model_dump_json().encode()).hexdigest()[:16]
    if told.ts and digest == told.digest:
        return told
    soon = told.updated_at is not None and (now - told.updated_at).total_seconds() < gap_s
    if told.ts and soon and told.state == job.state.value:
        return told
    ts = told.ts
    if ts:
        try:
            client.chat_update(channel=job.channel, ts=ts, text=shape.text, blocks=shape.blocks)
        except SlackApiError as error:
            if error.response.get("error") not in CARD_LOST:
                raise
            ts = ""
            told = told.with_(generation=told.generation + 1)
    if not ts:
        answer = client.chat_postMessage(
            channel=job.channel, text=shape.text, blocks=shape.blocks, unfurl_links=False,
            client_msg_id=message_id(job.id, f"card-{told.generation}"),
        )  # fmt: skip
        ts = str(answer["ts"])
    told = told.with_(ts=ts, digest=digest, state=job.state.value, updated_at=now, version=job.version)
    save(told)
    return told


def _thread(job: Job, told: Told, client: WebClient, save: Save) -> Told:
    """Edits notify nobody: what people must notice is a reply, shown in the channel too for 80 %, 100 % and the end."""
    due = [
        (f"alert-{alert.percent}", _alert(job, alert), alert.percent >= 80, _extend_button(job, alert))
        for alert in job.alerts
    ]
    if job.state.is_end:
        due.append(("end", _ended(job), True, None))
    for name, text, broadcast, blocks in due:
        if name in told.said:
            continue
        client.chat_postMessage(
            channel=job.channel, thread_ts=told.ts, text=text, reply_broadcast=broadcast, blocks=blocks,
            client_msg_id=message_id(job.id, name),
        )  # fmt: skip
        told = told.with_(said=(*told.said, name))
        save(told)
    return told


def _alert(job: Job, alert: Alert) -> str:
    amounts = {"spent": shown(alert.spent, job.currency), "budget": shown(alert.budget, job.currency)}
    return say(job.language, f"alert_{alert.percent}", user=job.owner.id, job=job.id, **amounts)


def _ended(job: Job) -> str:
    facts = {"user": job.owner.id, "job": job.id, "recipe": job.spec.recipe}
    head = say(job.language, "ended", **facts, state=say(job.language, f"state_{job.state.value}"))
    return head + explain(job.why, job.language) + say(job.language, "ended_spent", spent=spent_so_far(job))


def _extend_button(job: Job, alert: Alert) -> list[dict[str, Any]] | None:
    """At 80 % the way to more budget is one press: half of the budget again."""
    if alert.percent != 80 or job.state.is_end:
        return None
    more = (alert.budget / 2).quantize(Decimal("0.01"), rounding=ROUND_UP)
    text = say(job.language, "extend_button", amount=shown(more, job.currency))
    button = {"type": "button", "action_id": "extend", "value": f"{job.id}:{more}", "text": plain_text(text)}
    return [section(_alert(job, alert)), {"type": "actions", "block_id": "alert", "elements": [button]}]


def _replies(job: Job, told: Told, client: WebClient, save: Save) -> Told:
    for reply in job.replies:
        name = f"reply-{reply.id}"
        if name in told.said:
            continue
        text = explain(reply.why, job.language)
        client.chat_postEphemeral(channel=reply.channel or job.channel, user=reply.to.id, text=text)
        told = told.with_(said=(*told.said, name))
        save(told)
    return told


def _tell_owner(job: Job, client: WebClient, code: str) -> None:
    try:
        client.chat_postMessage(channel=job.owner.id, text=f"`{job.id}`: {job.channel}: {code}")
    except SlackApiError:
        return


def message_id(about: str, name: str) -> str:
    """The same message gets the same id, so that Slack can tell a repetition."""
    return str(uuid.uuid5(_NAMESPACE, f"{about}/{name}"))
