"""The Bolt app: listeners that only translate between Slack and `answers`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from slack_bolt import Ack, App
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot.answers import Request, answer, details, extend, stop
from bot.desk import Desk
from bot.grammar import Extend
from bot.wording import escape, language_of, say
from jobs.messages import Person

logger = logging.getLogger("paddock.bot")
TITLE_LIMIT = 24


def build_app(desk: Desk, client: WebClient) -> App:
    """The app. The request's signature is verified before it gets here (functions/slack.py).

    `process_before_response`: a Lambda function is frozen once it has answered, so nothing is left for later."""
    app = App(
        client=client,
        authorize=_authorize(client),
        request_verification_enabled=False,
        process_before_response=True,
        url_verification_enabled=True,
        ssl_check_enabled=True,
    )
    for command in ("/train", "/jobs", "/budget", "/data"):
        app.command(command)(_on_command(desk))
    app.event("member_joined_channel")(_on_joined(desk))
    app.action("stop")(_on_stop(desk))
    app.action("extend")(_on_extend(desk))
    app.action("details")(_on_details(desk))
    return app


def _authorize(client: WebClient) -> Callable[..., AuthorizeResult]:
    """One workspace, one token: no call to Slack is needed to know who we are."""

    def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=None, bot_token=client.token)

    return authorize


def _on_command(desk: Desk) -> Callable[..., None]:
    def on_command(ack: Ack, command: dict[str, Any]) -> None:
        request = Request(
            command=command["command"],
            text=command.get("text", ""),
            person=Person(id=command["user_id"], name=command.get("user_name", "")),
            channel=command["channel_id"],
            request=f"{command.get('team_id', '')}/{command['trigger_id']}",
            response_url=command.get("response_url", ""),
        )
        try:
            text = answer(request, desk)
        except Exception:
            logger.exception("command failed", extra={"command": request.command})
            text = say(language_of(request.text, desk.house.language), "unreachable")
        ack({"response_type": "ephemeral", "text": text})

    return on_command


def _on_joined(desk: Desk) -> Callable[..., None]:
    """Somebody joined a channel. If it is Paddock, its cards come there. Slack tells of events at least once, and again
    when it got no answer: looking once more does no harm."""

    def on_joined(event: dict[str, Any], body: dict[str, Any]) -> None:
        us = {authorization.get("user_id") for authorization in body.get("authorizations", [])}
        if event.get("user") in us and event.get("channel"):
            desk.opened(event["channel"])

    return on_joined


def _presser(body: dict[str, Any]) -> Person:
    """Who pressed the button."""
    return Person(id=body["user"]["id"], name=body["user"].get("name", ""))


def _channel(body: dict[str, Any]) -> str:
    return str(body.get("channel", {}).get("id", ""))


def _on_stop(desk: Desk) -> Callable[..., None]:
    def on_stop(ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        stop(action["value"], _presser(body), _channel(body), desk, desk.house.language)
        ack()

    return on_stop


def _on_extend(desk: Desk) -> Callable[..., None]:
    def on_extend(ack: Ack, body: dict[str, Any], action: dict[str, Any]) -> None:
        id, _, amount = action["value"].partition(":")
        request = Request(
            command="/jobs",
            text="",
            person=_presser(body),
            channel=_channel(body),
            request=f"{body.get('team', {}).get('id', '')}/{body['trigger_id']}",
        )
        extend(Extend(job=id, budget=Decimal(amount)), request, desk, desk.house.language)
        ack()

    return on_extend


def _on_details(desk: Desk) -> Callable[..., None]:
    """A window for the one who asked. The only call to Slack besides functions/notify.py: a `trigger_id` lives 3 s."""

    def on_details(ack: Ack, body: dict[str, Any], action: dict[str, Any], client: WebClient) -> None:
        job = desk.job(action["value"])
        if job is not None:
            lang = job.language
            rows = "\n".join(f"*{escape(name)}*  {value}" for name, value in details(job, lang))
            client.views_open(
                trigger_id=body["trigger_id"],
                view={
                    "type": "modal",
                    "title": {"type": "plain_text", "text": f"{job.spec.recipe} {job.id}"[:TITLE_LIMIT]},
                    "close": {"type": "plain_text", "text": say(lang, "close")},
                    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": rows[:3000]}}],
                },
            )
        ack()

    return on_details
