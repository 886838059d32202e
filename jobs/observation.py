"""What EC2 shows of a job's instances, and what follows: found, gone, silent, renewed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from jobs.effects import Effect, Forget, Launch, Look, Renew
from jobs.ending import terminate
from jobs.job import Attempt, Job, State, Why
from jobs.launching import adopt, back_to_waiting, launch_effect
from jobs.leases import lease_until
from jobs.messages import InstanceChanged, PriceSpan, Renewed, SeenInstance, Terms, Tick
from jobs.money import PricePoint

RETRY_LAUNCH_S = 60
SMALLEST_RENEWAL_S = 5

Step = tuple[Job, tuple[Effect, ...]]


def observe(job: Job, tick: Tick, now: datetime) -> Step:
    """Bring the job in line with what is, and order what is missing."""
    effects: list[Effect] = []
    for seen in tick.instances:
        if seen.state == "terminated" and not _in_books(job, seen):
            continue
        job, more = adopt(job, seen.attempt, seen.id, seen.started_at, now)
        effects += more
    seen_by_id = {seen.id: seen for seen in tick.instances}
    before = job
    job = _map(job, lambda a: _seen(a, seen_by_id, tick, job.terms, now))
    gone = [a for a, b in zip(job.attempts, before.attempts, strict=True) if a.closed and not b.closed]
    job = _count_fruitless(job, gone)
    effects += [Forget(instance=a.instance) for a in gone if a.instance]
    job, more = _retry_launch(job, tick, now)
    effects += more
    job = _map(job, lambda a: _priced(a, tick.prices.get(a.pool_name)))
    job = _give_up_silent(job, now)
    job, more = renew(job, now)
    effects += more
    effects += [e for e in terminate(job) if e not in effects]
    return job, tuple(effects)


def _in_books(job: Job, seen: SeenInstance) -> bool:
    return any(a.instance == seen.id or (a.instance is None and a.number == seen.attempt) for a in job.attempts)


def _map(job: Job, change: Callable[[Attempt], Attempt]) -> Job:
    attempts = tuple(change(a) for a in job.attempts)
    changed: Job = job.with_(attempts=attempts)
    return changed


def _seen(attempt: Attempt, seen_by_id: dict[str, SeenInstance], tick: Tick, terms: Terms, now: datetime) -> Attempt:
    if attempt.instance is None or attempt.started_at is None:
        return attempt
    started_at = attempt.started_at
    seen = seen_by_id.get(attempt.instance)
    if seen is not None and seen.started_at != started_at:
        started_at = seen.started_at
        attempt = attempt.with_(started_at=started_at)
    if attempt.closed:
        return _seen_after_its_end(attempt, seen) if seen is not None else attempt
    if seen is None:
        return _missing(attempt, started_at, tick, terms, now)
    if attempt.missing_since is not None:
        attempt = attempt.with_(missing_since=None)
    if seen.state == "terminated":
        return _closed(attempt, min(seen.ended_at or now, now))
    return attempt


def _missing(attempt: Attempt, started_at: datetime, tick: Tick, terms: Terms, now: datetime) -> Attempt:
    """EC2 does not show the instance. It forgets a terminated one after about an hour; but it may also leave one out
    once. So it counts as alive until it has been missing for a while; then it ended at its lease at the latest, by the
    host's guard."""
    patience = timedelta(seconds=terms.certain_s)
    if not tick.complete or tick.seen_at - started_at < patience:
        return attempt
    if attempt.missing_since is None:
        missing: Attempt = attempt.with_(missing_since=tick.seen_at)
        return missing
    if tick.seen_at - attempt.missing_since < patience:
        return attempt
    last = attempt.lease_until + timedelta(seconds=terms.grace_s)
    gone: Attempt = _closed(attempt, min(now, max(last, started_at))).with_(presumed=True)
    return gone


def _seen_after_its_end(attempt: Attempt, seen: SeenInstance) -> Attempt:
    """An attempt in the books as over, and what EC2 shows of it. One that was only presumed gone, but lives, is ended
    and paid for; where EC2 said itself that it ended, an old listing proves nothing."""
    if seen.state == "terminated":
        return attempt if seen.ended_at is None else _ended_by(attempt, seen.ended_at)
    if not attempt.presumed or seen.state == "shutting-down":
        return attempt
    alive: Attempt = attempt.with_(
        closed=False, ended_at=None, presumed=False, missing_since=None, giving_up=True, stray=True
    )
    return alive


def _ended_by(attempt: Attempt, at: datetime) -> Attempt:
    """An attempt that is over, with better evidence of when: charges stop when the instance is shutting down
    (EC2 User Guide, "Amazon EC2 instance state changes")."""
    start = attempt.started_at or attempt.asked_at
    if attempt.ended_at is None or (at >= attempt.ended_at and not attempt.presumed):
        return attempt
    better: Attempt = attempt.with_(ended_at=max(at, start), presumed=False)
    return better


def _closed(attempt: Attempt, at: datetime) -> Attempt:
    start = attempt.started_at or attempt.asked_at
    end = at if attempt.stopping_at is None else min(at, attempt.stopping_at)
    closed: Attempt = attempt.with_(closed=True, ended_at=max(end, start))
    return closed


def _count_fruitless(job: Job, gone: list[Attempt]) -> Job:
    for attempt in gone:
        if attempt.progressed:
            job = job.with_(fruitless=0)
        elif not attempt.stray and attempt.notice_at is None:
            job = job.with_(fruitless=job.fruitless + 1)
    return job


def _retry_launch(job: Job, tick: Tick, now: datetime) -> Step:
    """A launch whose outcome never came: ask again, with the same token; when it is too late for that, wait until EC2
    would show the instance if there were one."""
    effects: list[Launch] = []
    for attempt in job.open_attempts:
        if attempt.instance is not None:
            continue
        since_try = tick.seen_at - attempt.tried_at
        wanted = job.state is State.LAUNCHING and not attempt.giving_up and now < attempt.lease_until
        if wanted and since_try >= timedelta(seconds=RETRY_LAUNCH_S):
            job = job.with_attempt(attempt, tried_at=now)
            effects.append(launch_effect(job, attempt.with_(tried_at=now)))
        elif not wanted and tick.complete and since_try >= timedelta(seconds=job.terms.certain_s):
            job = job.with_attempt(attempt, closed=True)
            if job.state is State.LAUNCHING:
                job = back_to_waiting(job, Why(code="looking"))
    return job, tuple(effects)


def _priced(attempt: Attempt, span: PriceSpan | None) -> Attempt:
    """The attempt with the prices of `span`, if they join those it has without a gap."""
    start = attempt.started_at
    if span is None or start is None or not span.points:
        return attempt
    have = attempt.priced_until or start
    if span.since > have or span.until <= have:
        return attempt
    points = list(attempt.prices)
    in_force = [p for p in span.points if p.at <= have]
    new = ([PricePoint(at=have, usd_per_hour=in_force[-1].usd_per_hour)] if in_force else []) + [
        p for p in span.points if have < p.at <= span.until
    ]
    for point in new:
        if not points or points[-1].usd_per_hour != point.usd_per_hour:
            points.append(point)
    priced: Attempt = attempt.with_(prices=tuple(points), priced_until=span.until)
    return priced


def _give_up_silent(job: Job, now: datetime) -> Job:
    """An instance whose trainer never came, or fell silent, is ended; the next attempt goes on from the checkpoint."""
    current = job.current
    if current is None or current.giving_up or job.state not in (State.LAUNCHING, State.RUNNING):
        return job
    if current.started_at is None:
        return job
    if current.trainer_at is None:
        if now - current.started_at < timedelta(seconds=job.terms.boot_s):
            return job
        why = Why(code="never_booted", facts={"seconds": str(job.terms.boot_s)})
    elif now - current.trainer_at >= timedelta(seconds=job.terms.silent_s):
        why = Why(code="silent", facts={"seconds": str(job.terms.silent_s)})
    else:
        return job
    return give_up(job, current, why, now)


def give_up(job: Job, attempt: Attempt, why: Why, now: datetime) -> Job:
    """This attempt is to end; the job goes on with the next one."""
    given: Job = job.with_attempt(attempt, giving_up=True).with_(state=State.INTERRUPTED, why=why, waiting_since=now)
    return given


def renew(job: Job, now: datetime) -> Step:
    """Lengthen the lease of the instance that trains, once half of the longest lease is used or less than that is
    affordable; and repeat a renewal that was not confirmed."""
    current = job.current
    if current is None or current.instance is None or current.giving_up:
        return job, ()
    if job.state not in (State.LAUNCHING, State.RUNNING):
        return job, ()
    assert job.deadline is not None
    until = max(current.lease_until, lease_until(job, now, current.pool.rates, current))
    gain = until - current.carried_lease
    half = timedelta(seconds=job.terms.lease_s / 2)
    due = gain >= timedelta(seconds=SMALLEST_RENEWAL_S) and current.carried_lease - now <= half
    if not due and current.lease_until == current.renewed_until:
        return job, ()
    lease = until if due else current.lease_until
    renewal = Renew(instance=current.instance, lease_until=lease, deadline=job.deadline)
    return job.with_attempt(current, lease_until=lease), (renewal,)


def on_renewed(job: Job, message: Renewed, now: datetime) -> Step:
    """The tag and the schedule are set. A late confirmation of an older lease changes nothing."""
    return _map(
        job,
        lambda a: (
            a.with_(renewed_until=message.lease_until)
            if a.instance == message.instance and (a.renewed_until is None or a.renewed_until < message.lease_until)
            else a
        ),
    ), ()


def on_instance_changed(job: Job, message: InstanceChanged, now: datetime) -> Step:
    """EventBridge told of a change. It may be old or doubled; only an end and a notice matter."""
    effects: tuple[Effect, ...] = ()
    if not any(a.instance == message.instance for a in job.attempts):
        # The event says when something changed, not when the instance started: not before it was asked for.
        asked = next((a.asked_at for a in job.attempts if a.number == message.attempt), message.at)
        job, effects = adopt(job, message.attempt, message.instance, asked, now)
    attempt = next((a for a in job.attempts if a.instance == message.instance), None)
    if attempt is None:
        return job, effects
    if attempt.closed:
        if message.change in ("terminated", "shutting-down"):
            job = _map(job, lambda a: _ended_by(a, message.at) if a is attempt else a)
        return job, effects
    if message.change == "shutting-down":
        return job.with_attempt(attempt, stopping_at=min(message.at, attempt.stopping_at or message.at)), effects
    if message.change == "interruption":
        job = job.with_attempt(attempt, notice_at=attempt.notice_at or message.at)
        if job.state is State.RUNNING:
            job = job.with_(why=Why(code="interruption_notice"))
        return job, effects
    if message.change == "terminated":
        gone = _closed(attempt, min(message.at, now))
        job = _map(job, lambda a: gone if a is attempt else a)
        effects = tuple(e for e in effects if not isinstance(e, Renew))
        return _count_fruitless(job, [gone]), (*effects, Forget(instance=message.instance), Look())
    return job, effects
