"""Slack fails, in every way: cards wait in the retry queue, and nothing else waits."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest
from slack_sdk import WebClient

from functions.telling import Telling
from jobs.job import Job, State
from local.slack import Slack
from tests.books import Books, RetryQueue
from tests.samples import NOW, running

World = tuple[Slack, WebClient]
HOUR_S = 3600


class Drill:
    """Live cards, each with news every five seconds, on a clock of its own."""

    def __init__(self, world: World, cards: int, seed: int = 1) -> None:
        self.slack, self.client = world
        self.client.retry_handlers = []
        self.die = random.Random(seed)
        self.books, self.queue = Books(), RetryQueue()
        self.now = self.queue.now = NOW
        self.slack.workspace.clock = self._clock
        self.renewed = 0
        self.telling = Telling(
            self.books, self.queue, self.client, lambda: self.now, lambda: 60 * cards / 40, "", "en", self._renew,
            self.die,
        )  # fmt: skip
        self.names = [f"job{letter}aaaa" for letter in "abcdefghijklmnopqrst"[:cards]]
        for number, name in enumerate(self.names):
            self.save(running().with_(id=name, channel="C0PADDOCK", version=number + 1))

    def _clock(self) -> float:
        return (self.now - NOW).total_seconds()

    def _renew(self) -> None:
        self.renewed += 1

    def save(self, job: Job) -> None:
        self.books.jobs[job.id] = job

    def news(self, name: str, **changes: object) -> None:
        job = self.books.jobs[name]
        self.save(job.with_(version=job.version + 1, spent=job.spent + Decimal("0.0001"), **changes))
        self.telling.bring(f"JOB#{name}")

    def second(self, busy: bool = True) -> None:
        self.now += timedelta(seconds=1)
        self.queue.now = self.now
        for key, due in self.queue.due():
            self.telling.bring(key, due)
        for name in self.names if busy else ():
            if self.die.random() < 1 / 5:
                self.news(name)

    def run(self, seconds: int, busy: bool = True) -> None:
        for _ in range(seconds):
            self.second(busy)

    def calls(self) -> Counter[str]:
        return Counter(call["method"] for call in self.slack.workspace.calls)

    def shown(self, name: str) -> str:
        messages = self.slack.workspace.state()["messages"]
        return next((m["text"] for m in messages if m["blocks"] and f"`{name}`" in m["text"]), "")


@pytest.mark.parametrize("status", [503, 500])
def test_an_outage_of_an_hour(slack: World, status: int) -> None:
    """10 live cards. At most 30 calls per card within the hour; the last state of each within a minute after it."""
    drill = Drill(slack, 10)
    drill.run(120)
    assert all(drill.shown(name) for name in drill.names)
    drill.slack.workspace.calls.clear()
    drill.slack.workspace.http_status = status
    drill.run(HOUR_S - 60)
    for name in drill.names:
        drill.news(name, state=State.SUCCEEDED, ended_at=drill.now)
    drill.run(60, busy=False)
    during = sum(drill.calls().values())
    drill.slack.workspace.http_status = 0
    waited = 0
    while not all("succeeded" in drill.shown(name) for name in drill.names):
        drill.second(busy=False)
        waited += 1
        assert waited <= 60, "within a minute"
    print(f"an hour of {status}: {during} calls for {len(drill.names)} cards, all current after {waited} s")
    assert during / len(drill.names) <= 30
    assert drill.queue.most_pending == 1
    assert drill.books.outage() is None


@pytest.mark.parametrize("cards", [1, 3])
def test_few_cards_alone_pay_for_the_probe(slack: World, cards: int) -> None:
    """To be current within a minute somebody must try once a minute at least: with one live card that is it."""
    drill = Drill(slack, cards)
    drill.run(60)
    drill.slack.workspace.calls.clear()
    drill.slack.workspace.http_status = 503
    drill.run(HOUR_S)
    assert sum(drill.calls().values()) <= 95
    drill.slack.workspace.http_status = 0
    drill.run(60, busy=False)
    assert drill.books.outage() is None


def test_half_a_minute_of_outage_costs_a_handful_of_calls(slack: World) -> None:
    """It was 97 calls."""
    drill = Drill(slack, 5)
    drill.run(60)
    drill.slack.workspace.calls.clear()
    drill.slack.workspace.failing = dict.fromkeys(("chat.update", "chat.postMessage"), "internal_error")
    drill.run(30)
    assert sum(drill.calls().values()) <= 8
    drill.slack.workspace.failing = {}
    drill.run(60)
    assert drill.books.outage() is None


def test_one_card_that_fails_again_and_again_does_not_hold_the_others(slack: World) -> None:
    """`internal_error` may be for one message only."""
    drill = Drill(slack, 5)
    drill.run(60)
    drill.slack.workspace.poison = {f"`{drill.names[0]}`": "internal_error"}
    drill.slack.workspace.calls.clear()
    late = 0
    for _ in range(HOUR_S // 10):
        drill.run(10)
        current = drill.books.jobs[drill.names[1]]
        told = drill.books.told(f"JOB#{drill.names[1]}")
        assert told.updated_at is not None
        late = max(late, round((drill.now - told.updated_at).total_seconds()))
        assert told.version <= current.version
    assert late <= 45
    poisoned = [c for c in drill.slack.workspace.calls if c["ts"] == drill.books.told(f"JOB#{drill.names[0]}").ts]
    assert len(poisoned) <= 30


def test_a_rate_limit_is_waited_for_by_the_card_that_met_it(slack: World) -> None:
    drill = Drill(slack, 3)
    drill.slack.workspace.failing = {"chat.postMessage": "ratelimited"}
    drill.run(20)
    assert drill.books.outage() is None, "others may be taken"
    drill.slack.workspace.failing = {}
    drill.run(60)
    assert all(drill.shown(name) for name in drill.names)
    assert drill.queue.most_pending == 1


def test_a_dead_token_is_asked_for_anew_and_tried_rarely(slack: World) -> None:
    drill = Drill(slack, 3)
    drill.slack.workspace.failing = {"chat.postMessage": "token_revoked"}
    drill.run(2 * HOUR_S)
    assert sum(drill.calls().values()) <= 30
    assert drill.renewed == sum(drill.calls().values())
    outage = drill.books.outage()
    assert outage is not None
    assert outage.code == "token_revoked"
    drill.slack.workspace.failing = {}
    drill.run(620)
    assert all(drill.shown(name) for name in drill.names)


def test_what_slack_has_not_taken_for_a_day_is_given_up(slack: World) -> None:
    drill = Drill(slack, 1)
    drill.slack.workspace.poison = {"`": "fatal_error"}
    drill.news(drill.names[0])
    for _ in range(2000):
        drill.now += timedelta(seconds=60)
        drill.queue.now = drill.now
        for key, due in drill.queue.due():
            drill.telling.bring(key, due)
    assert drill.books.told(f"JOB#{drill.names[0]}").failed["all"] == "fatal_error"
    assert drill.queue.due() == []
    sent = drill.queue.sent
    drill.run(HOUR_S, busy=False)
    assert drill.queue.sent == sent


def test_a_retry_that_comes_twice_or_early_or_late_tells_once(slack: World) -> None:
    drill = Drill(slack, 1)
    key = f"JOB#{drill.names[0]}"
    drill.slack.workspace.failing = {"chat.postMessage": "ratelimited"}
    drill.telling.bring(key)
    due = drill.books.told(key).retry_at
    assert due is not None
    drill.slack.workspace.failing = {}
    drill.telling.bring(key, due - timedelta(seconds=3))
    assert drill.shown(drill.names[0]) == "", "another retry is expected"
    drill.now = due + timedelta(seconds=1)
    for _ in range(3):
        drill.telling.bring(key, due)
    messages = drill.slack.workspace.state()["messages"]
    assert len(messages) == 1


def test_a_lost_retry_is_not_waited_for_for_ever(slack: World) -> None:
    drill = Drill(slack, 1)
    drill.slack.workspace.failing = {"chat.postMessage": "ratelimited"}
    drill.news(drill.names[0])
    drill.slack.workspace.failing = {}
    drill.now += timedelta(seconds=300)
    drill.news(drill.names[0])
    assert drill.shown(drill.names[0])


def test_an_invitation_brings_the_card_home_at_once(slack: World) -> None:
    drill = Drill(slack, 1)
    (name,) = drill.names
    drill.save(drill.books.jobs[name].with_(channel="C0LOUNGE"))
    drill.telling.bring(f"JOB#{name}")
    assert drill.books.closed == {"C0LOUNGE": "not_in_channel"}
    drill.slack.workspace.invite("C0LOUNGE")
    drill.telling.come_home(f"JOB#{name}")
    assert drill.books.closed == {}
    assert drill.books.told(f"JOB#{name}").away is None
    assert any(m["channel"] == "C0LOUNGE" for m in drill.slack.workspace.state()["messages"])
