"""Delivering one message to one job: load, step, save, then do what step wants; its answer is the next message."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime

from aws_lambda_powertools import Logger

from functions.ports import Cloud, JobTable, LaunchRefused, NoRoom, Results, Schedules
from jobs.effects import Effect, Forget, Launch, Look, Quote, Renew, Terminate
from jobs.job import Job
from jobs.lifecycle import step
from jobs.messages import (
    AnyMessage,
    BudgetRefused,
    ExtendRequested,
    Launched,
    LaunchFailed,
    Quoted,
    Renewed,
    Submit,
)
from jobs.team import entries

logger = Logger(service="paddock", child=True)
LONGEST_CHAIN = 20


def deliver(
    message: AnyMessage, table: JobTable, cloud: Cloud, schedules: Schedules, results: Results,
    now: Callable[[], datetime],
) -> Job | None:  # fmt: skip
    """The job after the message and all that followed from it at once.

    Raises Conflict (deliver it again) and whatever the table raises. An effect that fails is logged and left to the
    next tick: `step` looks at what is, not at what was ordered."""
    waiting = deque([message])
    job: Job | None = None
    for _ in range(LONGEST_CHAIN):
        if not waiting:
            break
        current = waiting.popleft()
        old = table.load(current.job)
        new, effects = step(old, current, now())
        if new is None:
            logger.warning("message for no job", extra={"job": current.job, "message_kind": current.kind})
            continue
        job = new
        if old is None or new.version != old.version:
            try:
                table.save(
                    new, old.version if old else 0, entries(old, new), isinstance(current, Submit | ExtendRequested)
                )
            except NoRoom as refused:
                assert isinstance(current, Submit | ExtendRequested)
                waiting.appendleft(
                    BudgetRefused(job=current.job, cause=current, month=refused.month, free=refused.free,
                                  cap=refused.cap)
                )  # fmt: skip
                continue
            if old is None or new.state != old.state:
                logger.info("state", extra=facts(new) | {"state": new.state.value, "why": new.why.code})
        for effect in effects:
            try:
                answer = perform(effect, new, cloud, schedules, results, now)
            except Exception:
                logger.exception("effect failed", extra=facts(new) | {"effect": type(effect).__name__})
                continue
            if answer is not None:
                waiting.append(answer)
    return job


def facts(job: Job) -> dict[str, str | int]:
    """Job and attempt, for every line of the log."""
    return {"job": job.id, "attempt": job.last_attempt}


def perform(
    effect: Effect, job: Job, cloud: Cloud, schedules: Schedules, results: Results, now: Callable[[], datetime]
) -> AnyMessage | None:
    """Do one effect. May be done twice. Answers the message that says how it went, if the job needs to know."""
    if isinstance(effect, Quote):
        done = results.result(job.id) if effect.may_be_done else None
        return done or Quoted(job=job.id, pools=tuple(cloud.quote(effect.instance_types)))
    if isinstance(effect, Launch):
        try:
            instance, at = cloud.launch(job, effect)
        except LaunchRefused as refused:
            return LaunchFailed(job=job.id, attempt=effect.attempt.number, reason=refused.reason, detail=refused.detail)
        return Launched(job=job.id, attempt=effect.attempt.number, instance=instance, at=at)
    if isinstance(effect, Renew):
        # The schedule first: should the tag fail, the instance ends by its older lease, which is safe.
        schedules.put(effect.instance, effect.lease_until)
        cloud.renew(effect.instance, effect.lease_until, effect.deadline)
        return Renewed(job=job.id, instance=effect.instance, lease_until=effect.lease_until)
    if isinstance(effect, Terminate):
        cloud.terminate(effect.instance)
        return None
    if isinstance(effect, Forget):
        schedules.delete(effect.instance)
        return None
    assert isinstance(effect, Look)
    return cloud.look(job, now())
