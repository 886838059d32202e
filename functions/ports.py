"""What delivering a message needs from outside. functions/aws has the real ones, the simulation its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, Protocol

from jobs.effects import Launch
from jobs.job import Job
from jobs.messages import AnyMail, Finished, Pool, PriceSpan, SeenInstance, Tick
from jobs.model import Model, Usd, UtcTime
from jobs.team import Entry


class Conflict(Exception):
    """Somebody else saved the job in between: deliver the message again."""


class NoRoom(Exception):
    """The month has no room for what the job asks."""

    def __init__(self, month: str, free: Usd, cap: Usd) -> None:
        super().__init__(f"{month}: {free} of {cap} free")
        self.month, self.free, self.cap = month, free, cap


class LaunchRefused(Exception):
    """This try to launch started no instance, for certain: EC2 said so, or nothing was sent."""

    def __init__(self, reason: Literal["capacity", "quota", "busy", "invalid"], detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Found(Model):
    """An instance under our tag, as the sweep needs it."""

    job: str
    seen: SeenInstance
    lease: UtcTime | None


class JobTable(Protocol):
    def load(self, id: str) -> Job | None: ...

    def live(self) -> Iterator[Job]:
        """Every job that may still cost something; what is missing now comes with the next tick."""

    def save(self, job: Job, had_version: int, moved: list[Entry], enforce: bool) -> None:
        """Put the job if the table has `had_version` of it, and move the ledgers, in one transaction.
        With `enforce`, a month may not pass the team's cap. Raises Conflict, NoRoom."""


class Cloud(Protocol):
    """EC2. Every method may raise, and may have done its work all the same."""

    def quote(self, instance_types: Iterable[str]) -> list[Pool]: ...

    def launch(self, job: Job, order: Launch) -> tuple[str, datetime]:
        """The instance's id and launch time. Raises LaunchRefused."""

    def renew(self, instance: str, lease_until: datetime, deadline: datetime) -> None: ...

    def terminate(self, instance: str) -> None: ...

    def look(self, job: Job, now: datetime) -> Tick: ...

    def walk(self) -> Iterator[Found]:
        """Every instance under this deployment's tag."""


class Results(Protocol):
    """What trainers leave in the bucket when the work is done."""

    def result(self, job: str) -> Finished | None:
        """None if there is none: the work is not done. Raises when that cannot be known."""


class Market(Protocol):
    """The spot market's prices."""

    def kept_history(self, pools: dict[str, datetime], now: datetime) -> dict[str, PriceSpan]: ...


class Schedules(Protocol):
    """One-time schedules that end an instance without any code of ours."""

    def put(self, instance: str, at: datetime) -> None: ...

    def delete(self, instance: str) -> None: ...


class Mailbox(Protocol):
    def send(self, *messages: AnyMail) -> None: ...
