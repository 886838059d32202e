"""The rules of a job's life, one by one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from jobs.effects import Forget, Launch, Look, Quote, Renew, Terminate
from jobs.job import Job, State
from jobs.lifecycle import step
from jobs.messages import (
    AnyMessage,
    BudgetRefused,
    ExtendRequested,
    Failed,
    Finished,
    InstanceChanged,
    Launched,
    LaunchFailed,
    Progress,
    Quoted,
    Renewed,
    Started,
    StopRequested,
    Yielded,
)
from tests.samples import (
    ADA,
    ID,
    NOW,
    POOL,
    after,
    booting,
    gone,
    launching,
    must,
    queued,
    running,
    saved,
    seen,
    submit,
    tick,
)


def test_submit_queues_and_asks_for_prices() -> None:
    job, effects = step(None, submit(), NOW)
    assert must(job).state is State.QUEUED
    assert [type(e) for e in effects] == [Quote]
    assert must(job).committed == {"2026-12": Decimal(5)}


def test_a_repeated_submit_changes_nothing() -> None:
    job = running()
    assert step(job, submit(), after(200)) == (job, ())


def test_messages_for_no_job_are_dropped() -> None:
    assert step(None, tick(NOW), NOW) == (None, ())


def test_no_capacity_ends_after_the_wait() -> None:
    job, effects = step(queued(), tick(after(3599)), after(3599))
    assert must(job).state is State.QUEUED
    job, effects = step(queued(), tick(after(3600)), after(3600))
    assert must(job).state is State.NO_CAPACITY
    assert must(job).committed == {}


def test_an_unconfirmed_renewal_is_ordered_again() -> None:
    job = booting()
    _, effects = step(job, tick(after(60), seen()), after(60))
    assert any(isinstance(e, Renew) for e in effects)
    lease = job.attempts[0].lease_until
    confirmed = must(step(job, Renewed(job=ID, instance="i-1", lease_until=lease), after(1))[0])
    _, effects = step(confirmed, tick(after(60), seen()), after(60))
    assert not any(isinstance(e, Renew) for e in effects)


def test_the_lease_is_renewed_at_half_time_and_never_past_the_deadline() -> None:
    job = booting(time_s=7200)
    assert job.attempts[0].lease_until == after(1800)
    job, effects = step(job, tick(after(900), seen()), after(900))
    renewal = next(e for e in effects if isinstance(e, Renew))
    assert renewal.lease_until == after(2700)
    job = must(job).with_(attempts=tuple(a.with_(trainer_at=after(5990)) for a in must(job).attempts))
    job, effects = step(job, tick(after(6000), seen()), after(6000))
    renewal = next(e for e in effects if isinstance(e, Renew))
    assert renewal.lease_until == after(7200)


def test_a_cheap_market_lengthens_a_budget_s_lease() -> None:
    job: Job | None = running(budget="0.20", time_s=36_000)
    first = must(job).attempts[0].lease_until
    worst_s = Decimal("0.20") * 3600 / POOL.rates.worst
    assert first <= after(float(worst_s) - 90)
    job, _ = step(job, tick(after(900), seen(), price="0.10"), after(900))
    assert must(job).attempts[0].lease_until > first


def test_the_time_limit_ends_the_instance() -> None:
    job, effects = step(running(), tick(after(3600), seen()), after(3600))
    assert must(job).state is State.STOPPING
    assert Terminate(instance="i-1") in effects
    assert must(job).why.code == "out_of_time"
    job, effects = step(job, tick(after(3660), seen()), after(3660))
    assert Terminate(instance="i-1") in effects, "until EC2 says terminated"
    job, effects = step(job, gone(3670), after(3671))
    assert must(job).state is State.OUT_OF_TIME
    assert Forget(instance="i-1") in effects


def test_the_budget_ends_the_instance_before_it_is_spent() -> None:
    job: Job | None = running(budget="0.10", time_s=36_000)
    for minute in range(2, 60):
        job, effects = step(job, tick(after(60 * minute), seen(), price="0.526"), after(60 * minute))
        if must(job).state is State.STOPPING:
            break
    assert must(job).ending is State.OUT_OF_BUDGET
    assert must(job).spent < Decimal("0.10")
    assert [a.percent for a in must(job).alerts] == [50, 80, 100]
    assert Terminate(instance="i-1") in effects


def test_an_interruption_leads_to_a_new_attempt() -> None:
    notice = InstanceChanged(job=ID, instance="i-1", attempt=1, change="interruption", at=after(200))
    job, _ = step(running(), notice, after(200))
    assert must(job).why.code == "interruption_notice"
    job, effects = step(job, gone(320), after(321))
    assert must(job).state is State.INTERRUPTED
    assert any(isinstance(e, Quote) for e in effects)
    assert must(job).fruitless == 0
    job, effects = step(job, Quoted(job=ID, pools=(POOL,)), after(322))
    assert must(job).attempts[-1].number == 2
    assert must(job).deadline == running().deadline, "the time limit does not begin anew"


def test_three_attempts_without_a_checkpoint_fail() -> None:
    job: Job | None = booting()
    for number in (1, 2, 3):
        at = number * 10
        ended = InstanceChanged(job=ID, instance=f"i-{number}", attempt=number, change="terminated", at=after(at))
        job, _ = step(job, ended, after(at))
        if number < 3:
            assert must(job).state is State.INTERRUPTED
            job, _ = step(job, Quoted(job=ID, pools=(POOL,)), after(at + 1))
            job, _ = step(job, Launched(job=ID, attempt=number + 1, instance=f"i-{number + 1}", at=after(at + 1)),
                          after(at + 1))  # fmt: skip
    job, effects = step(job, Quoted(job=ID, pools=(POOL,)), after(32))
    assert must(job).state is State.FAILED
    assert must(job).why.code == "no_progress"
    assert effects == ()


def test_a_job_whose_instance_ended_looks_for_its_result_before_anything_else() -> None:
    """EC2's `terminated` may be faster than the trainer's `finished`, or `finished` be lost."""
    _, effects = step(queued(), tick(after(60)), after(60))
    assert [e.may_be_done for e in effects if isinstance(e, Quote)] == [False], "it never had an instance"
    job, effects = step(running(), gone(300), after(300))
    assert [e.may_be_done for e in effects if isinstance(e, Quote)] == [True]
    done = Finished(job=ID, attempt=1, seq=9, at=after(290), step=750, metrics={"accuracy": 0.8})
    job, effects = step(job, done, after(301))
    assert must(job).state is State.SUCCEEDED
    assert must(job).metrics == {"accuracy": 0.8}
    assert effects == ()


def test_a_finished_run_is_not_called_out_of_time_because_nobody_heard_that_it_is_finished() -> None:
    job, effects = step(running(), gone(3500), after(3500))
    assert must(job).state is State.INTERRUPTED
    assert any(isinstance(e, Quote) and e.may_be_done for e in effects)
    late, _ = step(job, Finished(job=ID, attempt=1, seq=9, at=after(3490), step=750), after(3501))
    assert must(late).state is State.SUCCEEDED
    unfinished, effects = step(job, Quoted(job=ID, pools=(POOL,)), after(3501))
    assert must(unfinished).state is State.OUT_OF_TIME
    assert effects == ()


def test_a_checkpoint_makes_an_attempt_worth_it() -> None:
    job, _ = step(running(), saved(200), after(200))
    job, _ = step(job, gone(300), after(300))
    assert must(job).fruitless == 0
    assert must(job).state is State.INTERRUPTED


def test_a_late_checkpoint_report_does_not_go_back() -> None:
    job, _ = step(running(), saved(200, step_=100), after(200))
    job, _ = step(job, saved(201, step_=50), after(201))
    assert must(must(job).checkpoint).step == 100  # type: ignore[arg-type]


def test_old_progress_is_ignored() -> None:
    def progress(seq: int, at_step: int) -> Progress:
        return Progress(job=ID, attempt=1, seq=seq, at=NOW, step=at_step, steps=750, epoch=0, epochs=3)

    job, _ = step(running(), progress(9, 90), after(101))
    job, _ = step(job, progress(8, 80), after(102))
    assert must(job).progress == progress(9, 90)


def test_finished_ends_the_instance_then_succeeds() -> None:
    done = Finished(job=ID, attempt=1, seq=9, at=after(500), step=750, metrics={"accuracy": 0.8})
    job, effects = step(running(), done, after(500))
    assert must(job).state is State.STOPPING
    assert Terminate(instance="i-1") in effects
    job, _ = step(job, gone(510), after(510))
    assert must(job).state is State.SUCCEEDED
    assert must(job).metrics["accuracy"] == 0.8


def test_finished_after_the_instance_is_gone_still_succeeds() -> None:
    job, _ = step(running(), gone(500), after(500))
    done = Finished(job=ID, attempt=1, seq=9, at=after(499), step=750)
    job, _ = step(job, done, after(501))
    assert must(job).state is State.SUCCEEDED


@pytest.mark.parametrize(("final", "state"), [(True, State.STOPPING), (False, State.INTERRUPTED)])
def test_a_trainer_s_failure(final: bool, state: State) -> None:
    failed = Failed(job=ID, attempt=1, seq=4, at=after(150), reason="ValueError", detail="bad", final=final)
    job, effects = step(running(), failed, after(150))
    assert must(job).state is state
    assert Terminate(instance="i-1") in effects


def test_a_silent_trainer_is_replaced() -> None:
    job, effects = step(running(), tick(after(100 + 899), seen()), after(100 + 899))
    assert must(job).state is State.RUNNING
    job, effects = step(running(), tick(after(100 + 900), seen()), after(100 + 900))
    assert must(job).state is State.INTERRUPTED
    assert Terminate(instance="i-1") in effects


def test_a_slow_boot_is_not_given_up_too_early() -> None:
    job, _ = step(booting(), tick(after(1199), seen()), after(1199))
    assert must(job).state is State.LAUNCHING
    job, _ = step(booting(), tick(after(1200), seen()), after(1200))
    assert must(job).state is State.INTERRUPTED


def test_stop() -> None:
    stop = StopRequested(job=ID, by=ADA)
    job, effects = step(running(), stop, after(200))
    assert must(job).state is State.STOPPING
    assert Terminate(instance="i-1") in effects
    assert step(job, stop, after(200))[0] == must(job)
    job, _ = step(job, gone(205), after(205))
    assert must(job).state is State.STOPPED


def test_stop_while_a_launch_is_uncertain_waits_until_ec2_is_sure() -> None:
    job, effects = step(launching(), StopRequested(job=ID, by=ADA), after(5))
    assert must(job).state is State.STOPPING
    job, effects = step(job, tick(after(299)), after(299))
    assert must(job).state is State.STOPPING
    late, effects = step(job, tick(after(200), seen()), after(200))
    assert Terminate(instance="i-1") in effects
    job, effects = step(job, tick(after(300)), after(300))
    assert must(job).state is State.STOPPED
    assert must(job).spent == 0


def test_yielding_without_a_limit_goes_on_elsewhere() -> None:
    job, _ = step(running(), Yielded(job=ID, attempt=1, seq=7, at=after(300), step=120), after(300))
    job, _ = step(job, gone(310), after(310))
    assert must(job).state is State.INTERRUPTED
    assert must(job).fruitless == 0


def test_the_guard_s_early_end_by_the_time_limit_is_out_of_time() -> None:
    job, _ = step(running(time_s=3600), saved(3490), after(3490))
    job, _ = step(job, gone(3500), after(3501))
    job, _ = step(job, Quoted(job=ID, pools=(POOL,)), after(3502))
    assert must(job).state is State.OUT_OF_TIME


def test_extend_raises_limits_once() -> None:
    extend = ExtendRequested(job=ID, request="r1", by=ADA, budget=Decimal(2), time_s=3600)
    job, effects = step(running(), extend, after(200))
    assert must(job).spec.limits.budget == Decimal(7)
    assert must(job).deadline == after(7200)
    assert any(isinstance(e, Look) for e in effects)
    assert must(job).committed == {"2026-12": Decimal(7)}
    assert step(job, extend, after(200))[0] == must(job)


def test_a_refused_extension_tells_only_the_one_who_asked() -> None:
    extend = ExtendRequested(job=ID, request="r1", by=ADA, budget=Decimal(200))
    refused = BudgetRefused(job=ID, cause=extend, month="2026-12", free=Decimal(3), cap=Decimal(100))
    job, effects = step(running(), refused, after(200))
    assert must(job).spec.limits.budget == Decimal(5)
    assert must(job).replies[0].why.code == "extend_over_month"


def test_a_refused_run_holds_nothing() -> None:
    refused = BudgetRefused(job=ID, cause=submit(), month="2026-12", free=Decimal(3), cap=Decimal(100))
    job, effects = step(None, refused, NOW)
    assert must(job).state is State.REFUSED
    assert must(job).settled
    assert must(job).committed == {}
    assert effects == ()


REPEATABLE: list[AnyMessage] = [
    Started(job=ID, attempt=1, seq=1, at=after(100), steps=750),
    Launched(job=ID, attempt=1, instance="i-1", at=NOW),
    Quoted(job=ID, pools=(POOL,)),
    saved(200),
    LaunchFailed(job=ID, attempt=1, reason="capacity"),
    gone(300),
]


@pytest.mark.parametrize("message", REPEATABLE, ids=lambda m: type(m).__name__)
def test_a_doubled_message_changes_nothing_more(message: AnyMessage) -> None:
    once, _ = step(running(), message, after(400))
    twice, effects = step(once, message, after(400))
    assert twice == must(once)
    assert not any(isinstance(e, Launch) for e in effects)


@pytest.mark.parametrize("state", list(State))
def test_an_end_stays_an_end(state: State) -> None:
    if not state.is_end:
        return
    job = running().with_(state=state, attempts=(), ended_at=after(1))
    for message in [*REPEATABLE, StopRequested(job=ID, by=ADA), tick(after(500))]:
        job, effects = step(job, message, after(500))
        assert must(job).state is state
        assert not any(isinstance(e, Launch | Quote) for e in effects)
