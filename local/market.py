"""The local spot market: a price per pool that moves, never above the on-demand price, and can be set."""

from __future__ import annotations

import hashlib
import threading
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal

from functions.aws.catalogue import US_EAST_1
from jobs.money import PricePoint

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
MOVES_EVERY = timedelta(minutes=3)
HISTORY = timedelta(days=1)


class Market:
    """Prices since a day before `start`. `on_demand` are USD per hour by instance type."""

    def __init__(self, start: datetime, on_demand: dict[str, Decimal] = US_EAST_1) -> None:
        self._on_demand = on_demand
        self._lock = threading.Lock()
        self._points = {
            (kind, zone): [PricePoint(at=start - HISTORY, usd_per_hour=self._drawn(kind, zone, start - HISTORY))]
            for kind in on_demand
            for zone in ZONES
        }
        self._fixed: dict[str, Decimal] = {}
        self.full: set[str] = set()
        """Zones without capacity."""

    def on_demand(self, kind: str) -> Decimal | None:
        return self._on_demand.get(kind)

    def fix(self, share: Decimal, at: datetime) -> None:
        """From `at` on every pool costs this share of its on-demand price."""
        with self._lock:
            for (kind, zone), points in self._points.items():
                self._extend(kind, zone, at)
                price = (self._on_demand[kind] * min(share, Decimal(1))).quantize(Decimal("0.0001"))
                points.append(PricePoint(at=at, usd_per_hour=price))
            self._fixed = dict.fromkeys(self._on_demand, share)

    def history(self, kinds: list[str], since: datetime, until: datetime) -> list[tuple[str, str, PricePoint]]:
        """As EC2 gives it: every change from `since` to `until`, and the last one before; newest first."""
        found = []
        with self._lock:
            for (kind, zone), points in self._points.items():
                if kind not in kinds:
                    continue
                self._extend(kind, zone, until)
                before = [p for p in points if p.at <= since]
                inside = [p for p in points if since < p.at <= until]
                found += [(kind, zone, point) for point in before[-1:] + inside]
        return sorted(found, key=lambda entry: entry[2].at, reverse=True)

    def _extend(self, kind: str, zone: str, until: datetime) -> None:
        points = self._points[(kind, zone)]
        while kind not in getattr(self, "_fixed", {}) and points[-1].at + MOVES_EVERY <= until:
            at = points[-1].at + MOVES_EVERY
            points.append(PricePoint(at=at, usd_per_hour=self._drawn(kind, zone, at)))

    def _drawn(self, kind: str, zone: str, at: datetime) -> Decimal:
        """A price between 28 % and 40 % of the on-demand price, the same for the same pool and time."""
        text = f"{kind}/{zone}/{int(at.timestamp()) // int(MOVES_EVERY.total_seconds())}"
        share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
        price = self._on_demand[kind] * (Decimal("0.28") + Decimal("0.12") * Decimal(str(round(share, 6))))
        return price.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)


def utc_now() -> datetime:
    return datetime.now(timezone.utc)
