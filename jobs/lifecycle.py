"""Every rule of a job's life: `step` takes what a job is and what happened, and says what it is now and what is to be
done. Saved first, done after; so each message may come again, and the next tick repairs what was lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from jobs import launching, limits, observation, reporting
from jobs.committed import committed
from jobs.effects import Effect, Look, Quote
from jobs.ending import begin_stop, end
from jobs.job import Job, Reply, State, Why
from jobs.messages import (
    AnyMessage,
    BudgetRefused,
    Checkpoint,
    DataRead,
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
    Submit,
    Tick,
    Yielded,
)
from jobs.money import shown, stored
from jobs.recipes import RECIPES

Step = tuple[Job, tuple[Effect, ...]]
KEPT_REPLIES = 20


def step(job: Job | None, message: AnyMessage, now: datetime) -> tuple[Job | None, tuple[Effect, ...]]:
    """The job after `message` at `now` (UTC), and what to do once it is saved. None: there is no such job."""
    if job is None:
        if isinstance(message, Submit):
            new, effects = _accept(message, now)
        elif isinstance(message, BudgetRefused) and isinstance(message.cause, Submit):
            new, effects = _refuse(message, message.cause, now)
        else:
            return None, ()
        return _account(new, new, now), effects
    if isinstance(message, Submit):
        return job, ()
    new, effects = _HANDLERS[type(message)](job, message, now)
    new, more = _advance(new, now)
    return _account(job, new, now), effects + more


def _accept(message: Submit, now: datetime) -> Step:
    job = Job(
        id=message.job, spec=message.spec, terms=message.terms, owner=message.owner, channel=message.channel,
        language=message.language, command=message.command, response_url=message.response_url,
        why=Why(code="looking"), created_at=now, updated_at=now,
        waiting_since=now,
    )  # fmt: skip
    return job, (_quote(job),)


def _refuse(refusal: BudgetRefused, submit: Submit, now: datetime) -> Step:
    job, _ = _accept(submit, now)
    facts = {
        "asked": shown(submit.spec.limits.budget, job.currency),
        "free": shown(refusal.free, job.currency),
        "cap": shown(refusal.cap, job.currency),
        "month": refusal.month,
    }
    why = Why(code="over_month", facts=facts)
    reply = Reply(id="refused", to=submit.owner, channel=submit.channel, why=why)
    return job.with_(state=State.REFUSED, why=why, ended_at=now, replies=(reply,)), ()


def _on_budget_refused(job: Job, message: BudgetRefused, now: datetime) -> Step:
    cause = message.cause
    if isinstance(cause, Submit) or cause.request in job.extensions:
        return job, ()
    amounts = {"asked": cause.budget, "free": message.free, "cap": message.cap}
    facts = {name: shown(amount, job.currency) for name, amount in amounts.items()} | {"month": message.month}
    return _reply(job, cause.request, cause, Why(code="extend_over_month", facts=facts)), ()


def _on_stop(job: Job, message: StopRequested, now: datetime) -> Step:
    if job.state.is_end or job.state is State.STOPPING:
        return job, ()
    return begin_stop(job, State.STOPPED, Why(code="stopped_by", facts={"user": message.by.id}))


def _on_extend(job: Job, message: ExtendRequested, now: datetime) -> Step:
    if message.request in job.extensions:
        return job, ()
    job = job.with_(extensions=(*job.extensions, message.request)[-KEPT_REPLIES:])
    if not message.permitted:
        return _reply(
            job, message.request, message, Why(code="not_yours", facts={"owner": job.owner.id, "job": job.id})
        ), ()
    if job.state.is_end or job.state is State.STOPPING:
        return _reply(job, message.request, message, Why(code="extend_too_late", facts={"job": job.id})), ()
    old = job.spec.limits
    new = old.with_(budget=old.budget + message.budget, time_s=old.time_s + message.time_s)
    job = job.with_(spec=job.spec.with_(limits=new))
    facts = {"job": job.id, "budget": shown(new.budget, new.currency), "time_s": str(new.time_s)}
    return _reply(job, message.request, message, Why(code="extended", facts=facts)), (Look(),)


def _reply(job: Job, id: str, to: ExtendRequested, why: Why) -> Job:
    reply = Reply(id=id, to=to.by, channel=to.channel or job.channel, why=why)
    changed: Job = job.with_(replies=(*job.replies, reply)[-KEPT_REPLIES:])
    return changed


def _on_tick(job: Job, message: Tick, now: datetime) -> Step:
    job, effects = observation.observe(job, message, now)
    return job, (*effects, _quote(job)) if _waits(job) else effects


def _on_quoted(job: Job, message: Quoted, now: datetime) -> Step:
    hopeless = limits.not_worth_a_launch(job, now) if _waits(job) and job.attempts else None
    if hopeless is not None:
        return end(job, *hopeless, now), ()
    return launching.on_quoted(job, message, now)


def _on_launch_failed(job: Job, message: LaunchFailed, now: datetime) -> Step:
    job, effects = launching.on_failed(job, message, now)
    if _waits(job) and message.reason != "busy":
        effects = (*effects, _quote(job))
    return job, effects


def _waits(job: Job) -> bool:
    """Whether the job has no instance and wants one."""
    return job.state in (State.QUEUED, State.INTERRUPTED) and not job.open_attempts


def _quote(job: Job) -> Quote:
    """The work may be done though nobody said so: EC2's word of the instance's end may be faster than the trainer's
    `finished`, which may also be lost. So what ends a job without an instance, or launches again, is decided only by
    the answer to this."""
    had_one = any(a.started_at is not None for a in job.attempts)
    return Quote(instance_types=RECIPES[job.spec.recipe].instance_types, may_be_done=had_one)


_HANDLERS: dict[type, Callable[[Job, Any, datetime], Step]] = {
    StopRequested: _on_stop,
    ExtendRequested: _on_extend,
    BudgetRefused: _on_budget_refused,
    Quoted: _on_quoted,
    Launched: launching.on_launched,
    LaunchFailed: _on_launch_failed,
    Renewed: observation.on_renewed,
    Tick: _on_tick,
    InstanceChanged: observation.on_instance_changed,
    Started: reporting.on_started,
    DataRead: reporting.on_data,
    Progress: reporting.on_progress,
    Checkpoint: reporting.on_checkpoint,
    Finished: reporting.on_finished,
    Yielded: reporting.on_yielded,
    Failed: reporting.on_failed,
}


def _advance(job: Job, now: datetime) -> Step:
    """What follows from what the job now is, whatever the message was."""
    if job.state.is_end:
        return job, ()
    if job.open_attempts:
        reached = limits.reached(job, now)
        if reached is None or job.state is State.STOPPING:
            return job, ()
        return begin_stop(job, *reached)
    if job.state is State.STOPPING:
        return end(job, job.ending or State.FAILED, job.ending_why or job.why, now), ()
    if job.finished:
        return end(job, State.SUCCEEDED, Why(code="succeeded"), now), ()
    if job.state in (State.LAUNCHING, State.RUNNING):
        last = job.attempts[-1]
        why = Why(code="interrupted_notice" if last.notice_at else "interrupted")
        return job.with_(state=State.INTERRUPTED, why=why, waiting_since=now), (_quote(job),)
    if now - job.waiting_since >= timedelta(seconds=job.terms.capacity_wait_s):
        facts = {"seconds": str(job.terms.capacity_wait_s)}
        hopeless = limits.not_worth_a_launch(job, now) if job.attempts else None
        return end(job, *(hopeless or (State.NO_CAPACITY, Why(code="no_capacity", facts=facts))), now), ()
    return job, ()


def _account(old: Job, new: Job, now: datetime) -> Job:
    """`new` with its money brought up to `now`; `old` itself when nothing at all changed."""
    new = new.with_(spent=stored(new.usd(now)), committed=committed(new, now))
    new = limits.with_alerts(new, now)
    if new == old and new.version:
        return old
    saved: Job = new.with_(version=old.version + 1, updated_at=now)
    return saved
