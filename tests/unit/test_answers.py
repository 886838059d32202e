"""What is answered without anything being sent: examples must work where they are shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.answers import Request, answer
from bot.desk import House
from bot.grammar import Train, parse_train
from jobs.job import CheckpointRef, Job, State
from jobs.messages import Person, Submit, Terms
from jobs.money import Currency
from jobs.spec import Limits
from tests.samples import ADA, NOW, running


class Counter:
    """A desk with these runs. What is sent is kept."""

    def __init__(self, currency: Currency, *jobs: Job) -> None:
        limits = Limits(budget=Decimal(5), time_s=3600, currency=currency)
        self.house = House(defaults=limits, terms=Terms(), admins=(), language="en")
        self.jobs = jobs
        self.closed = ""
        self.sent: list[Any] = []

    def recent(self, count: int) -> list[Job]:
        return list(self.jobs)

    def job(self, id: str) -> Job | None:
        return next((job for job in self.jobs if job.id == id), None)

    def obstacle(self, channel: str) -> str:
        return self.closed

    def send(self, message: Any) -> None:
        self.sent.append(message)


def ask(desk: Counter, command: str, text: str) -> str:
    request = Request(command=command, text=text, person=ADA, channel="C", request="r")
    return answer(request, desk)  # type: ignore[arg-type]


def say(command: str, text: str, currency: Currency = "USD") -> str:
    desk = Counter(currency)
    said = ask(desk, command, text)
    assert desk.sent == []
    return said


def trained(epochs: int = 2, done: int = 2, state: State = State.SUCCEEDED, **params: Any) -> Job:
    """A run that is over, `done` of its `epochs` trained."""
    job = running()
    ref = CheckpointRef(step=250 * done, epoch=done, key="k", sha256="0", at=NOW)
    spec = job.spec.with_(params=job.spec.params | {"epochs": epochs, **params})
    changed: Job = job.with_(spec=spec, checkpoint=ref, state=state, ended_at=NOW)
    return changed


@pytest.mark.parametrize("currency", ["USD", "CNY"])
@pytest.mark.parametrize(
    ("command", "text"),
    [("/train", "erny-cls"), ("/train", "help"), ("/jobs", ""), ("/train", "ernie-cls resume=zzzzzzzz")],
)
def test_an_example_works_in_the_deployment_s_currency(command: str, text: str, currency: Currency) -> None:
    shown = say(command, text, currency)
    example = next(part for part in shown.split("`") if part.startswith("/train ernie-cls"))
    limits = Limits(budget=Decimal(1), time_s=3600, currency=currency)
    parsed = parse_train(example.removeprefix("/train "), limits)
    assert isinstance(parsed, Train), parsed
    assert parsed.spec.limits.budget == Decimal(5)


@pytest.mark.parametrize(("command", "text"), [("/jobs", "extend abcdefgh"), ("/budget", "sot"), ("/jobs", "help")])
def test_no_dollars_are_suggested_in_china(command: str, text: str) -> None:
    assert "$" not in say(command, text, "CNY")
    assert "$" in say(command, text, "USD")


def test_what_was_typed_is_shown_as_typed() -> None:
    assert "`budget=$30`: budgets are in CNY here" in say("/train", "ernie-cls budget=$30", "CNY")


def test_each_command_s_mistakes_begin_with_what_did_not_happen() -> None:
    assert say("/train", "ernie-cls epochs=0").startswith("That was not started")
    for command, text, first in (
        ("/jobs", "stop nope!", "Nothing was done."),
        ("/jobs", "frobnicate", "Nothing was done."),
        ("/budget", "set lots", "The budget is as it was."),
        ("/budget", "设置 很多", "预算没有变化。"),
    ):
        assert say(command, text).startswith(first)


def test_a_list_of_hundreds_of_problems_is_cut_with_a_count() -> None:
    said = say("/train", "ernie-cls " + " ".join(f"x{n}=1" for n in range(300)))
    assert said.count("\n• ") == 9
    assert "• … and 292 more." in said
    assert "This works:" in said


def test_a_word_of_thousands_of_characters_is_quoted_in_part() -> None:
    assert len(say("/train", "ernie-cls model=" + "型" * 3300)) < 500
    assert len(say("/train", "ernie-cls epochs=" + "9" * 3300)) < 600


def test_an_unknown_recipe_gets_the_list_and_a_guess_only_if_it_is_near() -> None:
    assert "Did you mean" not in say("/train", "llama epochs=3")
    assert "Recipes: ernie-cls, detect, image-cls, ocr-rec, script." in say("/train", "llama epochs=3")
    assert "Did you mean `ernie-cls`?" in say("/train", "ernie epochs=3")


@pytest.mark.parametrize("text", ["stop", "stop last", "extend", "extend last budget=+$1"])
def test_a_run_that_is_not_named_is_chosen_from_the_typist_s_live_ones(text: str) -> None:
    mine, over = running(), trained().with_(id="overover")
    other = running().with_(id="otherone", owner=Person(id="U0LIN"))
    desk = Counter("USD", mine, other, over)
    said = ask(desk, "/jobs", text)
    assert f"`/jobs {text.split(maxsplit=1)[0]} {mine.id}" in said
    assert "otherone" not in said
    assert "overover" not in said
    assert desk.sent == []
    assert "no live run" in ask(Counter("USD", other), "/jobs", text)


def resumed(earlier: Job, text: str) -> Submit | str:
    desk = Counter("USD", earlier)
    said = ask(desk, "/train", f"ernie-cls {text} resume={earlier.id}".replace("  ", " "))
    if desk.sent:
        (submit,) = desk.sent
        assert isinstance(submit, Submit)
        return submit
    return said


def test_a_resumed_run_is_what_was_typed_and_else_what_it_was() -> None:
    earlier = trained(epochs=2, lr=2e-3, batch=16, samples=640)
    submit = resumed(earlier, "epochs=4 lr=1e-5")
    assert isinstance(submit, Submit)
    assert submit.spec.params == earlier.spec.params | {"epochs": 4, "lr": 1e-5}
    stopped = trained(epochs=5, done=2, state=State.STOPPED, lr=1e-3)
    submit = resumed(stopped, "")
    assert isinstance(submit, Submit)
    assert submit.spec.params == stopped.spec.params
    same = resumed(trained(epochs=2, batch=16), "epochs=4 batch=16")
    assert isinstance(same, Submit)


def test_what_a_resumed_run_cannot_honour_is_refused_with_the_reason() -> None:
    said = resumed(trained(batch=32, seed=1), "epochs=4 lr=1e-5 batch=8 seed=7")
    assert isinstance(said, str)
    assert "`batch=8`: `abcdefgh` was trained with `batch=32`" in said
    assert "`seed=7`" in said
    assert "`lr" not in said.replace("`lr` ", "")


@pytest.mark.parametrize("text", ["epochs=2", "epochs=1", ""])
def test_a_resumed_run_with_nothing_left_is_refused_and_told_what_would_go_on(text: str) -> None:
    said = resumed(trained(epochs=2, done=2), text)
    assert isinstance(said, str)
    assert "has already trained 2 epochs (step 500)" in said
    example = next(part for part in said.split("`") if part.startswith("/train"))
    submit = resumed(
        trained(epochs=2, done=2), example.removeprefix("/train ernie-cls ").replace("resume=abcdefgh", "")
    )
    assert isinstance(submit, Submit)
    assert submit.spec.params["epochs"] == 3


def test_a_live_run_is_not_resumed_twice() -> None:
    said = resumed(trained(epochs=9, done=2, state=State.RUNNING), "")
    assert isinstance(said, str)
    assert "still runs" in said


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "its card appears in this channel"),
        ("not_in_channel", "Type `/invite @paddock`"),
        ("is_archived", "is archived"),
        ("restricted_action_read_only_channel", "Apps may not post"),
        ("token_revoked", "must install the app again"),
        ("internal_error", "its card follows"),
    ],
)
def test_what_is_known_of_the_channel_is_in_the_answer_itself(code: str, words: str) -> None:
    desk = Counter("USD")
    desk.closed = code
    said = ask(desk, "/train", "ernie-cls epochs=2")
    assert words in said
    assert ("appears in this channel" in said) == (code == "")
    assert len(desk.sent) == 1
