"""Telling of the team's month: in the budget channel, and in the thread of the run that spends the most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slack_sdk import WebClient

from bot.posting import message_id, say_once
from bot.told import Save, Told
from bot.wording import Language, say
from jobs.job import Job
from jobs.money import shown
from jobs.team import MonthAlert, MonthAlerts


def tell_month(
    month: MonthAlerts, told: Told, client: WebClient, channel: str, language: Language,
    job_of: Callable[[str], Job | None], save: Save, thread_of: Callable[[str], str],
) -> Told:  # fmt: skip
    """Say what was not said yet of the month's alerts. `channel`: the budget channel, empty if there is none.

    Raises Later when Slack does not take more now."""
    for alert in month.alerts:
        for place, send in _places(month, alert, client, channel, language, job_of, thread_of):
            name = f"month-{alert.percent}-{place}"
            told = say_once(name, told, save, lambda s=send, n=name: s(message_id(month.month, n)))  # type: ignore[misc]
    return told


def _places(
    month: MonthAlerts, alert: MonthAlert, client: WebClient, channel: str, language: Language,
    job_of: Callable[[str], Job | None], thread_of: Callable[[str], str],
) -> list[tuple[str, Callable[[str], object]]]:  # fmt: skip
    facts = {
        "month": month.month,
        "share": str(alert.percent),
        "spent": shown(alert.spent, alert.currency),
        "cap": shown(alert.cap, alert.currency),
    }
    places: list[tuple[str, Callable[[str], object]]] = []
    if channel:
        text = say(language, "month_alert", **facts)
        places.append(("channel", lambda id: client.chat_postMessage(channel=channel, text=text, client_msg_id=id)))
    job = job_of(alert.job) if alert.job else None
    thread = thread_of(job.id) if job else ""
    if job is not None and thread:
        mention = f"<@{job.owner.id}> " + say(job.language, "month_alert", **facts)
        loud = alert.percent >= 80 and not channel
        where: dict[str, Any] = {"channel": job.channel, "thread_ts": thread, "reply_broadcast": loud}
        places.append(("thread", lambda id: client.chat_postMessage(**where, text=mention, client_msg_id=id)))
    return places
