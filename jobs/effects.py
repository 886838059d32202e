"""What `step` wants done, after the job is saved. Every effect may be done twice."""

from __future__ import annotations

from jobs.job import Attempt
from jobs.model import Model, UtcTime


class Quote(Model):
    """Look up the pools that suit the recipe and their prices; answer with `Quoted`."""

    instance_types: tuple[str, ...]
    may_be_done: bool
    """The job had an instance: look first whether its result is in the bucket; if so, answer with that `Finished`."""


class Launch(Model):
    """Ask EC2 for the attempt's instance, idempotent by the attempt; answer with `Launched` or `LaunchFailed`."""

    attempt: Attempt
    deadline: UtcTime
    warning_s: int


class Renew(Model):
    """Write the lease and the deadline into the instance's tags, and move its termination schedule."""

    instance: str
    lease_until: UtcTime
    deadline: UtcTime


class Terminate(Model):
    """End the instance, and its schedule once EC2 has taken the order."""

    instance: str


class Forget(Model):
    """The instance is gone: delete its termination schedule."""

    instance: str


class Look(Model):
    """Look at the job's instances and prices now; answer with `Tick`."""


Effect = Quote | Launch | Renew | Terminate | Forget | Look
