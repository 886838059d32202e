"""How a job comes to an end: first its instances are ended, then, when EC2 has none of them, it is over."""

from __future__ import annotations

from datetime import datetime

from jobs.effects import Effect, Terminate
from jobs.job import Job, State, Why


def begin_stop(job: Job, ending: State, why: Why) -> tuple[Job, tuple[Effect, ...]]:
    """Give up every instance; the job is `stopping` until EC2 says `terminated`."""
    attempts = tuple(a if a.closed else a.with_(giving_up=True) for a in job.attempts)
    job = job.with_(state=State.STOPPING, ending=ending, ending_why=why, why=why, attempts=attempts)
    return job, terminate(job)


def terminate(job: Job) -> tuple[Effect, ...]:
    """Orders to end every instance that is still alive though nothing wants it."""
    unwanted = job.state.is_end or job.state is State.STOPPING
    return tuple(
        Terminate(instance=a.instance)
        for a in job.open_attempts
        if a.instance is not None and (unwanted or a.giving_up or a.stray)
    )


def end(job: Job, state: State, why: Why, now: datetime) -> Job:
    """The job at its end; it has no instance."""
    ended: Job = job.with_(state=state, why=why, ending=None, ending_why=None, ended_at=now)
    return ended
