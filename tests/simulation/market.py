"""The simulated spot market: the truth about prices, and what is shown of it."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING

from jobs import money
from jobs.messages import PriceSpan
from jobs.money import PricePoint

if TYPE_CHECKING:
    from tests.simulation.world import World

START = datetime(2026, 11, 28, 0, 0, tzinfo=timezone.utc)
ON_DEMAND = {"g4dn.xlarge": Decimal("0.526"), "g5.xlarge": Decimal("1.006")}
ZONES = ("us-east-1a", "us-east-1b")
VOLUME, ADDRESS = Decimal("0.0120"), Decimal("0.0050")


def at(seconds: float) -> datetime:
    """The moment that many seconds after the start, in whole milliseconds."""
    return START + timedelta(milliseconds=round(seconds * 1000))


class Market:
    """Prices per pool for the whole simulated time: they move, and spike to the on-demand price."""

    def __init__(self, world: World, length_s: float) -> None:
        self._world = world
        die = world.chance.die
        self.points: dict[str, list[PricePoint]] = {}
        for kind, ceiling in ON_DEMAND.items():
            for zone in ZONES:
                moment, points = -7200.0, []
                while moment < length_s:
                    share = Decimal(1) if die.random() < 0.12 else Decimal(str(round(die.uniform(0.25, 0.6), 3)))
                    points.append(PricePoint(at=at(moment), usd_per_hour=(ceiling * share).quantize(money.SMALLEST)))
                    moment += die.uniform(600, 20_000)
                self.points[f"{kind}/{zone}"] = points
        self._unpriced = {
            (name, p.at) for name, points in self.points.items() for p in points if world.chance.hits("no_price")
        }
        self._shown = {name: self.shown(name) for name in self.points}
        self._times = {name: [p.at for p in points] for name, points in self.points.items()}

    def shown(self, pool: str) -> list[PricePoint]:
        """Every price as the market shows it, which may be none at all where there truly is one."""
        return [p.with_(usd_per_hour=Decimal(0)) if (pool, p.at) in self._unpriced else p for p in self.points[pool]]

    def price(self, pool: str, moment: datetime) -> Decimal:
        return self.points[pool][bisect_right(self._times[pool], moment) - 1].usd_per_hour

    def span(self, pool: str, since: datetime, until: datetime) -> PriceSpan:
        times = self._times[pool]
        first, last = bisect_right(times, since) - 1, bisect_right(times, until)
        return PriceSpan.model_construct(since=since, until=until, points=tuple(self._shown[pool][first:last]))

    def kept_history(self, pools: dict[str, datetime], now: datetime) -> dict[str, PriceSpan]:
        self._world.call()
        if self._world.chance.hits("market_error"):
            raise ConnectionError("market")
        until = now - timedelta(seconds=self._world.price_lag_s)
        return {name: self.span(name, since, max(since, until)) for name, since in pools.items()}
