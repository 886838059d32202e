"""The channel's side of a simulated deployment: the table's stream, the retry queue and the real `Telling`, which may
die at every call, hear twice, hear late."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bot.told import Told
from functions.telling import Outage, Telling
from jobs.job import Job
from jobs.team import MonthAlerts

if TYPE_CHECKING:
    from tests.simulation.world import World

BROKEN_S = 30.0
BUDGET_CHANNEL = "C-BUDGET"


class Notify:
    """See telling.Books and telling.Retries: it is both."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._told: dict[str, Told] = {}
        self._outage: Outage | None = None
        self._waiting: set[str] = set()
        client: Any = world.slack
        self._telling = Telling(
            self, self, client, world.now, lambda: 0.0, BUDGET_CHANNEL, "en", lambda: None, world.chance.die
        )

    # The stream, and the queue

    def changed(self, key: str) -> None:
        """The table's stream says so, soon; the record is delivered again when the function dies of it."""
        if key not in self._waiting:
            self._waiting.add(key)
            self._world.later(self._world.chance.between(0.2, 2), lambda: self._on_change(key))
        if self._world.chance.hits("doubled"):
            self._world.later(self._world.chance.between(2, 300), lambda: self._on_change(key))

    def _on_change(self, key: str) -> None:
        back = self._world.outage_ends()
        if back is not None:
            self._world.later(back - self._world.clock + 1, lambda: self._on_change(key))
            return
        self._waiting.discard(key)

        def handle() -> None:
            try:
                self._telling.bring(key)
            except ConnectionError:
                self.send(key, self._world.now() + timedelta(seconds=BROKEN_S), BROKEN_S)

        if not self._world.guarded(handle):
            self._world.later(self._world.chance.between(1, 60), lambda: self._on_change(key))

    def send(self, key: str, due: datetime, delay_s: float) -> None:
        self._world.call()
        self._world.later(delay_s + self._world.chance.between(0, 3), lambda: self._on_retry(key, due))
        if self._world.chance.hits("doubled"):
            self._world.later(delay_s + self._world.chance.between(0, 300), lambda: self._on_retry(key, due))
        self._world.call()

    def _on_retry(self, key: str, due: datetime) -> None:
        back = self._world.outage_ends()
        wait = 0.0 if back is None else back - self._world.clock
        if back is not None or not self._world.guarded(lambda: self._telling.bring(key, due)):
            # The message's visibility time-out.
            self._world.later(wait + self._world.chance.between(30, 360), lambda: self._on_retry(key, due))

    # The table

    def load(self, id: str) -> Job | None:
        return self._world.table.load(id)

    def month_alerts(self, month: str) -> MonthAlerts:
        return self._world.table.month_alerts(month)

    def told(self, key: str) -> Told:
        self._world.call()
        return self._told.get(key, Told())

    def save_told(self, key: str, told: Told) -> None:
        self._world.call()
        self._told[key] = told
        self._world.call()

    def outage(self) -> Outage | None:
        self._world.call()
        return self._outage

    def save_outage(self, outage: Outage | None, had: Outage | None) -> bool:
        self._world.call()
        if self._outage != had:
            return False
        self._outage = outage
        self._world.call()
        return True

    def close(self, channel: str, code: str) -> None:
        self._world.call()
