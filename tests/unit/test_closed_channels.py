"""A channel that does not take a card: what people see, for each of Slack's reasons (docs/slack.md has the table)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from slack_sdk import WebClient

from bot.posting import tell
from bot.slack_errors import Later
from bot.told import Told
from jobs.job import Alert, Job, State
from local.slack import Slack
from tests.samples import NOW, after, running

World = tuple[Slack, WebClient]
REASONS = {
    "C0LOUNGE": ("not_in_channel", "Type `/invite @paddock` in <#C0LOUNGE>"),
    "D0SECRET": ("channel_not_found", "cannot see the conversation"),
    "C0OLD": ("is_archived", "<#C0OLD> is archived"),
}


class Memory:
    """What functions/notify.py keeps in the table."""

    def __init__(self) -> None:
        self.told = Told()

    def save(self, told: Told) -> None:
        self.told = told


def say(job: Job, world: World, memory: Memory, at: float = 0) -> None:
    tell(job, memory.told, world[1], after(at), 0, memory.save)


def seen_in(world: World, channel: str) -> list[str]:
    return [str(m["text"]) for m in world[0].workspace.state()["messages"] if m["channel"] == channel]


def job_in(channel: str, world: World, **changes: object) -> Job:
    url = f"{world[1].base_url.removesuffix('api/')}respond/{channel}/U0ADA"
    changed: Job = running().with_(channel=channel, response_url=url, created_at=NOW, **changes)
    return changed


@pytest.mark.parametrize("channel", REASONS)
def test_the_typist_is_told_where_they_typed_and_the_card_is_in_their_direct_messages(
    slack: World, channel: str
) -> None:
    code, words = REASONS[channel]
    memory = Memory()
    say(job_in(channel, slack), slack, memory)
    assert memory.told.away is not None
    assert memory.told.away.code == code
    for place in (channel, "D0ADA"):
        (text,) = seen_in(slack, place)
        assert words in text
        assert "The run goes on" in text
    assert "by <@U0ADA>" in seen_in(slack, "D0ADA")[0], "the card itself"
    private = [m["only_for"] for m in slack[0].workspace.state()["messages"]]
    assert private == [None, "U0ADA"]


@pytest.mark.parametrize("code", ["restricted_action", "restricted_action_read_only_channel"])
def test_a_channel_where_apps_may_not_post(slack: World, code: str) -> None:
    memory = Memory()
    real = slack[0].workspace._open_channel
    from local.slack_refused import Refused

    def refuse(id: str) -> str:
        if id == "C0PADDOCK":
            raise Refused(code)
        return real(id)

    slack[0].workspace._open_channel = refuse  # type: ignore[method-assign]
    say(job_in("C0PADDOCK", slack), slack, memory)
    assert "Apps may not post in <#C0PADDOCK>" in seen_in(slack, "D0ADA")[0]


def test_the_card_lives_on_in_the_direct_message_with_its_alerts_and_its_end(slack: World) -> None:
    memory = Memory()
    say(job_in("C0LOUNGE", slack), slack, memory)
    alert = Alert(percent=80, at=NOW, spent=Decimal(4), budget=Decimal(5))
    for version, spent in enumerate((1, 2, 3), start=50):
        say(job_in("C0LOUNGE", slack, version=version, spent=Decimal(spent)), slack, memory, at=version)
    say(job_in("C0LOUNGE", slack, version=60, alerts=(alert,), state=State.STOPPED), slack, memory, at=100)
    card, *replies = seen_in(slack, "D0ADA")
    assert "stopped" in card
    assert len(replies) == 2
    assert len(seen_in(slack, "C0LOUNGE")) == 1, "told once where it was typed"


@pytest.mark.parametrize("wait_s", [30, 700])
def test_an_invitation_brings_it_home_at_the_next_try(slack: World, wait_s: float) -> None:
    """At a change of state, or after ten minutes; functions/telling.py makes it at once when Slack tells of it."""
    memory = Memory()
    say(job_in("C0LOUNGE", slack), slack, memory)
    slack[0].workspace.invite("C0LOUNGE")
    state = State.STOPPING if wait_s < 600 else State.RUNNING
    say(job_in("C0LOUNGE", slack, version=50, state=state, spent=Decimal(1)), slack, memory, at=wait_s)
    assert memory.told.away is None
    assert memory.told.ts
    assert "by <@U0ADA>" in seen_in(slack, "C0LOUNGE")[-1]
    assert seen_in(slack, "D0ADA") == ["The card of `abcdefgh` is in <#C0LOUNGE> now."]
    say(job_in("C0LOUNGE", slack, version=51, state=state, spent=Decimal(2)), slack, memory, at=wait_s + 60)
    assert len(seen_in(slack, "C0LOUNGE")) == 2


def test_a_closed_channel_is_not_tried_with_every_update(slack: World) -> None:
    memory = Memory()
    say(job_in("C0LOUNGE", slack), slack, memory)
    for second in range(40):
        say(job_in("C0LOUNGE", slack, version=50 + second, spent=Decimal(second)), slack, memory, at=second * 5)
    tried = [call for call in slack[0].workspace.calls if call["channel"] == "C0LOUNGE"]
    assert len(tried) == 1


def test_a_bot_that_is_removed_takes_the_card_along_and_finds_it_again(slack: World) -> None:
    memory = Memory()
    say(job_in("C0PADDOCK", slack), slack, memory)
    slack[0].workspace.members.clear()
    say(job_in("C0PADDOCK", slack, version=50, spent=Decimal(1)), slack, memory, at=60)
    assert "by <@U0ADA>" in seen_in(slack, "D0ADA")[0]
    slack[0].workspace.invite("C0PADDOCK")
    say(job_in("C0PADDOCK", slack, version=51, state=State.STOPPED), slack, memory, at=120)
    cards = [text for text in seen_in(slack, "C0PADDOCK") if "by <@U0ADA>" in text]
    assert len(cards) == 1, "the old card is the card again"
    assert "stopped" in cards[0]


def test_without_direct_messages_the_typist_still_hears_of_it(slack: World) -> None:
    slack[0].workspace.closed_directs.add("U0ADA")
    memory = Memory()
    say(job_in("C0LOUNGE", slack), slack, memory)
    assert "`/invite @paddock`" in seen_in(slack, "C0LOUNGE")[0]
    assert memory.told.failed["card-1"] == "messages_tab_disabled"
    for second in range(20):
        say(job_in("C0LOUNGE", slack, version=50 + second, spent=Decimal(second)), slack, memory, at=second * 5)
    assert len(slack[0].workspace.calls) == 2
    slack[0].workspace.invite("C0LOUNGE")
    say(job_in("C0LOUNGE", slack, version=90, state=State.STOPPED), slack, memory, at=200)
    assert "stopped" in seen_in(slack, "C0LOUNGE")[1]


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "invalid_auth"])
def test_a_dead_token_is_told_where_the_command_was_typed(slack: World, code: str) -> None:
    """The command's response_url works without the token."""
    memory = Memory()
    slack[0].workspace.failing = {"chat.postMessage": code}
    for at in (0, 60):
        with pytest.raises(Later):
            say(job_in("C0PADDOCK", slack), slack, memory, at=at)
    (text,) = seen_in(slack, "C0PADDOCK")
    assert f"its access to this workspace ended ({code})" in text
    assert "The run goes on, `/jobs` shows it" in text
    slack[0].workspace.failing = {}
    say(job_in("C0PADDOCK", slack), slack, memory, at=120)
    assert "by <@U0ADA>" in seen_in(slack, "C0PADDOCK")[1]


def test_an_old_response_url_is_not_used(slack: World) -> None:
    memory = Memory()
    say(job_in("C0LOUNGE", slack), slack, memory, at=1800)
    assert seen_in(slack, "C0LOUNGE") == []
    assert "`/invite @paddock`" in seen_in(slack, "D0ADA")[0]
