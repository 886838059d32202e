"""One simulated deployment: a virtual clock, the real core and the real effects, a made-up outside, and faults."""

from __future__ import annotations

import heapq
import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.told import Told
from functions.mailbox import deliver
from functions.month import note_month
from functions.ports import Conflict
from functions.watch import watch
from jobs.job import Job
from jobs.messages import (
    AnyMail,
    AnyMessage,
    ExtendRequested,
    InstanceChanged,
    Person,
    StopRequested,
    Submit,
    Terms,
)
from jobs.recipes.ernie_cls import RECIPE as ERNIE_CLS
from jobs.spec import JobSpec, Limits
from tests.simulation.chance import Chance, Likelihoods, Switches
from tests.simulation.host import Host, Work
from tests.simulation.market import Market, at
from tests.simulation.notify import Notify
from tests.simulation.outside import Crash, Ec2, Machine, Results, Schedules, Slack, Table

logging.disable(logging.CRITICAL)

DAY = 86_400.0
PARAMS = {p.name: p.default for p in ERNIE_CLS.params}
RETRIES = 100
WATCH_S = 60


@dataclass
class World:
    """`jobs` runs submitted over the first hours; run() until all are over and settled."""

    seed: int
    jobs: int
    chance: Chance = field(init=False)
    switches: Switches = field(default_factory=Switches)
    likelihoods: Likelihoods = field(default_factory=Likelihoods)
    story: list[str] | None = None
    """Filled with what happens, if given."""
    quiet: bool = False
    price_lag_s: float = 300.0

    def __post_init__(self) -> None:
        self.chance = Chance(
            self.seed, self.likelihoods, self.quiet, tell=self.note if self.story is not None else None
        )
        self.clock = 0.0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        die = self.chance.die
        # Half of the worlds live across the end of a month (START is 28 November).
        self.origin = die.choice((0.0, 3 * DAY - 3 * 3600))
        self.stale_s = die.uniform(0, 60)
        self.market = Market(self, self.origin + 3 * DAY)
        self.ec2, self.schedules, self.slack = Ec2(self), Schedules(self), Slack(self)
        self.results = Results(self)
        budgets = [Decimal(str(round(die.uniform(0.04, 1.2), 2))) for _ in range(self.jobs)]
        # Tight: most worlds have no room for every run.
        cap = (sum(budgets, Decimal(0)) * Decimal(str(round(die.uniform(0.12, 0.7), 2)))).quantize(Decimal("0.01"))
        self.table = Table(self, cap)
        self._mail: dict[str, deque[tuple[AnyMessage, int]]] = {}
        self._busy: set[str] = set()
        self.notify = Notify(self)
        self.host = Host(self)
        self.spent_without_instance_usd = 0.0
        self.alive: dict[str, Machine] = {}
        self._recent: deque[Machine] = deque()
        self._down: list[tuple[float, float]] = []
        self._table_down: list[tuple[float, float]] = []
        self._slack_down: list[tuple[float, float]] = []
        self._channel_closed: list[tuple[float, float]] = []
        self._crashing = False
        self.clock = self.origin
        if not self.quiet:
            self._outages()
        for number, budget in enumerate(budgets):
            self.later(die.uniform(0, 4 * 3600), lambda n=number, b=budget: self._submit(n, b))
        self.later(1, self._watch)

    # The clock

    def now(self) -> datetime:
        return at(self.clock)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._heap, (self.clock + seconds, self._count, action))

    def run(self, longest_s: float = 2.5 * DAY) -> None:
        """Until everything is over, or `longest_s`."""
        end = self.origin + longest_s
        while self._heap and self._heap[0][0] < end:
            self.clock, _, action = heapq.heappop(self._heap)
            action()

    def over(self) -> bool:
        """Every run that was asked for is at its end and settled, and no machine is alive."""
        jobs = self.table.jobs
        return len(jobs) == self.jobs and all(j.settled for j in jobs.values()) and not self.alive

    # Faults

    def call(self) -> None:
        """A call to the outside begins or ends: the function that makes it may die here."""
        if self._crashing and self.chance.hits("crash"):
            raise Crash

    def _outages(self) -> None:
        die = self.chance.die
        if die.random() < 0.35:
            begin = self.origin + die.uniform(0, 6 * 3600)
            self._down.append((begin, begin + die.uniform(1800, 5 * 3600)))
            self.chance.injected += 1
        for outages, share in ((self._table_down, 0.3), (self._slack_down, 0.3), (self._channel_closed, 0.2)):
            if die.random() < share:
                begin = self.origin + die.uniform(0, 6 * 3600)
                outages.append((begin, begin + die.uniform(120, 3600)))
                self.chance.injected += 1

    def outage_ends(self) -> float | None:
        """When the control plane comes back, if it is down."""
        return next((end for begin, end in self._down if begin <= self.clock < end), None)

    def table_is_down(self) -> bool:
        return any(begin <= self.clock < end for begin, end in self._table_down)

    def slack_is_down(self) -> bool:
        return any(begin <= self.clock < end for begin, end in self._slack_down)

    def channel_is_closed(self) -> bool:
        """Somebody removed the app from the channel."""
        return any(begin <= self.clock < end for begin, end in self._channel_closed)

    def guarded(self, action: Callable[[], Any]) -> bool:
        """Run a function of ours; False if it died or failed of a fault. Any other error is a bug, and raised."""
        self._crashing = True
        try:
            action()
        except (Crash, Conflict, ConnectionError):
            return False
        finally:
            self._crashing = False
        return True

    def note(self, line: str) -> None:
        if self.story is not None:
            self.story.append(f"{self.now():%d %H:%M:%S} {line}")

    # The mailbox: one message at a time per job; lost, doubled, late

    def send(self, *messages: AnyMail) -> None:
        for message in messages:
            if message.kind == "month_spent":
                self.later(self.chance.between(0.1, 5), lambda m=message.month: self._note_month(m))
                continue
            if self.chance.hits("lost") and message.kind != "submit":
                continue
            delay = self.chance.between(0.1, 2)
            if self.chance.hits("late"):
                delay += self.chance.between(30, 1800)
            self.later(delay, lambda m=message: self._arrive(m, 0))
            if self.chance.hits("doubled"):
                self.later(delay + self.chance.between(0.1, 900), lambda m=message: self._arrive(m, 0))

    def _arrive(self, message: AnyMessage, tries: int) -> None:
        self._mail.setdefault(message.job, deque()).append((message, tries))
        self._next(message.job)

    def _next(self, job: str) -> None:
        if job in self._busy or not self._mail.get(job):
            return
        back = self.outage_ends()
        self._busy.add(job)
        self.later(0.2 if back is None else back - self.clock + self.chance.between(0, 30), lambda: self._deliver(job))

    def _deliver(self, job: str) -> None:
        self._busy.discard(job)
        if self.outage_ends() is not None:
            self._next(job)
            return
        message, tries = self._mail[job].popleft()
        done = self.guarded(lambda: deliver(message, self.table, self._cloud, self.schedules, self.results, self.now))  # type: ignore[arg-type]
        if not done:
            self.ec2.doubt(job)
        if not done and tries < RETRIES:
            # The group waits for its message's visibility time-out, so that order is kept.
            self._mail[job].appendleft((message, tries + 1))
            self._busy.add(job)
            self.later(self.chance.between(30, 360), lambda: (self._busy.discard(job), self._next(job)))
            return
        self._next(job)

    @property
    def _cloud(self) -> Any:
        return self.ec2 if self.switches.step_terminates else _NeverTerminates(self.ec2)

    # Our other functions

    def _watch(self) -> None:
        if not self.over():
            self.later(WATCH_S, self._watch)
        if self.outage_ends() is not None:
            return
        cloud: Any = self.ec2 if self.switches.sweep else _NeverTerminates(self.ec2)
        self.guarded(lambda: watch(self.table, cloud, self.market, self, self.now()))  # type: ignore[arg-type]

    def saved(self, had: Job | None, job: Job) -> None:
        """The table's stream. Only what the channel must notice is worth a simulated call to Slack."""
        if self.ec2.refused_for_certain(job):
            self.spent_without_instance_usd += float(job.spent)
        if had is None or had.state != job.state:
            self.note(f"{job.id}: {job.state.value} ({job.why.code}), spent {job.spent}")
        if had is None or had.state != job.state or had.alerts != job.alerts or had.replies != job.replies:
            self.notify.changed(f"JOB#{job.id}")

    def _note_month(self, month: str) -> None:
        if self.outage_ends() is None:
            self.guarded(lambda: note_month(month, self.table, self.now(), "USD"))  # type: ignore[arg-type]

    def month_saved(self, month: str) -> None:
        """The table's stream."""
        self.notify.changed(f"MONTH#{month}")

    def told(self, id: str) -> Told:
        """What Slack has of a job, whatever happens just now."""
        return self.notify.told(f"JOB#{id}")

    # People

    def _submit(self, number: int, budget: Decimal) -> None:
        die = self.chance.die
        id = f"j{self.seed % 1000:03d}{number:04d}"
        time_s = int(die.choice((900, 1800, 3600, 5400, 9000)))
        self.host.work[id] = Work(needs_s=die.uniform(300, 6000))
        limits = Limits.model_construct(budget=budget, time_s=time_s)
        spec = JobSpec.model_construct(recipe="ernie-cls", params=PARAMS, limits=limits, resume=None)
        owner = Person(id=f"U{number % 4}")
        self.send(Submit.model_construct(kind="submit", job=id, spec=spec, owner=owner, channel="C", language="en",
                                         command="/train", terms=Terms()))  # fmt: skip
        if die.random() < 0.08:
            self.later(die.uniform(1, 4000), lambda: self.send(StopRequested(job=id, by=owner)))
        if die.random() < 0.08:
            extend = ExtendRequested(job=id, request="r1", by=owner, budget=Decimal("0.20"), time_s=1200)
            self.later(die.uniform(60, 4000), lambda: self.send(extend))

    # EC2's events

    def machine_changed(self, machine: Machine, change: Any, moment: datetime) -> None:
        self.note(f"{machine.job}: {machine.id} will be {change} at {moment:%H:%M:%S}, lease {machine.lease:%H:%M:%S}")
        delay = max(0.0, (moment - self.now()).total_seconds())
        if change == "terminated":
            self.later(delay, lambda: self._gone(machine))
        message = InstanceChanged(
            job=machine.job, instance=machine.id, attempt=machine.attempt, change=change, at=moment
        )
        way = self.chance.between(10, 400) if self.chance.hits("slow_event") else self.chance.between(0.5, 5)
        self.later(delay + way, lambda: self.send(message))

    def _gone(self, machine: Machine) -> None:
        self.alive.pop(machine.id, None)
        self._recent.append(machine)

    def visible_machines(self) -> Iterator[Machine]:
        """Machines that EC2 may still show."""
        limit = self.now() - timedelta(hours=2)
        while self._recent and self._recent[0].terminated is not None and self._recent[0].terminated < limit:
            self._recent.popleft()
        yield from self.alive.values()
        yield from self._recent

    def schedule_fires(self, instance: str, moment: datetime) -> None:
        def fire() -> None:
            due = self.schedules.due.get(instance)
            if self.switches.schedule and due is not None and due <= self.now():
                self.schedules.due.pop(instance, None)
                self.ec2.power_off(instance, 0, user=True)

        self.later(max(0.0, (moment - self.now()).total_seconds()), fire)


class _NeverTerminates:
    """EC2 for a function whose orders to terminate are switched off."""

    def __init__(self, ec2: Ec2) -> None:
        self._ec2 = ec2

    def __getattr__(self, name: str) -> Any:
        return (lambda _: None) if name == "terminate" else getattr(self._ec2, name)
