"""What is answered without anything being sent: examples must work where they are shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.answers import Request, answer
from bot.desk import House
from bot.grammar import Train, parse_train
from jobs.messages import Terms
from jobs.money import Currency
from jobs.spec import Limits
from tests.samples import ADA


class Counter:
    """A desk with no runs yet. Whatever is sent is an error here."""

    def __init__(self, currency: Currency) -> None:
        limits = Limits(budget=Decimal(5), time_s=3600, currency=currency)
        self.house = House(defaults=limits, terms=Terms(), admins=(), language="en")

    def recent(self, count: int) -> list[Any]:
        return []

    def job(self, id: str) -> None:
        return None


def say(command: str, text: str, currency: Currency) -> str:
    request = Request(command=command, text=text, person=ADA, channel="C", request="r")
    return answer(request, Counter(currency))  # type: ignore[arg-type]


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
