"""Bringing Slack in line with a job: its card, its thread, its private replies. Called again and again with whatever
the job now is; what was told once is not told twice, and a message that Slack never takes does not keep the others."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from decimal import ROUND_UP, Decimal
from typing import Any

from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from bot.card_posting import CardPosting, attempt, closed_text, place
from bot.cards import explain, measured, plain_text, section, spent_so_far
from bot.curves import Picture, no_picture, show_curves
from bot.data import found
from bot.slack_errors import CONNECTION_ERRORS, TOKEN_DEAD, Later
from bot.told import Save, Told
from bot.wording import say
from jobs.job import Alert, Job, Reply, State
from jobs.money import shown

RESPONSE_URL_S = 29 * 60
RESPONSE_TIMEOUT_S = 5
_NAMESPACE = uuid.UUID("8d7f1f0e-6a51-4b0e-9d4e-2f7d0b8a4c11")


def tell(
    job: Job, told: Told, client: WebClient, now: datetime, gap_s: float, save: Save, picture: Picture = no_picture
) -> Told:
    """Send what Slack lacks and save what it has after each call. `gap_s`: least seconds between updates of a card
    (chat.update is tier 3, shared by all cards); a change of state does not wait. `picture`: an object of the bucket.

    Raises Later when Slack does not take more now; what was sent until then is saved."""
    if job.version < told.version:
        return told
    latest = told

    def keep(saved: Told) -> None:
        nonlocal latest
        latest = saved
        save(saved)

    try:
        if job.state is not State.REFUSED and not told.elsewhere:
            told = CardPosting(job, told, client, now, keep, message_id).bring(gap_s)
            if told.away is not None:
                told = _say_where(job, told, closed_text(job, told.away.code), now, keep)
            told = _thread(job, told, client, keep)
            told = show_curves(job, told, client, picture, keep)
        return _replies(job, told, client, keep)
    except Later as later:
        if later.code in TOKEN_DEAD:
            _say_where(job, latest, say(job.language, "no_token", job=job.id, error=later.code), now, keep)
        raise


def say_once(name: str, told: Told, save: Save, send: Callable[[], object]) -> Told:
    """Send the message `name` unless it was sent, and note that; or that Slack never takes it. Raises Later."""
    if name in told.said:
        return told
    code = attempt(send)
    told = told.with_(said=(*told.said, name), failed=told.failed | {name: code} if code else told.failed)
    save(told)
    return told


def _say_where(job: Job, told: Told, text: str, now: datetime, save: Save) -> Told:
    """Whoever typed the command learns at once, where they typed it, that the card cannot appear there: the command's
    `response_url` works also where the app is not, and without its token (docs.slack.dev, "Handling user interaction
    in your Slack apps": for 30 minutes). A courtesy: the card in the direct messages says the same."""
    fresh = (now - job.created_at).total_seconds() < RESPONSE_URL_S
    if not job.response_url or not fresh:
        return told

    def respond() -> None:
        with suppress(*CONNECTION_ERRORS):
            WebhookClient(job.response_url, timeout=RESPONSE_TIMEOUT_S).send(text=text, response_type="ephemeral")

    return say_once("where", told, save, respond)


def _thread(job: Job, told: Told, client: WebClient, save: Save) -> Told:
    """Edits notify nobody: what people must notice is a reply, shown in the channel too for 80 %, 100 % and the end."""
    due: list[tuple[str, str, bool, list[dict[str, Any]] | None]] = []
    if job.data is not None and job.spec.files:
        due.append(("data", found(job.data, job.language), False, None))
    due += [
        (f"alert-{alert.percent}", _alert(job, alert), alert.percent >= 80, _extend_button(job, alert))
        for alert in job.alerts
    ]
    if job.state.is_end:
        due.append(("end", _ended(job), True, None))
    channel, ts = place(job, told)
    for name, text, loud, blocks in due:
        message: dict[str, Any] = {"text": text, "client_msg_id": message_id(job.id, name)}
        if blocks:
            message["blocks"] = blocks
        places: list[dict[str, Any]] = [{"channel": channel}, {"channel": job.owner.id}]
        if ts:
            places.insert(0, {"channel": channel, "thread_ts": ts, "reply_broadcast": loud})
        told = say_once(name, told, save, lambda m=message, p=places: _in_first(p, m, client))  # type: ignore[misc]
    return told


def _in_first(places: list[dict[str, Any]], message: dict[str, Any], client: WebClient) -> None:
    """Send the message to the first of these places that takes it: what concerns money must reach somebody."""
    for where in places[:-1]:
        if not attempt(lambda w=where: client.chat_postMessage(**w, **message)):  # type: ignore[misc]
            return
    client.chat_postMessage(**places[-1], **message)


def _alert(job: Job, alert: Alert) -> str:
    amounts = {"spent": shown(alert.spent, job.currency), "budget": shown(alert.budget, job.currency)}
    return say(job.language, f"alert_{alert.percent}", user=job.owner.id, job=job.id, **amounts)


def _ended(job: Job) -> str:
    facts = {"user": job.owner.id, "job": job.id, "recipe": job.spec.recipe}
    head = say(job.language, "ended", **facts, state=say(job.language, f"state_{job.state.value}"))
    known = measured(job, job.language)[:1]
    best = "".join(say(job.language, "ended_measured", name=name, value=value) for name, value in known)
    return head + explain(job.why, job.language) + best + say(job.language, "ended_spent", spent=spent_so_far(job))


def _extend_button(job: Job, alert: Alert) -> list[dict[str, Any]] | None:
    """At 80 % the way to more budget is one press: half of the budget again."""
    if alert.percent != 80 or job.state.is_end:
        return None
    more = (alert.budget / 2).quantize(Decimal("0.01"), rounding=ROUND_UP)
    text = say(job.language, "extend_button", amount=shown(more, job.currency))
    button = {"type": "button", "action_id": "extend", "value": f"{job.id}:{more}", "text": plain_text(text)}
    return [section(_alert(job, alert)), {"type": "actions", "block_id": "alert", "elements": [button]}]


def _replies(job: Job, told: Told, client: WebClient, save: Save) -> Told:
    """Private answers: in the channel where they were asked for, or, if it does not take them, as direct messages."""
    for reply in job.replies:
        name = reply_name(reply)
        told = say_once(name, told, save, lambda r=reply, n=name: _answer(job, r, n, client))  # type: ignore[misc]
    return told


def reply_name(reply: Reply) -> str:
    """What the private answer is called in `Told.said`."""
    return f"reply-{reply.id}"


def _answer(job: Job, reply: Reply, name: str, client: WebClient) -> None:
    text, channel = explain(reply.why, job.language), reply.channel or job.channel
    if attempt(lambda: client.chat_postEphemeral(channel=channel, user=reply.to.id, text=text)):
        client.chat_postMessage(channel=reply.to.id, text=text, client_msg_id=message_id(job.id, name))


def message_id(about: str, name: str) -> str:
    """The same message gets the same id, so that Slack can tell a repetition."""
    return str(uuid.uuid5(_NAMESPACE, f"{about}/{name}"))
