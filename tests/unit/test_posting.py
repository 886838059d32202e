"""Bringing Slack in line, over HTTP with the stand-in that knows Slack's errors."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk import WebClient

from bot.card_posting import closed_text
from bot.cards import card, with_note
from bot.posting import tell
from bot.slack_errors import Later
from bot.told import Told
from jobs.job import Alert, CheckpointRef, Job, Reply, State, Why
from local.slack import Slack
from local.workspace import Workspace
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


PERMANENT = ("user_not_in_channel", "invalid_blocks", "msg_too_long", "missing_scope", "as_user_not_supported", "new")
TRANSIENT = (
    "ratelimited",
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
)


def failing(world: World, error: str, *methods: str) -> None:
    world[0].workspace.failing = dict.fromkeys(methods, error)


def calls(world: World) -> list[str]:
    return [call["method"] for call in world[0].workspace.calls]


@pytest.mark.parametrize("error", ["message_not_found", "cant_update_message", "edit_window_closed", "msg_too_long"])
def test_a_lost_card_is_replaced_at_a_change_of_state_or_after_ten_minutes(slack: World, error: str) -> None:
    memory = Memory()
    say(running(), slack, memory)
    failing(slack, error, "chat.update")
    for second in range(1, 30):
        say(running().with_(version=50 + second, spent=Decimal(second)), slack, memory, at=second * 5)
    assert calls(slack) == ["chat.postMessage", "chat.update"], "no new card, and no call, for the same state"
    say(running().with_(version=90, state=State.INTERRUPTED), slack, memory, at=200)
    assert memory.told.ts == posted(slack)[-1]["ts"]
    for second in range(1, 30):
        say(running().with_(version=100 + second, state=State.INTERRUPTED, spent=Decimal(second)), slack, memory,
            at=200 + second * 25)  # fmt: skip
    assert len(posted(slack)) == 3, "one for the change of state, one after ten minutes"


@pytest.mark.parametrize("error", PERMANENT)
def test_a_message_that_slack_never_takes_does_not_keep_the_others(slack: World, error: str) -> None:
    """Whatever word Slack has for it."""
    memory = Memory()
    reply = Reply(id="r1", to=ADA, channel="C0PADDOCK", why=Why(code="extend_too_late", facts={"job": "abcdefgh"}))
    job = running().with_(replies=(reply,))
    failing(slack, error, "chat.postMessage")
    say(job, slack, memory)
    assert memory.told.failed == {"card-1": error}
    assert [m["only_for"] for m in posted(slack)] == ["U0ADA"], "the private answer went out all the same"
    say(job, slack, memory, at=30)
    assert len(calls(slack)) == 2
    failing(slack, error)
    say(job.with_(state=State.STOPPING), slack, memory, at=60)
    assert len([m for m in posted(slack) if not m["only_for"]]) == 1


def test_a_private_answer_that_the_channel_does_not_take_is_a_direct_message(slack: World) -> None:
    memory = Memory()
    failing(slack, "user_not_in_channel", "chat.postEphemeral")
    reply = Reply(id="r1", to=ADA, channel="C0PADDOCK", why=Why(code="extend_too_late", facts={"job": "abcdefgh"}))
    say(running().with_(replies=(reply,)), slack, memory)
    assert [m["channel"] for m in posted(slack)] == ["C0PADDOCK", "D0ADA"]
    assert "reply-r1" in memory.told.said


def test_an_alert_whose_thread_is_gone_is_told_all_the_same(slack: World) -> None:
    memory = Memory()
    say(running(), slack, memory)
    slack[0].workspace.messages.clear()
    alert = Alert(percent=80, at=NOW, spent=Decimal(4), budget=Decimal(5))
    say(running().with_(alerts=(alert,)), slack, memory, at=1, gap_s=60)
    assert ["80 %" in str(m["text"]) for m in posted(slack)] == [True]


@pytest.mark.parametrize("error", TRANSIENT)
def test_what_may_heal_is_for_later(slack: World, error: str) -> None:
    memory = Memory()
    failing(slack, error, "chat.postMessage")
    with pytest.raises(Later) as later:
        say(running(), slack, memory)
    assert (later.value.code, later.value.everywhere) == (error, error != "ratelimited")
    failing(slack, error)
    say(running(), slack, memory)
    assert len(posted(slack)) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_an_answer_that_is_no_json_is_for_later(slack: World, status: int) -> None:
    slack[0].workspace.http_status = status
    with pytest.raises(Later):
        say(running(), slack, Memory())


def test_a_server_that_does_not_answer_is_for_later() -> None:
    client = WebClient(token="x", base_url="http://127.0.0.1:9/api/")
    client.retry_handlers = []
    with pytest.raises(Later) as later:
        tell(running(), Told(), client, NOW, 0, Memory().save)
    assert later.value.code == "unreachable"


def test_retry_after_is_heard(slack: World) -> None:
    memory = Memory()

    def updates() -> None:
        for version in range(100):
            say(running().with_(version=version, spent=Decimal(version)), slack, memory, at=version * 10)

    with pytest.raises(Later) as later:
        updates()
    assert later.value.code == "ratelimited"
    assert later.value.after_s is not None
    assert later.value.after_s >= 1


@given(st.text(max_size=9000), st.text(max_size=3000))
def test_whatever_is_typed_or_fails_the_card_fits(command: str, detail: str) -> None:
    """Shortened by rule before it is sent; the stand-in knows Slack's sizes."""
    why = Why(code="trainer_failed", facts={"reason": "ValueError", "detail": detail})
    job = running().with_(command=f"/train {command}", why=why)
    checkpointed = job.with_(state=State.FAILED, checkpoint=CheckpointRef(step=9, epoch=1, key="k", sha256="0", at=NOW))
    for one in (job, checkpointed):
        shape = card(one)
        for noted in (shape, with_note(shape, closed_text(one, "not_in_channel"))):
            Workspace().post({"channel": "C0PADDOCK", "text": noted.text, "blocks": noted.blocks})
            assert len(noted.text) <= 4000
            assert sum(len(str(block)) for block in noted.blocks) < 13_200


def test_a_refused_run_has_no_card(slack: World) -> None:
    memory = Memory()
    why = Why(code="over_month", facts={"asked": "$5.00", "free": "$3.00", "cap": "$100.00"})
    job = running().with_(state=State.REFUSED, replies=(Reply(id="refused", to=ADA, channel="C0PADDOCK", why=why),))
    for at in (0, 60):
        say(job, slack, memory, at=at)
    assert len(posted(slack)) == 1
    assert posted(slack)[0]["only_for"] == "U0ADA"
    assert "`budget=$3.00` would fit" in str(posted(slack)[0]["text"])
