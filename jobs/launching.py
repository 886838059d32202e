"""From wanting an instance to having one."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs import limits
from jobs.effects import Effect, Launch, Look, Renew, Terminate
from jobs.ending import begin_stop, end
from jobs.job import Attempt, Job, State, Why
from jobs.leases import lease_until, warning_s
from jobs.messages import Launched, LaunchFailed, Pool, Quoted

FULL_POOL_S = 600
"""How long a pool that had no capacity is left alone."""

Step = tuple[Job, tuple[Effect, ...]]


def on_quoted(job: Job, message: Quoted, now: datetime) -> Step:
    """Choose the cheapest pool that is not known to be full and that the budget pays, and launch there."""
    if job.state not in (State.QUEUED, State.INTERRUPTED) or job.open_attempts:
        return job, ()
    if not message.pools:
        return job.with_(why=Why(code="no_pools")), ()
    if any(pool.rates.currency != job.currency for pool in message.pools):
        return end(job, State.FAILED, Why(code="two_currencies", facts={"currency": job.currency}), now), ()
    affordable = [pool for pool in message.pools if limits.affords(job, now, pool.rates)]
    if not affordable:
        cheapest = min(message.pools, key=lambda pool: pool.rates.worst)
        if job.checkpoint is not None:
            return end(job, *limits.out_of_budget(job), now), ()
        return end(job, *limits.too_small(job, now, cheapest.rates), now), ()
    patience = timedelta(seconds=FULL_POOL_S)
    full = {name: since for name, since in job.full_pools.items() if now - since < patience}
    free = [pool for pool in affordable if _name(pool) not in full]
    job = job.with_(full_pools=full)
    if not free:
        return job.with_(why=Why(code="waiting_for_capacity", facts={"pools": str(len(affordable))})), ()
    pool = min(free, key=lambda pool: (pool.spot, pool.rates.on_demand, _name(pool)))
    return _launch(job, pool, now)


def _launch(job: Job, pool: Pool, now: datetime) -> Step:
    lease = lease_until(job, now, pool.rates)
    attempt = Attempt(number=job.last_attempt + 1, pool=pool, lease_until=lease, asked_at=now, tried_at=now)
    job = job.with_(
        state=State.LAUNCHING,
        why=Why(code="launching", facts={"type": pool.instance_type, "zone": pool.zone}),
        first_launch_at=job.first_launch_at or now,
        attempts=(*job.attempts, attempt),
        last_attempt=attempt.number,
        progress=None if job.checkpoint is None else job.progress,
    )
    return job, (launch_effect(job, attempt),)


def launch_effect(job: Job, attempt: Attempt) -> Launch:
    """The order to launch, the same each time for the same attempt."""
    assert job.deadline is not None
    return Launch(attempt=attempt, deadline=job.deadline, warning_s=warning_s(job))


def on_launched(job: Job, message: Launched, now: datetime) -> Step:
    """EC2 has an instance for an attempt."""
    return adopt(job, message.attempt, message.instance, message.at, now)


def adopt(job: Job, number: int, instance: str, started_at: datetime, now: datetime) -> Step:
    """Take note of an instance. One that nothing waits for is kept in the books and ended."""
    if any(a.instance == instance for a in job.attempts):
        return job, ()
    same = [a for a in job.attempts if a.number == number]
    if not same:
        return job, (Terminate(instance=instance),)
    waiting = same[0]
    if waiting.instance is None and not waiting.closed:
        job = job.with_attempt(waiting, instance=instance, started_at=min(started_at, now))
        if waiting.giving_up or job.state not in (State.LAUNCHING, State.RUNNING):
            return job, (Terminate(instance=instance),)
        assert job.deadline is not None
        renew = Renew(instance=instance, lease_until=waiting.lease_until, deadline=job.deadline)
        return job.with_(why=Why(code="booting")), (renew, Look())
    stray = waiting.with_(instance=instance, started_at=min(started_at, now), ended_at=None, closed=False, stray=True,
                          prices=(), priced_until=None)  # fmt: skip
    return job.with_(attempts=(*job.attempts, stray)), (Terminate(instance=instance),)


def on_failed(job: Job, message: LaunchFailed, now: datetime) -> Step:
    """An attempt was refused for certain. `busy` says so of this try only: after an earlier one whose outcome is
    unknown there may be an instance, and the next tick asks again, with the same token."""
    attempt = next((a for a in job.open_attempts if a.number == message.attempt and a.instance is None), None)
    if attempt is None or (message.reason == "busy" and attempt.tried_at != attempt.asked_at):
        return job, ()
    job = without(job, attempt)
    if job.state is State.STOPPING:
        return job, ()
    facts = {"type": attempt.pool.instance_type, "zone": attempt.pool.zone, "detail": message.detail[:300]}
    if message.reason == "invalid":
        return begin_stop(job, State.FAILED, Why(code="launch_invalid", facts=facts))
    if message.reason == "busy":
        return back_to_waiting(job, Why(code="ec2_busy", facts=facts)), ()
    job = back_to_waiting(job, Why(code=f"no_{message.reason}_here", facts=facts))
    return job.with_(full_pools={**job.full_pools, _name(attempt.pool): now}), ()


def without(job: Job, attempt: Attempt) -> Job:
    """The job without a launch that was refused. One that was asked for more than once stays in the books."""
    if attempt.tried_at != attempt.asked_at:
        return job.with_attempt(attempt, closed=True)
    dropped: Job = job.with_(attempts=tuple(a for a in job.attempts if a is not attempt))
    return dropped


def back_to_waiting(job: Job, why: Why) -> Job:
    """The job waits for an instance again. Its time has not begun if it never had one."""
    if any(a.started_at is not None for a in job.attempts):
        waiting: Job = job.with_(state=State.INTERRUPTED, why=why)
    else:
        waiting = job.with_(state=State.QUEUED, why=why, first_launch_at=None)
    return waiting


def _name(pool: Pool) -> str:
    return f"{pool.instance_type}/{pool.zone}"
