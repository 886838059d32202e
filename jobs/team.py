"""The team's month: what it may spend, what is held of it, by whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from jobs.job import Job
from jobs.model import Model, Usd
from jobs.money import ZERO, month_of, next_month, seconds, stored


class Ledger(Model):
    """A month's books as kept in the table: the sums over all jobs, moved in one transaction with each job.

    `committed`: spent and reserved together. `settled`: spent by jobs that are over; `people`: the same by person."""

    month: str
    committed: Usd = Decimal(0)
    settled: Usd = Decimal(0)
    people: dict[str, Usd] = {}


class Entry(Model):
    """What one save of a job moves in one month's ledger."""

    month: str
    committed: Usd
    settled: Usd


def entries(old: Job | None, new: Job) -> list[Entry]:
    """How the ledgers change when `new` replaces `old` in the table; none if they do not."""
    had, has = (old.committed if old else {}), new.committed
    had_settled = had if old and old.state.is_end else {}
    has_settled = has if new.state.is_end else {}
    moved = []
    for month in sorted({*had, *has}):
        entry = Entry(
            month=month,
            committed=has.get(month, ZERO) - had.get(month, ZERO),
            settled=has_settled.get(month, ZERO) - had_settled.get(month, ZERO),
        )
        if entry.committed or entry.settled:
            moved.append(entry)
    return moved


class Month(Model):
    """The month as people see it (USD). `free` is what new runs can still reserve."""

    month: str
    cap: Usd
    spent: Usd
    reserved: Usd
    free: Usd
    people: dict[str, Usd]
    forecast: Usd


def month_report(ledger: Ledger, cap: Usd, live: Iterable[Job], now: datetime) -> Month:
    """The ledger and what the live jobs have spent by now."""
    people = dict(ledger.people)
    spent = ledger.settled
    for job in live:
        if job.state.is_end:
            continue
        amount = job.usd_by_month(now).get(ledger.month, ZERO)
        people[job.owner.id] = people.get(job.owner.id, ZERO) + amount
        spent += amount
    start = datetime.fromisoformat(f"{ledger.month}-01T00:00:00+00:00")
    whole, gone = seconds(next_month(start) - start), seconds(now - start)
    forecast = spent * whole / gone if month_of(now) == ledger.month and gone > 0 else spent
    return Month(
        month=ledger.month, cap=cap, spent=stored(spent), reserved=max(ZERO, stored(ledger.committed - spent)),
        free=max(ZERO, cap - ledger.committed), people={k: stored(v) for k, v in people.items() if v},
        forecast=stored(forecast),
    )  # fmt: skip
