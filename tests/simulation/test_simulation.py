"""No sequence of faults may make a run cost more than its budget, a team more than its month, or leave an instance."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulation.chance import Chance, Likelihoods, Switches
from tests.simulation.story import tell
from tests.simulation.verdict import Outcome, judge
from tests.simulation.world import World

ENDERS = ("guard", "schedule", "step_terminates", "sweep")


def play(seeds: range, switches: Switches, likelihoods: Likelihoods | None = None) -> tuple[Outcome, int]:
    """Many worlds; the sum of their outcomes, and how many second instances of an attempt there were."""
    total, strays = Outcome(), 0
    for seed in seeds:
        world = World(seed, 20, switches=switches, likelihoods=likelihoods or Likelihoods())
        world.run()
        total.add(judge(world))
        strays += sum(a.stray for job in world.table.jobs.values() for a in job.attempts)
    return total, strays


def test_a_world_without_faults_trains() -> None:
    world = World(1, 20, quiet=True)
    world.run()
    outcome = judge(world)
    assert outcome.faults() == {}
    assert outcome.faults_injected == 0
    assert outcome.succeeded > 5


@pytest.mark.parametrize("seed", range(100, 160))
def test_the_guarantee_holds(seed: int) -> None:
    world = World(seed, 20)
    world.run()
    assert judge(world).faults() == {}, tell(seed, 20)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 2**31),
    st.builds(
        Likelihoods,
        lost=st.floats(0, 0.2),
        doubled=st.floats(0, 0.3),
        late=st.floats(0, 0.3),
        crash=st.floats(0, 0.03),
        throttled=st.floats(0, 0.3),
        ec2_error=st.floats(0, 0.2),
        lost_answer=st.floats(0, 0.5),
        table_error=st.floats(0, 0.05),
        schedule_error=st.floats(0, 0.5),
        interruption=st.floats(0, 1),
        hang=st.floats(0, 0.5),
        silent=st.floats(0, 0.5),
    ),
)
def test_it_holds_however_likely_the_faults_are(seed: int, likelihoods: Likelihoods) -> None:
    world = World(seed, 4, likelihoods=likelihoods)
    world.run()
    assert judge(world).faults() == {}


@pytest.mark.parametrize("off", ENDERS)
def test_any_one_ender_may_fail(off: str) -> None:
    """Switched off, it is covered by the others."""
    outcome, _ = play(range(20), Switches(**{off: False}))
    assert outcome.faults() == {}


def test_the_guard_alone_is_enough() -> None:
    outcome, _ = play(range(20), Switches(schedule=False, step_terminates=False, sweep=False))
    assert outcome.faults() == {}


def test_without_any_ender_it_fails() -> None:
    """The simulation can fail."""
    outcome, _ = play(range(8), Switches(guard=False, schedule=False, step_terminates=False, sweep=False))
    assert outcome.max_overshoot_usd > 1
    assert outcome.orphan_instance_seconds > 0


def test_without_the_reservation_a_month_is_overshot() -> None:
    outcome, _ = play(range(30), Switches(reservation=False))
    assert outcome.max_month_overshoot_usd > 0


def test_without_idempotent_launches_second_instances_are_ended_within_the_budget() -> None:
    bad_network = Likelihoods(lost_answer=0.5, ec2_error=0.1, lost=0.1)
    outcome, strays = play(range(30), Switches(idempotent_launch=False), bad_network)
    assert strays > 0, "lost answers do start second instances then"
    assert outcome.faults() == {}


def test_a_refusal_that_nobody_hears_of_costs_a_job_what_it_never_had() -> None:
    outcome, _ = play(range(10), Switches(certain_refusals=False))
    assert outcome.spent_without_instance_usd > 0


def test_without_a_result_in_the_bucket_finished_work_is_launched_again() -> None:
    outcome, _ = play(range(30), Switches(results=False))
    assert outcome.launches_after_done > 0


def test_a_failing_world_tells_its_story() -> None:
    off = Switches(guard=False, schedule=False, step_terminates=False, sweep=False)
    story = tell(0, 4, off)
    assert "starts in" in story
    assert "again: .paddock/env/bin/python -m tests.simulation --world 0" in story


def test_the_die_is_the_seed_s() -> None:
    one, two = Chance(7), Chance(7)
    assert [one.hits("late") for _ in range(99)] == [two.hits("late") for _ in range(99)]
