"""In memory: what functions/telling.py reads and writes, and its retry queue on a clock of the test's."""

from __future__ import annotations

import heapq
from collections import Counter
from datetime import datetime, timedelta

from bot.told import Told
from functions.telling import Outage
from jobs.job import Job
from jobs.team import MonthAlerts
from tests.samples import NOW


class Books:
    """See telling.Books."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.tolds: dict[str, Told] = {}
        self.months: dict[str, MonthAlerts] = {}
        self.closed: dict[str, str] = {}
        self._outage: Outage | None = None

    def load(self, id: str) -> Job | None:
        return self.jobs.get(id)

    def month_alerts(self, month: str) -> MonthAlerts:
        return self.months.get(month, MonthAlerts(month=month))

    def told(self, key: str) -> Told:
        return self.tolds.get(key, Told())

    def save_told(self, key: str, told: Told) -> None:
        self.tolds[key] = told

    def outage(self) -> Outage | None:
        return self._outage

    def save_outage(self, outage: Outage | None, had: Outage | None) -> bool:
        if self._outage != had:
            return False
        self._outage = outage
        return True

    def close(self, channel: str, code: str) -> None:
        if code:
            self.closed[channel] = code
        else:
            self.closed.pop(channel, None)


class RetryQueue:
    """See telling.Retries."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, str, datetime]] = []
        self.now = NOW
        self.sent = 0
        self.most_pending = 0

    def send(self, key: str, due: datetime, delay_s: float) -> None:
        self.sent += 1
        heapq.heappush(self._heap, (self.now + timedelta(seconds=delay_s), self.sent, key, due))
        pending = Counter(item[2] for item in self._heap)
        self.most_pending = max(self.most_pending, *pending.values())

    def due(self) -> list[tuple[str, datetime]]:
        """What has come by now: key and when it was due."""
        come = []
        while self._heap and self._heap[0][0] <= self.now:
            _, _, key, due = heapq.heappop(self._heap)
            come.append((key, due))
        return come
