"""The outside of a simulated deployment: EC2, schedules, results, the table, Slack. They keep the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from functions.ports import Conflict, Found, LaunchRefused, NoRoom
from jobs import money
from jobs.effects import Launch
from jobs.job import Job
from jobs.messages import Finished, Pool, SeenInstance, Tick
from jobs.money import Rates
from jobs.pricing import prices_needed
from jobs.team import Entry, Ledger, MonthAlerts
from tests.simulation.market import ADDRESS, ON_DEMAND, VOLUME, ZONES, Market

if TYPE_CHECKING:
    from tests.simulation.world import World

FORGOTTEN_AFTER = timedelta(hours=1)


class Crash(BaseException):
    """The function that runs dies here."""


@dataclass
class Machine:
    """An instance as it truly is."""

    id: str
    job: str
    attempt: int
    pool: str
    rates: Rates
    launched: datetime
    visible: datetime
    lease: datetime
    deadline: datetime
    skew_s: float
    warning_s: int
    shutting_down: datetime | None = None
    terminated: datetime | None = None
    by_ec2: bool = False
    events: list[Any] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        return self.shutting_down is None

    def bill(self, market: Market) -> Decimal:
        """What AWS charges: to the second, 60 at least, at the price of each moment."""
        assert self.shutting_down is not None
        points = market.points[self.pool]
        return money.bill(
            points, self.launched, self.shutting_down, self.shutting_down + timedelta(hours=2), self.rates
        )

    def bill_as_shown(self, market: Market) -> Decimal:
        """What follows from the prices that could be known."""
        assert self.shutting_down is not None
        known = self.shutting_down + timedelta(hours=2)
        return money.bill(market.shown(self.pool), self.launched, self.shutting_down, known, self.rates)

    def bill_by_month(self, market: Market) -> dict[str, Decimal]:
        assert self.shutting_down is not None
        known = self.shutting_down + timedelta(hours=2)
        return money.bill_by_month(market.points[self.pool], self.launched, self.shutting_down, known, self.rates)


class Ec2:
    """See ports.Cloud. What it shows lags behind what is."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.machines: dict[str, Machine] = {}
        self._tokens: dict[str, tuple[str, str]] = {}
        self._asked: set[tuple[str, int]] = set()
        self._perhaps: set[tuple[str, int]] = set()

    def quote(self, instance_types: Iterable[str]) -> list[Pool]:
        self._trouble()
        now, market = self._world.now(), self._world.market
        return [
            Pool.model_construct(
                instance_type=kind, zone=zone, spot=market.price(f"{kind}/{zone}", now),
                rates=Rates(on_demand=ON_DEMAND[kind], volume=VOLUME, address=ADDRESS),
            )
            for kind in instance_types
            for zone in ZONES
        ]  # fmt: skip

    def launch(self, job: Job, order: Launch) -> tuple[str, datetime]:
        self._asked.add((job.id, order.attempt.number))
        try:
            return self._launch(job, order)
        except LaunchRefused:
            if self._world.switches.certain_refusals:
                raise
            raise ConnectionError("somebody did not look at what it was") from None
        except BaseException:
            self._perhaps.add((job.id, order.attempt.number))
            raise

    def doubt(self, job: str) -> None:
        """The function died: whether it had asked for the job's launches, and what it heard of them, is forgotten."""
        saved = self._world.table.jobs.get(job)
        self._perhaps |= {(job, attempt.number) for attempt in saved.attempts} if saved else set()

    def refused_for_certain(self, job: Job) -> bool:
        """Whether all of the job's launches were refused, and it heard so: it cannot have cost anything."""
        launches = {(job.id, a.number) for a in job.attempts}
        return launches <= self._asked - self._perhaps and not any(a.instance for a in job.attempts)

    def _launch(self, job: Job, order: Launch) -> tuple[str, datetime]:
        world, attempt = self._world, order.attempt
        world.call()
        if world.chance.hits("throttled"):
            raise LaunchRefused("busy", "RequestLimitExceeded")
        if world.chance.hits("not_sent"):
            raise LaunchRefused("busy", "Could not connect to the endpoint URL")
        if world.chance.hits("refused_for_certain"):
            raise LaunchRefused("invalid", "start-up data of 21223 bytes: EC2 takes 16384")
        if world.chance.hits("ec2_error"):
            raise ConnectionError("RunInstances did nothing")
        token = f"{job.id}-{attempt.number}"
        asked = f"{attempt.lease_until} {order.deadline} {attempt.pool}"
        if world.switches.idempotent_launch and token in self._tokens:
            earlier, id = self._tokens[token]
            if earlier != asked:
                raise ConnectionError("IdempotentParameterMismatch")
        else:
            if world.chance.hits("no_capacity"):
                raise LaunchRefused("capacity", "InsufficientInstanceCapacity")
            if world.chance.hits("no_quota"):
                raise LaunchRefused("quota", "MaxSpotInstanceCountExceeded")
            id = self._start(job, order)
            self._tokens[token] = (asked, id)
        if world.chance.hits("lost_answer"):
            raise ConnectionError("the answer of RunInstances was lost")
        world.call()
        return id, self.machines[id].launched

    def _start(self, job: Job, order: Launch) -> str:
        world, attempt = self._world, order.attempt
        now = world.now()
        machine = Machine(
            id=f"i-{len(self.machines):06d}", job=job.id, attempt=attempt.number, pool=attempt.pool_name,
            rates=attempt.pool.rates, launched=now, visible=now + timedelta(seconds=world.chance.between(0, 240 if world.chance.hits("long_unseen") else 60)),
            lease=attempt.lease_until, deadline=order.deadline, skew_s=world.chance.between(-30, 30),
            warning_s=order.warning_s,
        )  # fmt: skip
        self.machines[machine.id] = machine
        self._perhaps.add((job.id, attempt.number))
        world.host.launched(machine)
        world.host.boot(machine)
        return machine.id

    def renew(self, instance: str, lease_until: datetime, deadline: datetime) -> None:
        self._trouble()
        machine = self.machines[instance]
        machine.lease, machine.deadline = max(machine.lease, lease_until), max(machine.deadline, deadline)
        self._world.call()

    def terminate(self, instance: str) -> None:
        self._trouble()
        self.power_off(instance, 0, user=True)
        self._world.call()

    def power_off(self, instance: str, delay_s: float, user: bool) -> None:
        """Whoever ends it: charges stop when it shuts down; it is terminated a little later; events tell of both."""
        machine, world = self.machines[instance], self._world
        if not machine.alive:
            return
        machine.shutting_down = world.now() + timedelta(seconds=delay_s)
        machine.by_ec2 = not user
        machine.terminated = machine.shutting_down + timedelta(seconds=world.chance.between(2, 30))
        world.machine_changed(machine, "shutting-down", machine.shutting_down)
        world.machine_changed(machine, "terminated", machine.terminated)

    def look(self, job: Job, now: datetime) -> Tick:
        self._trouble()
        seen = tuple(found.seen for found in self._shown() if found.job == job.id)
        needed = prices_needed(job)
        spans = self._world.market.kept_history(needed, now) if needed else {}
        return Tick.model_construct(job=job.id, instances=seen, seen_at=now, complete=True, prices=spans)

    def walk(self) -> Iterator[Found]:
        self._trouble()
        yield from self._shown()

    def _shown(self) -> Iterator[Found]:
        now = self._world.now()
        for machine in self._world.visible_machines():
            if machine.visible > now or (machine.alive and self._world.chance.hits("omitted")):
                continue
            stale = now - timedelta(seconds=self._world.stale_s)
            state = "running"
            if machine.terminated is not None and machine.terminated <= stale:
                if now - machine.terminated > FORGOTTEN_AFTER:
                    continue
                state = "terminated"
            elif machine.shutting_down is not None and machine.shutting_down <= stale:
                state = "shutting-down"
            kind, _, zone = machine.pool.partition("/")
            ended = machine.shutting_down if state == "terminated" and not machine.by_ec2 else None
            seen = SeenInstance.model_construct(
                id=machine.id, attempt=machine.attempt, state=state, instance_type=kind, zone=zone,
                started_at=machine.launched, ended_at=ended,
            )  # fmt: skip
            yield Found.model_construct(job=machine.job, seen=seen, lease=machine.lease)

    def _trouble(self) -> None:
        self._world.call()
        if self._world.chance.hits("throttled") or self._world.chance.hits("ec2_error"):
            raise ConnectionError("EC2")


class Results:
    """See ports.Results: what trainers leave in the bucket. It is there at once, whatever becomes of the messages."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.finished: dict[str, Finished] = {}

    def result(self, job: str) -> Finished | None:
        self._world.call()
        if self._world.chance.hits("results_error"):
            raise ConnectionError("bucket")
        return self.finished.get(job) if self._world.switches.results else None


class Schedules:
    """EventBridge Scheduler with a target that is EC2 itself: precise to the minute."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.due: dict[str, datetime] = {}

    def put(self, instance: str, moment: datetime) -> None:
        self._world.call()
        if self._world.chance.hits("schedule_error"):
            raise ConnectionError("Scheduler")
        self.due[instance] = moment
        self._world.schedule_fires(instance, moment + timedelta(seconds=self._world.chance.between(0, 60)))

    def delete(self, instance: str) -> None:
        self._world.call()
        self.due.pop(instance, None)


class Table:
    """See ports.JobTable: conditional writes, one transaction with the month's ledgers."""

    def __init__(self, world: World, cap: Decimal) -> None:
        self._world = world
        self.limit = cap
        self.alerts: dict[str, MonthAlerts] = {}
        self.jobs: dict[str, Job] = {}
        self.committed: dict[str, Decimal] = {}
        self.settled: dict[str, Decimal] = {}
        self._live: dict[str, Job] = {}
        self.most_committed = Decimal(0)

    def load(self, id: str) -> Job | None:
        self._trouble()
        return self.jobs.get(id)

    def save(self, job: Job, had_version: int, moved: list[Entry], enforce: bool) -> None:
        self._trouble()
        had = self.jobs.get(job.id)
        if (had.version if had else 0) != had_version:
            raise Conflict
        if enforce and self._world.switches.reservation:
            for entry in moved:
                held = self.committed.get(entry.month, Decimal(0))
                if entry.committed > 0 and held + entry.committed > self.limit:
                    raise NoRoom(entry.month, max(Decimal(0), self.limit - held), self.limit)
        for entry in moved:
            self.committed[entry.month] = self.committed.get(entry.month, Decimal(0)) + entry.committed
            self.settled[entry.month] = self.settled.get(entry.month, Decimal(0)) + entry.settled
            self.most_committed = max(self.most_committed, self.committed[entry.month])
        self.jobs[job.id] = job
        if job.settled:
            self._live.pop(job.id, None)
        else:
            self._live[job.id] = job
        self._world.saved(had, job)
        self._world.call()

    def ledger(self, month: str) -> Ledger:
        self._trouble()
        nothing = Decimal(0)
        return Ledger(
            month=month, committed=self.committed.get(month, nothing), settled=self.settled.get(month, nothing)
        )

    def cap(self) -> Decimal:
        return self.limit

    def month_alerts(self, month: str) -> MonthAlerts:
        self._trouble()
        return self.alerts.get(month, MonthAlerts(month=month))

    def save_month_alerts(self, alerts: MonthAlerts) -> None:
        self._trouble()
        self.alerts[alerts.month] = alerts
        self._world.month_saved(alerts.month)
        self._world.call()

    def live(self) -> Iterator[Job]:
        self._trouble()
        return iter(list(self._live.values()))

    def _trouble(self) -> None:
        self._world.call()
        if self._world.table_is_down() or self._world.chance.hits("table_error"):
            raise ConnectionError("table")


class Slack:
    """A WebClient's calls. A repeated client_msg_id is the message that is there already."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.posted: dict[str, str] = {}
        self.texts: list[tuple[str, str]] = []

    def chat_postMessage(self, **asked: Any) -> dict[str, str]:  # noqa: N802
        self._trouble(asked["channel"])
        id = asked["client_msg_id"]
        if id not in self.posted:
            self.posted[id] = f"{len(self.posted)}.0"
            self.texts.append((asked.get("thread_ts") or "", asked["text"]))
        self._world.call()
        return {"ts": self.posted[id], "channel": asked["channel"]}

    def chat_update(self, **asked: Any) -> None:
        self._trouble(asked["channel"])
        self._world.call()

    def chat_postEphemeral(self, **asked: Any) -> None:  # noqa: N802
        self._trouble(asked["channel"])
        self._world.call()

    def _trouble(self, channel: str) -> None:
        self._world.call()
        if self._world.slack_is_down() or self._world.chance.hits("slack_error"):
            raise SlackApiError("down", {"error": "internal_error"})  # type: ignore[arg-type]
        if channel == "C" and self._world.channel_is_closed():
            raise SlackApiError("closed", {"error": "not_in_channel"})  # type: ignore[arg-type]
