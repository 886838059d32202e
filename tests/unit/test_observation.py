"""What EC2 shows, late, once or never, and what it means for a job."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from jobs.effects import Look, Renew, Terminate
from jobs.job import State
from jobs.lifecycle import step
from jobs.messages import StopRequested
from tests.samples import ADA, ID, NOW, POOL, after, gone, launching, must, running, seen, tick


def test_an_instance_is_adopted_from_a_tick() -> None:
    job, effects = step(launching(), tick(after(30), seen()), after(30))
    assert must(job).attempts[0].instance == "i-1"
    assert any(isinstance(e, Renew) for e in effects)


def test_a_second_instance_of_an_attempt_is_ended_and_paid_for() -> None:
    job, effects = step(running(), tick(after(120), seen(), seen(id="i-2")), after(120))
    assert Terminate(instance="i-2") in effects
    assert Terminate(instance="i-1") not in effects
    assert must(job).spent > must(step(running(), tick(after(120), seen()), after(120))[0]).spent


def test_an_instance_that_shows_up_after_the_end_is_ended_and_paid_for() -> None:
    job, _ = step(launching(), StopRequested(job=ID, by=ADA), after(5))
    job, _ = step(job, tick(after(300)), after(300))
    job, effects = step(job, tick(after(320), seen()), after(320))
    assert must(job).state is State.STOPPED
    assert Terminate(instance="i-1") in effects
    assert must(job).spent > 0
    assert not must(job).settled


def test_an_incomplete_walk_proves_no_absence() -> None:
    job, _ = step(running(), tick(after(1000), complete=False), after(900))
    assert must(job).open_attempts


def test_an_instance_that_ec2_forgot_counts_up_to_its_lease() -> None:
    job, _ = step(running(time_s=36_000), tick(after(9000)), after(9000))
    assert must(job).open_attempts, "one listing may leave it out"
    job, _ = step(job, tick(after(9300)), after(9300))
    attempt = must(job).attempts[0]
    assert attempt.closed
    assert attempt.ended_at == after(1800) + timedelta(seconds=60)


def test_one_listing_without_the_instance_proves_nothing() -> None:
    job, _ = step(running(), tick(after(600)), after(600))
    job, effects = step(job, tick(after(660), seen()), after(660))
    job, _ = step(job, tick(after(950)), after(950))
    assert must(job).current == must(job).open_attempts[0]


def test_an_instance_that_was_presumed_gone_but_lives_is_ended_and_paid_for() -> None:
    job, _ = step(running(time_s=36_000), tick(after(9000)), after(9000))
    job, _ = step(job, tick(after(9300)), after(9300))
    job, effects = step(job, tick(after(9360), seen()), after(9360))
    assert Terminate(instance="i-1") in effects
    assert must(job).spent == must(job).attempts[0].usd(after(9360)).quantize(Decimal("0.0001"), rounding="ROUND_UP")
    job, _ = step(job, tick(after(9420), seen("terminated", ended=after(9370))), after(9420))
    assert must(job).attempts[0].ended_at == after(9370)


def test_an_old_listing_does_not_bring_an_ended_instance_back() -> None:
    job, _ = step(running(), gone(600), after(601))
    job, effects = step(job, tick(after(602), seen()), after(602))
    assert Terminate(instance="i-1") not in effects
    assert must(job).attempts[0].ended_at == after(600)


def test_an_instance_first_heard_of_by_its_end_is_paid_for_from_its_launch() -> None:
    """Found by the simulation: the answer of RunInstances was lost and the control plane was down until the end."""
    job, _ = step(launching(), gone(1700), after(2600))
    attempt = must(job).attempts[0]
    assert (attempt.started_at, attempt.ended_at) == (NOW, after(1700))
    late = seen("terminated", ended=after(1690)).with_(started_at=after(4))
    job, _ = step(job, tick(after(2610), late), after(2610))
    attempt = must(job).attempts[0]
    assert (attempt.started_at, attempt.ended_at) == (after(4), after(1690))


def test_spend_settles_once_the_prices_are_known() -> None:
    job, effects = step(running(), gone(600), after(601))
    assert any(isinstance(e, Look) for e in effects)
    on_demand = must(job).spent
    job, _ = step(job, StopRequested(job=ID, by=ADA), after(602))
    job, _ = step(job, tick(after(660), seen("terminated", ended=after(600))), after(660))
    assert must(job).settled
    assert must(job).spent < on_demand
    exact = (Decimal("0.16") + POOL.rates.fixed) * 600 / 3600
    assert exact <= must(job).spent < exact + Decimal("0.0001")
