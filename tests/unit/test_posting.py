"""Bringing Slack in line, over HTTP with the stand-in that knows Slack's errors."""

from __future__ import annotations

from decimal import Decimal

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.posting import Told, tell
from jobs.job import Alert, Job, Reply, State, Why
from local.slack import Slack
from tests.samples import ADA, NOW, after, running

World = tuple[Slack, WebClient]


class Memory:
    """What functions/notify.py keeps in the table."""

    def __init__(self) -> None:
        self.told = Told()

    def save(self, told: Told) -> None:
        self.told = told


def say(job: Job, world: World, memory: Memory, at: float = 0, gap_s: float = 0) -> None:
    tell(job, memory.told, world[1], after(at), gap_s, memory.save)


def posted(world: World) -> list[dict[str, object]]:
    return world[0].workspace.state()["messages"]


def test_one_card_that_changes_in_place(slack: World) -> None:
    memory = Memory()
    for version in range(1, 5):
        say(running().with_(version=version, spent=Decimal(version)), slack, memory, at=version * 10)
    assert len(posted(slack)) == 1
    assert posted(slack)[0]["edited"] == 3


def test_an_unchanged_job_is_not_sent_again(slack: World) -> None:
    memory = Memory()
    say(running(), slack, memory)
    say(running(), slack, memory, at=100)
    assert [c["method"] for c in slack[0].workspace.calls] == ["chat.postMessage"]


def test_updates_keep_their_distance_but_a_change_of_state_does_not_wait(slack: World) -> None:
    memory = Memory()
    say(running(), slack, memory)
    say(running().with_(spent=Decimal(2)), slack, memory, at=3, gap_s=10)
    assert posted(slack)[0]["edited"] == 0
    say(running().with_(state=State.STOPPING), slack, memory, at=4, gap_s=10)
    assert posted(slack)[0]["edited"] == 1


def test_an_older_version_changes_nothing(slack: World) -> None:
    memory = Memory()
    say(running().with_(version=9), slack, memory)
    say(running().with_(version=8, state=State.STOPPING), slack, memory, at=60)
    assert posted(slack)[0]["edited"] == 0


def test_alerts_and_the_end_are_told_once_and_to_the_owner(slack: World) -> None:
    memory = Memory()
    alert = Alert(percent=80, at=NOW, spent=Decimal(4), budget=Decimal(5))
    job = running().with_(alerts=(alert,), state=State.STOPPED, why=Why(code="stopped_by", facts={"user": "U0LIN"}))
    for at in (0, 60, 120):
        say(job, slack, memory, at=at)
    replies = [m for m in posted(slack) if m["thread_ts"]]
    assert len(replies) == 2
    assert all(str(m["text"]).startswith("<@U0ADA>") for m in replies)
    assert all(m["broadcast"] for m in replies)
    assert "<@U0LIN>" in str(replies[1]["text"])


def test_a_crash_after_posting_does_not_post_twice(slack: World) -> None:
    """The call is repeated with the same client_msg_id, which Slack takes for the message it has."""
    memory = Memory()
    job = running().with_(alerts=(Alert(percent=50, at=NOW, spent=Decimal(3), budget=Decimal(5)),))
    say(job, slack, memory)
    tell(job, Told(), slack[1], NOW, 0, Memory().save)
    assert len(posted(slack)) == 2


def test_a_lost_card_is_posted_anew(slack: World) -> None:
    memory = Memory()
    say(running(), slack, memory)
    slack[0].workspace.messages.clear()
    say(running().with_(spent=Decimal(2)), slack, memory, at=60)
    assert len(posted(slack)) == 1
    assert memory.told.ts == posted(slack)[0]["ts"]


def test_what_never_heals_is_given_up_and_the_owner_is_told(slack: World) -> None:
    memory = Memory()
    say(running().with_(channel="C0GONE"), slack, memory)
    assert memory.told.dead == "channel_not_found"
    assert posted(slack)[0]["channel"] == "U0ADA"
    say(running().with_(channel="C0GONE", spent=Decimal(3)), slack, memory, at=60)
    assert len(posted(slack)) == 1


def test_what_may_heal_is_raised_so_that_it_comes_again(slack: World) -> None:
    memory = Memory()
    slack[0].workspace.failing = {"chat.postMessage": "internal_error"}
    with pytest.raises(SlackApiError):
        say(running(), slack, memory)
    slack[0].workspace.failing = {}
    say(running(), slack, memory)
    assert len(posted(slack)) == 1


def test_a_refused_run_has_no_card(slack: World) -> None:
    memory = Memory()
    why = Why(code="over_month", facts={"asked": "$5.00", "free": "$3.00", "cap": "$100.00"})
    job = running().with_(state=State.REFUSED, replies=(Reply(id="refused", to=ADA, channel="C0PADDOCK", why=why),))
    for at in (0, 60):
        say(job, slack, memory, at=at)
    assert len(posted(slack)) == 1
    assert posted(slack)[0]["only_for"] == "U0ADA"
    assert "`budget=$3.00` would fit" in str(posted(slack)[0]["text"])
