"""Reading the channel of a local stack as a person would."""

from __future__ import annotations

import re
from typing import Any

from local.stack import Stack
from tests.waiting import until

JOB = re.compile(r"`([a-z2-7]{8})`")


def answers(stack: Stack, user: str = "U0ADA") -> list[str]:
    """Paddock's private answers to a person, oldest first."""
    state = stack.channel()
    return [m["text"] for m in state["messages"] if m["only_for"] == user and m["user"] == state["bot"]]


def ask(stack: Stack, text: str, user: str = "U0ADA", **more: str) -> str:
    """Type a command; its private answer."""
    before = len(answers(stack, user))
    stack.type(text, user, **more)
    return until(lambda: answers(stack, user)[before:])[0]


def start(stack: Stack, text: str, user: str = "U0ADA", **more: str) -> str:
    """Type a /train command; the id of the run. Where its card goes may be told before the command is answered."""
    before = len(answers(stack, user))
    ask(stack, text, user, **more)
    said = answers(stack, user)[before:]
    accepted = [answer for answer in said if answer.startswith(("Starting", "正在启动"))]
    assert accepted, said
    found = JOB.search(accepted[0])
    assert found, accepted
    return found.group(1)


def message(stack: Stack, job: str) -> dict[str, Any] | None:
    """The card's message: the newest, while a card that comes home is still in the direct messages too."""
    found = [m for m in stack.channel()["messages"] if m["blocks"] and not m["thread_ts"] and f"`{job}`" in m["text"]]
    places = [m["channel"] for m in found]
    assert len(places) == len(set(places)), "one card per run"
    return found[-1] if found else None


def card(stack: Stack, job: str) -> str:
    """The card's text, empty before it is there."""
    found = message(stack, job)
    return found["text"] if found else ""


def card_says(stack: Stack, job: str, words: str) -> str:
    """The card once it holds `words`."""

    def says() -> str:
        text = card(stack, job)
        return text if words in text else ""

    return until(says, lambda: f"the card of {job} should say {words!r}; it says: {card(stack, job)!r}")


def state_is(stack: Stack, job: str, words: str) -> str:
    """The card once its title says the state `words`."""
    return card_says(stack, job, f"· {words} ")


def thread(stack: Stack, job: str) -> list[str]:
    """The replies below a run's card."""
    found = message(stack, job)
    assert found is not None
    return [m["text"] for m in stack.channel()["messages"] if m["thread_ts"] == found["ts"]]
