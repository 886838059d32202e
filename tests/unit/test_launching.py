"""From wanting an instance to having one: pools, refusals, unknown outcomes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from jobs.effects import Launch, Quote
from jobs.job import State
from jobs.lifecycle import step
from jobs.messages import (
    LaunchFailed,
    Quoted,
)
from tests.samples import (
    ID,
    NOW,
    POOL,
    after,
    launching,
    must,
    queued,
    tick,
)


def test_the_cheapest_pool_that_is_not_full_is_taken() -> None:
    dear = POOL.with_(zone="us-east-1b", spot=Decimal("0.30"))
    job, effects = step(queued(), Quoted(job=ID, pools=(dear, POOL)), NOW)
    assert must(job).state is State.LAUNCHING
    assert isinstance(effects[0], Launch)
    assert effects[0].attempt.pool == POOL
    failed = LaunchFailed(job=ID, attempt=1, reason="capacity", detail="none")
    job, effects = step(job, failed, after(1))
    assert must(job).state is State.QUEUED
    assert [type(e) for e in effects] == [Quote]
    job, effects = step(job, Quoted(job=ID, pools=(dear, POOL)), after(2))
    assert isinstance(effects[0], Launch)
    assert effects[0].attempt.pool == dear
    assert effects[0].attempt.number == 2, "a launch's token is never used for another launch"


def test_a_lost_answer_is_asked_for_again_with_the_same_launch() -> None:
    job = launching()
    first = step(queued(), Quoted(job=ID, pools=(POOL,)), NOW)[1][0]
    job2, effects = step(job, tick(after(60)), after(60))
    assert isinstance(first, Launch)
    assert isinstance(effects[0], Launch)
    assert effects[0].attempt.number == first.attempt.number
    assert effects[0].attempt.lease_until == first.attempt.lease_until
    assert effects[0].deadline == first.deadline


def test_a_budget_that_pays_no_launch_says_how_much_would() -> None:
    job, effects = step(queued(budget="0.02"), Quoted(job=ID, pools=(POOL,)), NOW)
    assert must(job).state is State.OUT_OF_BUDGET
    assert must(job).why.code == "budget_too_small"
    assert effects == ()
    needed = Decimal(must(job).why.facts["needed"].removeprefix("$"))
    job, _ = step(queued(budget=str(needed)), Quoted(job=ID, pools=(POOL,)), NOW)
    assert must(job).state is State.LAUNCHING


@pytest.mark.parametrize("reason", ["invalid", "busy", "capacity", "quota"])
def test_a_launch_refused_for_certain_has_cost_nothing(reason: Any) -> None:
    job = must(step(launching(), LaunchFailed(job=ID, attempt=1, reason=reason, detail="21223 bytes"), after(60))[0])
    assert job.spent == 0
    assert job.usd(after(3600)) == 0
    assert job.open_attempts == ()
    if reason == "invalid":
        assert (job.state, job.why.code, job.committed) == (State.FAILED, "launch_invalid", {})
        assert "21223" in job.why.facts["detail"]
    else:
        assert job.state is State.QUEUED
        assert job.first_launch_at is None, "its time has not begun"


def test_a_busy_ec2_is_asked_again_by_the_next_tick_not_at_once() -> None:
    job, effects = step(launching(), LaunchFailed(job=ID, attempt=1, reason="busy"), after(1))
    assert effects == ()
    job, effects = step(job, tick(after(60)), after(60))
    assert [type(e) for e in effects] == [Quote]


def test_a_busy_answer_after_an_unknown_one_proves_nothing() -> None:
    """The first try may have started an instance."""
    job, _ = step(launching(), tick(after(61)), after(61))
    job = must(step(job, LaunchFailed(job=ID, attempt=1, reason="busy"), after(62))[0])
    assert len(job.open_attempts) == 1
    assert job.usd(after(120)) > 0


def test_prices_in_another_currency_launch_nothing() -> None:
    yuan = POOL.with_(rates=POOL.rates.with_(currency="CNY"))
    job, effects = step(queued(), Quoted(job=ID, pools=(yuan,)), NOW)
    assert must(job).state is State.FAILED
    assert must(job).why.code == "two_currencies"
    assert effects == ()
