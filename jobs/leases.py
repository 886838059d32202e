"""How long an instance may live. A lease is short enough that, if nobody ever renews it, the run still costs no more
than its budget, even when the spot price jumps to the on-demand price."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs import money
from jobs.job import Attempt, Job
from jobs.model import Usd
from jobs.money import Rates


def warning_s(job: Job) -> int:
    """Seconds before its end at which the trainer is told to save and leave: two minutes, less for a short run."""
    return min(job.terms.warning_s, job.spec.limits.time_s // 4)


def affordable_s(job: Job, now: datetime, rates: Rates, attempt: Attempt | None = None) -> int:
    """Seconds that an instance at `rates` may run from `now` before the budget could be reached, less the margin.

    `attempt` is the one that runs at these rates, None for one that is still to be launched. Other instances that
    are still alive share what is left."""
    others = (a.pool.rates.worst for a in job.open_attempts if a is not attempt)
    left = job.spec.limits.budget - job.usd(now)
    return int(left * money.HOUR / sum(others, rates.worst)) - job.terms.margin_s


def lease_until(job: Job, now: datetime, rates: Rates, attempt: Attempt | None = None) -> datetime:
    """min(time limit, now + (budget - spent) / worst price - margin, now + the longest lease)."""
    allowed = min(affordable_s(job, now, rates, attempt), job.terms.lease_s)
    deadline = job.deadline or now + timedelta(seconds=job.spec.limits.time_s)
    return min(now + timedelta(seconds=allowed), deadline)


def shortest_launch_s(job: Job) -> int:
    """A launch must be able to live this long: the 60 billed seconds, the warning and some useful work."""
    return max(money.MINIMUM_BILLED_S, warning_s(job) + job.terms.useful_s)


def smallest_budget(job: Job, now: datetime, rates: Rates) -> Usd:
    """The budget (USD) at which one more launch at `rates` would be worth it."""
    need_s = shortest_launch_s(job) + job.terms.margin_s + 1
    return money.stored(job.usd(now) + rates.worst * need_s / money.HOUR)
