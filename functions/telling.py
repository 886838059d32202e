"""Bringing Slack up to date with one run or one month. What Slack does not take now waits in the retry queue, one
message per card; the table's stream never waits for it.

While Slack takes nothing at all, cards do not try one by one: one of them is the probe, with growing distance, and the
others come after the first that is taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Protocol

from aws_lambda_powertools import Logger
from slack_sdk import WebClient

from bot.curves import Picture, no_picture
from bot.month_posting import tell_month
from bot.posting import tell
from bot.slack_errors import TOKEN_DEAD, Later
from bot.told import Told
from bot.wording import Language
from jobs.job import Job
from jobs.model import Model, UtcTime
from jobs.team import MonthAlerts

logger = Logger(service="paddock", child=True)
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 45.0
"""Between two tries: doubled each time. With the jitter the last state of every card is there within a minute."""
LONGEST_WAIT_ALONE_S = 600.0
"""Without a token; and for a card that fails again and again while others are taken."""
ITS_OWN_TROUBLE = 6
SPREAD_S = 8.0
"""Cards that wait for the probe come at random within this time after it."""
PROBE_S = 20.0
"""How long the probe may take until another card may try."""
LOST_S = 120.0
"""A retry that is overdue by this much is no longer counted on."""
GIVE_UP_AFTER = timedelta(days=1)
LONG_AGO = datetime(2000, 1, 1, tzinfo=timezone.utc)


class Outage(Model):
    """Slack takes nothing: no card tries before `until`, and then one."""

    code: str
    since: UtcTime
    until: UtcTime
    tries: int = 1


class Books(Protocol):
    """What is told of, and what was told."""

    def load(self, id: str) -> Job | None: ...

    def month_alerts(self, month: str) -> MonthAlerts: ...

    def told(self, key: str) -> Told: ...

    def save_told(self, key: str, told: Told) -> None: ...

    def outage(self) -> Outage | None: ...

    def save_outage(self, outage: Outage | None, had: Outage | None) -> bool:
        """Put it (None: it is over) if it still is as it was read; whether it was."""

    def close(self, channel: str, code: str) -> None:
        """Note that a channel does not take our messages, or (with no code) that it does."""


class Retries(Protocol):
    """The retry queue."""

    def send(self, key: str, due: datetime, delay_s: float) -> None:
        """`key` of the table, `JOB#<id>` or `MONTH#<month>`, comes back after the delay."""


class Telling:
    """`gap_s`: least seconds between updates of one card. `renew`: what to do when Slack knows our token no more.
    `picture`: an object of the bucket."""

    def __init__(
        self, books: Books, retries: Retries, client: WebClient, now: Callable[[], datetime],
        gap_s: Callable[[], float], budget_channel: str, language: Language, renew: Callable[[], None],
        die: random.Random, picture: Picture = no_picture,
    ) -> None:  # fmt: skip
        self._books, self._retries, self._client, self._now, self._gap_s = books, retries, client, now, gap_s
        self._budget_channel, self._language, self._renew, self._die = budget_channel, language, renew, die
        self._picture = picture

    def bring(self, key: str, due: datetime | None = None) -> None:
        """Tell what is new of `JOB#<id>` or `MONTH#<month>`. `due`: this is the retry that was due then.

        Raises what the table and the queue raise, never anything of Slack's."""
        now, told = self._now(), self._books.told(key)
        if due is not None and now < due:
            self._retries.send(key, due, (due - now).total_seconds())
            return
        pending = told.retry_at if told.retry_at and now < told.retry_at + timedelta(seconds=LOST_S) else None
        if pending is not None and (due is None or due < pending):
            return
        outage = self._books.outage()
        if outage is not None:
            probe = outage.with_(until=now + timedelta(seconds=PROBE_S))
            if now < outage.until or not self._books.save_outage(probe, outage):
                self._come_back(key, told, outage.until + timedelta(seconds=self._die.uniform(0, SPREAD_S)), now)
                return
            outage = probe
        keeper = _Keeper(self._books, key, told)
        try:
            self._tell(key, keeper)
        except Later as later:
            self._hold(key, keeper, later, outage)
            return
        finally:
            _note(told, keeper)
        if outage is not None and keeper.answered:
            self._books.save_outage(None, outage)
        if keeper.told.retry_at is not None:
            keeper.save(keeper.told.with_(retry_at=None, tries=0, failing_since=None))

    def come_home(self, key: str) -> None:
        """The job's channel may take its card now: try at once."""
        told = self._books.told(key)
        if told.away is not None:
            self._books.save_told(key, told.with_(away=told.away.with_(tried_at=LONG_AGO)))
            self.bring(key)

    def _tell(self, key: str, keeper: _Keeper) -> None:
        kind, _, id = key.partition("#")
        if kind == "MONTH":
            tell_month(self._books.month_alerts(id), keeper.told, self._client, self._budget_channel, self._language,
                       self._books.load, keeper.save, lambda job: self._books.told(f"JOB#{job}").ts)  # fmt: skip
            return
        job = self._books.load(id)
        if job is None:
            return
        keeper.about = {"job": job.id, "attempt": job.last_attempt}
        before = keeper.told.away
        after = tell(job, keeper.told, self._client, self._now(), self._gap_s(), keeper.save, self._picture).away
        if after is not None and (before is None or before.code != after.code):
            self._books.close(job.channel, after.code)
        elif before is not None and after is None:
            self._books.close(job.channel, "")

    def _hold(self, key: str, keeper: _Keeper, later: Later, outage: Outage | None) -> None:
        """Slack said: later."""
        now, told = self._now(), keeper.told
        since = told.failing_since or now
        if now - since >= GIVE_UP_AFTER:
            logger.error("Slack has not taken it for a day: given up", extra=keeper.about | {"error": later.code})
            keeper.save(
                told.with_(retry_at=None, tries=0, failing_since=None, failed=told.failed | {"all": later.code})
            )
            return
        if later.code in TOKEN_DEAD:
            self._renew()
        own_trouble = outage is None and told.tries >= ITS_OWN_TROUBLE
        longest = LONGEST_WAIT_ALONE_S if later.code in TOKEN_DEAD or own_trouble else LONGEST_WAIT_S
        at = now + self._wait(told.tries, longest, later)
        if later.everywhere:
            tries = outage.tries if outage is not None else 0
            until = now + self._wait(tries, longest, later)
            news = Outage(code=later.code, since=outage.since if outage else now, until=until, tries=tries + 1)
            if self._books.save_outage(news, outage) and outage is None:
                logger.warning("Slack takes nothing", extra=keeper.about | {"error": later.code})
            # After all the others: the trouble may be this card's alone, and one that is taken ends the outage.
            at = max(at, until + timedelta(seconds=SPREAD_S))
        else:
            # Cards that were limited together do not come back together.
            at += timedelta(seconds=self._die.uniform(0, SPREAD_S))
        self._come_back(key, told.with_(tries=told.tries + 1, failing_since=since), at, now)

    def _wait(self, tries: int, longest: float, later: Later) -> timedelta:
        """What Slack asks for, else doubled each time, with jitter."""
        grown = min(longest, FIRST_WAIT_S * 2 ** min(tries, 20)) * self._die.uniform(0.8, 1.0)
        return timedelta(seconds=later.after_s or grown)

    def _come_back(self, key: str, told: Told, at: datetime, now: datetime) -> None:
        """Sent before it is noted: a retry that nobody expects does no harm, an expected one that never comes would."""
        self._retries.send(key, at, max(0.0, (at - now).total_seconds()))
        self._books.save_told(key, told.with_(retry_at=at))


class _Keeper:
    """What Slack has, as last saved; `about` is on every line of the log."""

    def __init__(self, books: Books, key: str, told: Told) -> None:
        self._books, self._key, self.told = books, key, told
        self.answered = False
        self.about: dict[str, str | int] = {"told": key}

    def save(self, told: Told) -> None:
        self._books.save_told(self._key, told)
        self.told, self.answered = told, True


def _note(before: Told, keeper: _Keeper) -> None:
    """Each message that is never taken is logged once: when it is noted."""
    for name, code in keeper.told.failed.items():
        if before.failed.get(name) != code:
            facts = keeper.about | {"message_name": name, "error": code}
            logger.warning("Slack never takes this message", extra=facts)
