"""A job: what was asked, where it is, what it has cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

from jobs import money
from jobs.messages import DataRead, Person, Pool, Progress, Terms, Trained
from jobs.model import Model, Usd, UtcTime
from jobs.money import PricePoint
from jobs.shares import Share
from jobs.spec import JobSpec


class State(str, Enum):
    """Where a job is. The last seven are ends: a job at an end has no instance."""

    QUEUED = "queued"
    LAUNCHING = "launching"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    OUT_OF_TIME = "out_of_time"
    OUT_OF_BUDGET = "out_of_budget"
    NO_CAPACITY = "no_capacity"
    REFUSED = "refused"

    @property
    def is_end(self) -> bool:
        return self in ENDS


ENDS = frozenset(
    {State.SUCCEEDED, State.FAILED, State.STOPPED, State.OUT_OF_TIME, State.OUT_OF_BUDGET, State.NO_CAPACITY,
     State.REFUSED}
)  # fmt: skip


class Why(Model):
    """Why a job is where it is; `code` names a sentence in bot/wording.py, `facts` fill it."""

    code: str
    facts: dict[str, str] = {}


class Attempt(Model):
    """One launch into one pool. Closed when its instance is known to be gone or never to have been."""

    number: int
    pool: Pool
    lease_until: UtcTime
    asked_at: UtcTime
    """When the launch was first asked for: no instance of it is older."""
    tried_at: UtcTime
    """When the launch was last asked for."""
    renewed_until: UtcTime | None = None
    """The lease that the instance's tag and schedule are known to carry; None before the first confirmation."""
    instance: str | None = None
    started_at: UtcTime | None = None
    ended_at: UtcTime | None = None
    closed: bool = False
    missing_since: UtcTime | None = None
    """Since when EC2's listings lack it."""
    presumed: bool = False
    """Closed because EC2 did not show it any more, not because EC2 said that it ended."""
    stray: bool = False
    """A second instance under the number of an attempt: ended as soon as seen, paid for all the same."""
    giving_up: bool = False
    """Paddock wants this instance gone."""
    stopping_at: UtcTime | None = None
    """When EC2 said that it shuts down: from then on it is not charged."""
    notice_at: UtcTime | None = None
    """EC2 said that it takes the instance back."""
    trainer_at: UtcTime | None = None
    """When the trainer was last heard."""
    seq: int = -1
    progressed: bool = False
    prices: tuple[PricePoint, ...] = ()
    priced_until: UtcTime | None = None

    @property
    def carried_lease(self) -> datetime:
        """The lease that the instance goes by, as far as is known."""
        return self.renewed_until or self.lease_until

    @property
    def price(self) -> Decimal:
        """The newest spot price per hour that is known; on demand where it is not."""
        ceiling = self.pool.rates.on_demand
        return self.prices[-1].charged(ceiling) if self.prices else (self.pool.spot if self.pool.spot > 0 else ceiling)

    @property
    def pool_name(self) -> str:
        return f"{self.pool.instance_type}/{self.pool.zone}"

    def usd(self, now: datetime) -> Decimal:
        """What this attempt has cost by `now`, never too little: unknown prices count as on-demand.

        A launch whose outcome is unknown may have an instance: it counts as running since it was asked for."""
        if self.closed and self.started_at is None:
            return money.ZERO
        start = self.started_at or self.asked_at
        return money.bill(self.prices, start, self._end(now), self.priced_until or start, self.pool.rates)

    def usd_by_month(self, now: datetime) -> dict[str, Decimal]:
        """`usd`, by calendar month."""
        if self.closed and self.started_at is None:
            return {}
        start = self.started_at or self.asked_at
        return money.bill_by_month(self.prices, start, self._end(now), self.priced_until or start, self.pool.rates)

    def on_demand_usd(self, now: datetime) -> Decimal:
        """What the same instance would have cost on demand."""
        if self.started_at is None:
            return money.ZERO
        return money.bill((), self.started_at, self._end(now), self.started_at, self.pool.rates)

    def _end(self, now: datetime) -> datetime:
        return self.ended_at or max(now, self.started_at or now)

    @property
    def settled(self) -> bool:
        """Whether its cost is final."""
        if not self.closed:
            return False
        if self.started_at is None or self.ended_at is None:
            return True
        last = money.billed_until(self.started_at, self.ended_at)
        return self.priced_until is not None and self.priced_until >= last


class CheckpointRef(Model):
    """The newest checkpoint that the trainer reported."""

    step: int
    epoch: int
    key: str
    sha256: str
    at: UtcTime


class Origin(Model):
    """Where a run that goes on from another's checkpoint began, as its trainer said."""

    step: int
    schedule: Literal["as_planned", "longer", "new_rate"]
    """See messages.Started."""


class Alert(Model):
    """A share of the budget was reached. Told once, ever."""

    percent: Share
    at: UtcTime
    spent: Usd
    budget: Usd


class Reply(Model):
    """Something to tell one person, and only them. Told once."""

    id: str
    to: Person
    channel: str
    why: Why


class Job(Model):
    """Everything known of a run. `version` counts its saves."""

    id: str
    version: int = 0
    spec: JobSpec
    terms: Terms
    owner: Person
    channel: str
    language: Literal["en", "zh"] = "en"
    command: str
    response_url: str = ""
    state: State = State.QUEUED
    why: Why
    ending: State | None = None
    """While stopping: the end it stops for."""
    ending_why: Why | None = None
    created_at: UtcTime
    updated_at: UtcTime
    waiting_since: UtcTime
    """Since when it has no instance and wants one."""
    first_launch_at: UtcTime | None = None
    ended_at: UtcTime | None = None
    attempts: tuple[Attempt, ...] = ()
    last_attempt: int = 0
    """The number of the newest launch; never used again."""
    full_pools: dict[str, UtcTime] = {}
    """Pools that had no capacity, and when they said so."""
    progress: Progress | None = None
    metrics: dict[str, float] = {}
    data: DataRead | None = None
    model: Trained | None = None
    code_version: str = ""
    """Own code: the commit, or the upload's sha256, that the first attempt found. Later ones use the same."""
    checkpoint: CheckpointRef | None = None
    origin: Origin | None = None
    finished: bool = False
    fruitless: int = 0
    """Attempts in a row that ended by themselves without a new checkpoint."""
    alerts: tuple[Alert, ...] = ()
    replies: tuple[Reply, ...] = ()
    extensions: tuple[str, ...] = ()
    committed: dict[str, Usd] = {}
    """By month: what this job holds of the team's budget, spent and reserved together."""
    spent: Usd = Decimal(0)
    """At `updated_at`, rounded up; never less than the bill."""

    @property
    def deadline(self) -> datetime | None:
        """The absolute end of the run, set by its first launch."""
        if self.first_launch_at is None:
            return None
        return self.first_launch_at + timedelta(seconds=self.spec.limits.time_s)

    @property
    def currency(self) -> money.Currency:
        return self.spec.limits.currency

    @property
    def open_attempts(self) -> tuple[Attempt, ...]:
        return tuple(a for a in self.attempts if not a.closed)

    @property
    def current(self) -> Attempt | None:
        """The attempt that should be training."""
        return next((a for a in reversed(self.attempts) if not a.closed and not a.stray), None)

    @property
    def settled(self) -> bool:
        """At an end, and nothing about its cost can change any more."""
        return self.state.is_end and all(a.settled for a in self.attempts)

    def with_attempt(self, attempt: Attempt, **changes: Any) -> Job:
        """The job with these fields of one of its attempts changed."""
        changed = tuple(a.with_(**changes) if a is attempt else a for a in self.attempts)
        job: Job = self.with_(attempts=changed)
        return job

    def usd(self, now: datetime) -> Decimal:
        """Spend by `now`: the sum over the attempts."""
        return sum((a.usd(now) for a in self.attempts), money.ZERO)

    def usd_by_month(self, now: datetime) -> dict[str, Decimal]:
        """Spend by `now`, by calendar month (UTC)."""
        return add_up(a.usd_by_month(now) for a in self.attempts)


def add_up(parts: Iterable[dict[str, Decimal]]) -> dict[str, Decimal]:
    """Several amounts by month, added."""
    total: dict[str, Decimal] = {}
    for part in parts:
        for month, amount in part.items():
            total[month] = total.get(month, money.ZERO) + amount
    return total
