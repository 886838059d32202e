"""What a simulated world must show at its end, whatever happened in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal

from jobs.job import State
from tests.simulation.world import World

GRACE = timedelta(seconds=90)
"""Shutting down at the lease's end: the guard's period, the clock's skew, the shutdown; the schedule's minute."""
ROUNDING = Decimal("0.0001")


@dataclass
class Outcome:
    """Sums and maxima over worlds. All but `jobs`, `seeds`, `faults_injected`, the ends and `over_usd` must be 0."""

    jobs: int = 0
    seeds: int = 0
    max_overshoot_usd: float = 0.0
    max_month_overshoot_usd: float = 0.0
    orphan_instance_seconds: float = 0.0
    unfinished_jobs: int = 0
    duplicate_alerts: int = 0
    missing_alerts: int = 0
    ledger_below_bill_usd: float = 0.0
    ledger_unexplained_usd: float = 0.0
    spent_without_instance_usd: float = 0.0
    launches_after_done: int = 0
    untold_ends: int = 0
    faults_injected: int = 0
    ends_without_evidence: int = 0
    succeeded: int = 0
    out_of_budget: int = 0
    out_of_time: int = 0
    refused: int = 0
    month_alerts: int = 0

    FAULTY = ("max_overshoot_usd", "max_month_overshoot_usd", "orphan_instance_seconds", "unfinished_jobs",
              "duplicate_alerts", "missing_alerts", "ledger_below_bill_usd", "ledger_unexplained_usd",
              "spent_without_instance_usd", "launches_after_done", "untold_ends")  # fmt: skip

    def faults(self) -> dict[str, float]:
        """What should be 0 and is not."""
        return {name: value for name, value in asdict(self).items() if name in self.FAULTY and value}

    def add(self, other: Outcome) -> None:
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name.startswith("max_") else mine + value)


def judge(world: World) -> Outcome:
    """Compare what the deployment believes with what truly was."""
    outcome = Outcome(jobs=world.jobs, seeds=1, faults_injected=world.chance.injected)
    outcome.spent_without_instance_usd = world.spent_without_instance_usd
    market, table = world.market, world.table
    bills: dict[str, Decimal] = {}
    known_bills: dict[str, Decimal] = {}
    months: dict[str, Decimal] = {}
    for machine in world.ec2.machines.values():
        job = table.jobs[machine.job]
        if machine.shutting_down is None:
            outcome.orphan_instance_seconds += (world.now() - machine.launched).total_seconds()
            machine.shutting_down = world.now()
        latest = max(machine.lease, machine.launched) + GRACE
        if job.ended_at is not None:
            latest = min(latest, max(job.ended_at, machine.launched) + GRACE)
        outcome.orphan_instance_seconds += max(0.0, (machine.shutting_down - latest).total_seconds())
        bills[machine.job] = bills.get(machine.job, Decimal(0)) + machine.bill(market)
        known_bills[machine.job] = known_bills.get(machine.job, Decimal(0)) + machine.bill_as_shown(market)
        for month, amount in machine.bill_by_month(market).items():
            months[month] = months.get(month, Decimal(0)) + amount
    for month, amount in months.items():
        over = float(amount - table.limit)
        outcome.max_month_overshoot_usd = max(outcome.max_month_overshoot_usd, over)
        below = float(amount - table.settled.get(month, Decimal(0)))
        outcome.ledger_below_bill_usd += below if below > 1e-9 else 0.0
    channel = [text for thread, text in world.slack.texts if not thread and "of the team's GPU budget" in text]
    expected = sum(len(alerts.alerts) for alerts in table.alerts.values())
    outcome.month_alerts = expected
    outcome.duplicate_alerts += max(0, len(channel) - expected)
    outcome.missing_alerts += max(0, expected - len(channel))
    outcome.unfinished_jobs = world.jobs - len(table.jobs)
    for job in table.jobs.values():
        bill = bills.get(job.id, Decimal(0))
        outcome.max_overshoot_usd = max(outcome.max_overshoot_usd, float(bill - job.spec.limits.budget))
        outcome.unfinished_jobs += not job.settled
        if job.id not in bills:
            outcome.spent_without_instance_usd += float(job.spent)
        outcome.launches_after_done += world.host.work[job.id].launches_after_done
        if bill - job.spent > Decimal("1e-9"):
            outcome.ledger_below_bill_usd += float(bill - job.spent)
        truth = world.ec2.machines
        vague = sum(
            a.instance is None
            or a.ended_at != truth[a.instance].shutting_down
            or a.started_at != truth[a.instance].launched
            for a in job.attempts
            if a.started_at
        )
        outcome.ends_without_evidence += vague
        explained = known_bills.get(job.id, Decimal(0))
        if not vague and job.spent - explained > ROUNDING:
            outcome.ledger_unexplained_usd += float(job.spent - explained)
        said = [name for name in world.told(job.id).said if name.startswith("alert")]
        posts = [text for _, text in world.slack.texts if f"budget of `{job.id}` is " in text]
        outcome.duplicate_alerts += len(said) - len(set(said)) + max(0, len(posts) - len(job.alerts))
        outcome.missing_alerts += sum(f"alert-{a.percent}" not in said for a in job.alerts)
        outcome.missing_alerts += max(0, len(job.alerts) - len(posts))
        outcome.untold_ends += "end" not in world.told(job.id).said and job.state is not State.REFUSED
        outcome.succeeded += job.state is State.SUCCEEDED
        outcome.out_of_budget += job.state is State.OUT_OF_BUDGET
        outcome.out_of_time += job.state is State.OUT_OF_TIME
        outcome.refused += job.state is State.REFUSED
    return outcome
