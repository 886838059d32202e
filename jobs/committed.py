"""What a job holds of the team's monthly budget: spent and reserved together."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs import money
from jobs.job import Job
from jobs.model import Usd


def committed(job: Job, now: datetime) -> dict[str, Usd]:
    """By month (UTC), rounded up. A live job holds all of its budget that it could still spend in a month; a run
    that may reach into the next month holds its rest there too, so that no month can be overshot at the roll-over.
    """
    spent = job.usd_by_month(now)
    if job.state.is_end:
        return {month: money.stored(amount) for month, amount in spent.items()}
    this = money.month_of(now)
    before = sum((amount for month, amount in spent.items() if month < this), money.ZERO)
    held = {month: money.stored(amount) for month, amount in spent.items() if month < this}
    rest = money.stored(max(job.spec.limits.budget - before, sum(spent.values(), money.ZERO) - before))
    held[this] = rest
    month_end = money.next_month(now)
    if horizon(job) >= month_end:
        held[money.month_of(month_end)] = rest
    return held


def horizon(job: Job) -> datetime:
    """The latest moment at which the job's instance can still be charged."""
    grace = job.terms.grace_s + job.terms.certain_s
    if job.deadline is not None:
        return job.deadline + timedelta(seconds=grace)
    wait = job.terms.capacity_wait_s + job.spec.limits.time_s
    return job.created_at + timedelta(seconds=wait + grace)
