"""What the trainer's reports change. A report of an attempt that is over changes only what it proves: a checkpoint, or
that the training is done."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobs.effects import Effect, Look
from jobs.ending import begin_stop, terminate
from jobs.job import Attempt, CheckpointRef, Job, Origin, State, Why
from jobs.leases import warning_s
from jobs.messages import Checkpoint, DataRead, Failed, Finished, Progress, Report, Started, Yielded
from jobs.observation import give_up

LOOK_EVERY_S = 10
SHORT_LEASE_S = 90

Step = tuple[Job, tuple[Effect, ...]]


def on_started(job: Job, message: Started, now: datetime) -> Step:
    """The trainer runs."""
    job = _heard(job, message, now)
    if message.code and not job.code_version:
        job = job.with_(code_version=message.code)
    if job.spec.resume is not None and job.origin is None and job.checkpoint is None:
        job = job.with_(origin=Origin(step=message.resumed_step, schedule=message.schedule))
    if job.state is State.LAUNCHING and job.current is not None and job.current.number == message.attempt:
        facts = {"step": str(message.resumed_step), "device": message.device}
        job = job.with_(state=State.RUNNING, why=Why(code="resumed" if message.resumed_step else "training",
                                                     facts=facts))  # fmt: skip
    return job, ()


def on_data(job: Job, message: DataRead, now: datetime) -> Step:
    """The data are read. Each attempt reads them anew; what the first one found is what is told."""
    job = _heard(job, message, now)
    return (job if job.data is not None else job.with_(data=message)), ()


def on_progress(job: Job, message: Progress, now: datetime) -> Step:
    """Newer progress replaces older; a lease that is about to end is looked after at once."""
    current = job.current
    if current is None or current.number != message.attempt or message.seq <= current.seq:
        return job, ()
    job = _heard(job, message, now)
    if job.state is State.LAUNCHING:
        job = job.with_(state=State.RUNNING, why=Why(code="training"))
    job = job.with_(progress=message, metrics=job.metrics | message.metrics)
    if job.state is not State.RUNNING:
        return job, ()
    short = timedelta(seconds=warning_s(job) + SHORT_LEASE_S)
    ends_before_limit = job.deadline is not None and current.carried_lease < job.deadline
    looked = current.priced_until or current.asked_at
    if ends_before_limit and current.carried_lease - now < short and now - looked >= timedelta(seconds=LOOK_EVERY_S):
        return job, (Look(),)
    return job, ()


def on_checkpoint(job: Job, message: Checkpoint, now: datetime) -> Step:
    """A newer checkpoint is where the next attempt begins."""
    job = _heard(job, message, now)
    if job.checkpoint is not None and message.step <= job.checkpoint.step:
        return job, ()
    ref = CheckpointRef(step=message.step, epoch=message.epoch, key=message.key, sha256=message.sha256, at=now)
    return _progressed(job, message).with_(checkpoint=ref, fruitless=0), ()


def on_finished(job: Job, message: Finished, now: datetime) -> Step:
    """The work is done, whichever attempt says so and whatever was about to end it."""
    if job.state.is_end:
        return job, ()
    job = _heard(job, message, now).with_(finished=True, metrics=job.metrics | message.metrics, model=message.model)
    return begin_stop(job, State.SUCCEEDED, Why(code="succeeded"))


def on_yielded(job: Job, message: Yielded, now: datetime) -> Step:
    """The trainer saved and left; its instance ends next."""
    if not any(a.number == message.attempt for a in job.open_attempts):
        return job, ()
    job = _progressed(_heard(job, message, now), message)
    return (job.with_(why=Why(code="yielded")) if job.state is State.RUNNING else job), ()


def on_failed(job: Job, message: Failed, now: datetime) -> Step:
    """The trainer could not go on: for good, or this time."""
    current = job.current
    if current is None or current.number != message.attempt or job.state is State.STOPPING or current.giving_up:
        return job, ()
    job = _heard(job, message, now)
    why = Why(code="trainer_failed", facts={"reason": message.reason, "detail": message.detail[:1500]})
    if message.problem is not None:
        why = Why(code=message.problem.code, facts=message.problem.facts)
    if message.final:
        return begin_stop(job, State.FAILED, why)
    assert job.current is not None
    job = give_up(job, job.current, why, now)
    return job, terminate(job)


def _progressed(job: Job, message: Report) -> Job:
    """The attempt that says so was worth its launch."""
    attempts = tuple(a.with_(progressed=True) if a.number == message.attempt else a for a in job.attempts)
    changed: Job = job.with_(attempts=attempts)
    return changed


def _heard(job: Job, message: Report, now: datetime) -> Job:
    """Note when the trainer was last heard, by our clock: the instance's may be wrong."""

    def heard(attempt: Attempt) -> Attempt:
        if attempt.number != message.attempt or attempt.closed or attempt.stray:
            return attempt
        changed: Attempt = attempt.with_(trainer_at=now, seq=max(attempt.seq, message.seq))
        return changed

    noted: Job = job.with_(attempts=tuple(heard(a) for a in job.attempts))
    return noted
