"""When a run has reached its time or its budget, when another launch is not worth it, and what to warn of."""

from __future__ import annotations

from datetime import datetime

from jobs.job import Alert, Job, State, Why
from jobs.leases import affordable_s, shortest_launch_s, smallest_budget, warning_s
from jobs.money import ZERO, Rates, seconds, shown
from jobs.shares import newly_reached

MOST_FRUITLESS = 3

Ending = tuple[State, Why]


def reached(job: Job, now: datetime) -> Ending | None:
    """The limit that a job with an instance has reached."""
    if job.deadline is not None and now >= job.deadline:
        return out_of_time(job)
    for attempt in job.open_attempts:
        if affordable_s(job, now, attempt.pool.rates, attempt) <= 0:
            return out_of_budget(job)
    return None


def not_worth_a_launch(job: Job, now: datetime) -> Ending | None:
    """Why a job whose instance is gone does not get another one."""
    if job.fruitless >= MOST_FRUITLESS:
        facts = {"times": str(job.fruitless)} | {k: v for k, v in job.why.facts.items() if k in ("reason", "detail")}
        return State.FAILED, Why(code="no_progress", facts=facts)
    if job.deadline is not None:
        left = seconds(job.deadline - now)
        if left < warning_s(job) + job.terms.useful_s:
            return out_of_time(job)
    launched = [a for a in job.attempts if a.started_at is not None]
    if launched and not affords(job, now, launched[-1].pool.rates):
        return out_of_budget(job)
    return None


def affords(job: Job, now: datetime, rates: Rates) -> bool:
    """Whether what is left of the budget pays a launch at these rates."""
    return affordable_s(job, now, rates) >= shortest_launch_s(job)


def out_of_time(job: Job) -> Ending:
    return State.OUT_OF_TIME, Why(code="out_of_time", facts={"time_s": str(job.spec.limits.time_s)})


def out_of_budget(job: Job) -> Ending:
    return State.OUT_OF_BUDGET, Why(code="out_of_budget", facts={"budget": shown(job.spec.limits.budget, job.currency)})


def too_small(job: Job, now: datetime, rates: Rates) -> Ending:
    """The budget does not pay one launch."""
    facts = {
        "budget": shown(job.spec.limits.budget, job.currency),
        "needed": shown(smallest_budget(job, now, rates), job.currency),
    }
    return State.OUT_OF_BUDGET, Why(code="budget_too_small", facts=facts)


def with_alerts(job: Job, now: datetime) -> Job:
    """The job with an alert for the share of its budget that it has newly reached. Each share once, ever; of several
    that are reached at once only the highest is told."""
    if not job.attempts:
        return job
    told = max((alert.percent for alert in job.alerts), default=0)
    budget = job.spec.limits.budget
    ended_by_it = State.OUT_OF_BUDGET in (job.state, job.ending) and job.spent > ZERO
    due = newly_reached(job.spent, budget, told, ended_by_it)
    if due is None:
        return job
    alert = Alert(percent=due, at=now, spent=job.spent, budget=budget)
    alerted: Job = job.with_(alerts=(*job.alerts, alert))
    return alerted
