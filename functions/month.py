"""The team's month: its alerts, each once, ever. Reached through the mailbox, so that one message at a time decides."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from functions.ports import JobTable
from jobs.model import Usd
from jobs.money import Currency
from jobs.team import Ledger, MonthAlerts, month_report, with_month_alert


class Books(JobTable, Protocol):
    """The table, with the team's books."""

    def ledger(self, month: str) -> Ledger: ...

    def cap(self) -> Usd: ...

    def month_alerts(self, month: str) -> MonthAlerts: ...

    def save_month_alerts(self, alerts: MonthAlerts) -> None: ...


def note_month(month: str, table: Books, now: datetime, currency: Currency) -> None:
    """Write down the share of the month that is newly reached, if one is; the stream tells the channel."""
    live = list(table.live())
    known = table.month_alerts(month)
    report = month_report(table.ledger(month), table.cap(), live, now, currency)
    new = with_month_alert(known, report, live, now)
    if new != known:
        table.save_month_alerts(new)
