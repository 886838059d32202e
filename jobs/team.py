"""The team's month: what it may spend, what is held of it, by whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from jobs.job import Job
from jobs.model import Model, Usd, UtcTime
from jobs.money import ZERO, Currency, month_of, next_month, seconds, stored
from jobs.shares import Share, newly_reached


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
    """The month as people see it. `free` is what new runs can still reserve."""

    month: str
    currency: Currency
    cap: Usd
    spent: Usd
    reserved: Usd
    free: Usd
    people: dict[str, Usd]
    forecast: Usd


def month_report(ledger: Ledger, cap: Usd, live: Iterable[Job], now: datetime, currency: Currency) -> Month:
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
        month=ledger.month,
        currency=currency,
        cap=cap,
        spent=stored(spent),
        reserved=max(ZERO, stored(ledger.committed - spent)),
        free=max(ZERO, cap - ledger.committed),
        people={k: stored(v) for k, v in people.items() if v},
        forecast=stored(forecast),
    )


class MonthAlert(Model):
    """A share of the team's month was reached. `job`: the run in whose thread it is told, if there is one."""

    percent: Share
    at: UtcTime
    spent: Usd
    cap: Usd
    currency: Currency
    job: str | None


class MonthAlerts(Model):
    """What was said of a month. Each share once, ever."""

    month: str
    alerts: tuple[MonthAlert, ...] = ()


ALMOST_ALL = Decimal("0.995")
"""Margins keep a month's spend a little below its cap: this share of it counts as all."""


def with_month_alert(known: MonthAlerts, report: Month, live: Iterable[Job], now: datetime) -> MonthAlerts:
    """`known` with an alert for the share of the month that is newly reached; of several only the highest.

    It is told in the thread of the live run that has spent the most this month."""
    told = max((alert.percent for alert in known.alerts), default=0)
    if report.cap <= 0 or report.spent <= 0:
        return known
    due = newly_reached(report.spent, report.cap, told, report.spent >= report.cap * ALMOST_ALL)
    if due is None:
        return known
    spenders = [job for job in live if not job.state.is_end and job.spent > 0]
    most = max(spenders, key=lambda job: (job.spent, job.id), default=None)
    alert = MonthAlert(
        percent=due,
        at=now,
        spent=report.spent,
        cap=report.cap,
        currency=report.currency,
        job=most.id if most else None,
    )
    changed: MonthAlerts = known.with_(alerts=(*known.alerts, alert))
    return changed
