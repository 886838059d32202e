"""What running costs. Amounts are `Decimal`, in the currency that the region bills in (USD, in the China partition
CNY); times in UTC; durations in seconds.

Rules and their sources:
- Spot instances are billed per second at the spot price in effect, 60 seconds at least
  (AWS whitepaper "How Spot Instances Work"; EC2 User Guide "Billing for interrupted Spot Instances").
- EC2 may not charge an instance that it interrupts in its first hour. We never assume that before the bill.
- The spot price does not exceed the on-demand price unless MaxPrice is set (same whitepaper): the worst price.
- A spot price of 0 or less is no price: catalogues have had them. Unknown counts as on demand, here too.
- The gp3 volume and the public IPv4 address are charged whatever happens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from decimal import ROUND_UP, Decimal
from itertools import pairwise
from typing import Literal

from jobs.model import Model, Usd, UtcTime

Currency = Literal["USD", "CNY"]
SYMBOLS: dict[Currency, str] = {"USD": "$", "CNY": "¥"}
ZERO = Decimal(0)
SMALLEST = Decimal("0.0001")
HOUR = Decimal(3600)
MINIMUM_BILLED_S = 60
_PRECISE = Decimal("0.0000000001")


def stored(amount: Decimal) -> Usd:
    """`amount` rounded up to $0.0001: the form in which amounts are kept."""
    return amount.quantize(SMALLEST, rounding=ROUND_UP)


def in_china(region: str) -> bool:
    """Whether a region is of the China partition, `aws-cn`."""
    return region.startswith("cn-")


def currency_of(region: str) -> Currency:
    """The currency that a region bills in: the China partition bills in yuan, all others in USD."""
    return "CNY" if in_china(region) else "USD"


def shown(amount: Decimal, currency: Currency) -> str:
    """`amount` for people, two to four digits after the point, rounded up: `$1.50`, `$0.0042`, `¥3.20`."""
    whole, _, rest = f"{abs(stored(amount)):f}".partition(".")
    sign = "-" if amount < 0 else ""
    return f"{sign}{SYMBOLS[currency]}{whole}.{rest.rstrip('0').ljust(2, '0')}"


class PricePoint(Model):
    """From `at` on, the spot price was `usd_per_hour`, until the next point. 0 or less: it is unknown."""

    at: UtcTime
    usd_per_hour: Usd

    def charged(self, ceiling: Usd) -> Usd:
        """What to count per hour: the on-demand price `ceiling` where the spot price is unknown."""
        return self.usd_per_hour if self.usd_per_hour > ZERO else ceiling


class Rates(Model):
    """Per hour of one instance: the on-demand price of its type, its volume, its public IPv4 address."""

    on_demand: Usd
    volume: Usd
    address: Usd
    currency: Currency = "USD"

    @property
    def worst(self) -> Usd:
        """The most an hour can cost."""
        return self.on_demand + self.volume + self.address

    @property
    def fixed(self) -> Usd:
        """What is charged whatever the spot price is."""
        return self.volume + self.address


def seconds(span: timedelta) -> Decimal:
    """Exact seconds of a time span."""
    return Decimal(span // timedelta(microseconds=1)) / 1_000_000


def billed_until(start: datetime, end: datetime) -> datetime:
    """The moment up to which an instance that lived from `start` to `end` is billed: whole seconds, 60 at least."""
    whole = math.ceil(seconds(max(end, start) - start))
    return start + timedelta(seconds=max(whole, MINIMUM_BILLED_S))


def spot_usd(
    points: Sequence[PricePoint], start: datetime, end: datetime, known_until: datetime, ceiling: Usd
) -> Decimal:
    """The exact integral of the spot price over [start, end), in USD.

    Where no price is known (before the first point, after `known_until`, at 0 or less) the on-demand price `ceiling`
    counts, so that the result is never below the bill. `points` are in order of time.
    """
    cuts: list[tuple[datetime, Decimal]] = [(start, ceiling)]
    for point in points:
        if point.at <= start:
            cuts[0] = (start, point.charged(ceiling))
        elif point.at < end:
            cuts.append((point.at, point.charged(ceiling)))
    known = max(start, min(known_until, end))
    cuts = [cut for cut in cuts if cut[0] < known] + [(known, ceiling), (end, ZERO)]
    total = ZERO
    for (since, price), (until, _) in pairwise(cuts):
        total += price * seconds(until - since)
    return total / HOUR


def bill(points: Sequence[PricePoint], start: datetime, end: datetime, known_until: datetime, rates: Rates) -> Decimal:
    """What an instance that lived from `start` to `end` costs, in USD: spot price, volume and address."""
    last = billed_until(start, end)
    spot = spot_usd(points, start, last, known_until, rates.on_demand)
    return (spot + rates.fixed * seconds(last - start) / HOUR).quantize(_PRECISE, rounding=ROUND_UP)


def bill_by_month(
    points: Sequence[PricePoint], start: datetime, end: datetime, known_until: datetime, rates: Rates
) -> dict[str, Decimal]:
    """`bill`, split at each 00:00 UTC of a month's first day; keys like `2026-12`. The parts add up to the whole."""
    last = billed_until(start, end)
    parts: dict[str, Decimal] = {}
    since = start
    while since < last:
        until = min(next_month(since), last)
        spot = spot_usd(points, since, until, known_until, rates.on_demand)
        cost = spot + rates.fixed * seconds(until - since) / HOUR
        parts[month_of(since)] = cost.quantize(_PRECISE, rounding=ROUND_UP)
        since = until
    return parts


def month_of(moment: datetime) -> str:
    """The calendar month (UTC) of a moment: `2026-12`."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m")


def next_month(moment: datetime) -> datetime:
    """00:00 UTC of the first day of the month after `moment`."""
    utc = moment.astimezone(timezone.utc)
    year, month = (utc.year + 1, 1) if utc.month == 12 else (utc.year, utc.month + 1)
    return datetime(year, month, 1, tzinfo=timezone.utc)
