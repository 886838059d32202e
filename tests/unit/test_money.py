"""Spend: exact, never negative, monotone, never below the bill of a slow reference written independently."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import money
from jobs.money import PricePoint, Rates
from tests.samples import NOW, RATES, after

DOLLARS = st.decimals("0.0001", "0.526", places=4)


@st.composite
def markets(draw: st.DrawFn) -> list[PricePoint]:
    """Prices from an hour before NOW to two hours after, in order."""
    offsets = sorted(draw(st.sets(st.integers(-3600, 7200), min_size=1, max_size=12)))
    return [PricePoint(at=after(o), usd_per_hour=draw(DOLLARS)) for o in offsets]


def slow_bill(points: list[PricePoint], start: datetime, end: datetime, known: datetime, rates: Rates) -> Fraction:
    """Second by second, in exact fractions; the start and the points lie on whole seconds."""
    seconds = max(60, -((start - end) // timedelta(seconds=1)))
    total = Fraction(0)
    for number in range(seconds):
        moment = start + timedelta(seconds=number)
        price = Fraction(rates.on_demand)
        if moment < known:
            for point in points:
                if point.at <= moment:
                    price = Fraction(point.usd_per_hour)
        total += (price + Fraction(rates.volume) + Fraction(rates.address)) / 3600
    return total


@given(markets(), st.integers(0, 4000), st.integers(0, 5000))
def test_the_bill_is_that_of_the_slow_reference_and_never_below(
    points: list[PricePoint], lived: int, known_for: int
) -> None:
    fast = money.bill(points, NOW, after(lived), after(known_for), RATES)
    slow = slow_bill(points, NOW, after(lived), after(known_for), RATES)
    assert 0 <= Fraction(fast) - slow < Fraction(1, 10**9)


@given(markets(), st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 9000))
def test_it_only_grows(points: list[PricePoint], lived: int, more: int, known_for: int) -> None:
    now = money.bill(points, NOW, after(lived), after(known_for), RATES)
    later = money.bill(points, NOW, after(lived + more), after(known_for), RATES)
    assert 0 < now <= later


@given(markets(), st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 4000))
def test_knowing_more_prices_never_raises_it(points: list[PricePoint], lived: int, known: int, more: int) -> None:
    less_known = money.bill(points, NOW, after(lived), after(known), RATES)
    better_known = money.bill(points, NOW, after(lived), after(known + more), RATES)
    assert better_known <= less_known


@given(markets(), st.sampled_from(["0", "-0.01"]), st.integers(1, 9000))
def test_a_price_of_nothing_is_no_price(points: list[PricePoint], nothing: str, lived: int) -> None:
    """Where the market says 0 or less, the on-demand price counts."""
    broken = [p if i % 2 else p.with_(usd_per_hour=Decimal(nothing)) for i, p in enumerate(points)]
    unknown = [p if i % 2 else p.with_(usd_per_hour=RATES.on_demand) for i, p in enumerate(points)]
    for bill in (money.bill, money.bill_by_month):
        assert bill(broken, NOW, after(lived), after(9000), RATES) == bill(
            unknown, NOW, after(lived), after(9000), RATES
        )


def test_sixty_seconds_are_the_least() -> None:
    one, sixty = (money.bill((), NOW, after(s), NOW, RATES) for s in (1, 60))
    assert one == sixty == (RATES.worst / 60).quantize(Decimal("0.0000000001"), rounding="ROUND_UP")


def test_a_started_second_is_billed() -> None:
    assert money.billed_until(NOW, after(60.2)) == after(61)


@given(markets(), st.integers(0, 20_000))
def test_the_months_add_up(points: list[PricePoint], lived: int) -> None:
    midnight = datetime(2027, 1, 1, tzinfo=timezone.utc)
    start = midnight - timedelta(hours=2)
    end = start + timedelta(seconds=lived)
    whole = money.bill(points, start, end, start, RATES)
    parts = money.bill_by_month(points, start, end, start, RATES)
    assert 0 <= sum(parts.values()) - whole <= Decimal("0.0000000002")
    assert set(parts) <= {"2026-12", "2027-01"}
    assert ("2027-01" in parts) == (money.billed_until(start, end) > midnight)


@pytest.mark.parametrize(
    ("amount", "text"),
    [("1.5", "$1.50"), ("0.00411", "$0.0042"), ("0", "$0.00"), ("12.3456", "$12.3456"), ("100", "$100.00")],
)
def test_shown(amount: str, text: str) -> None:
    assert money.shown(Decimal(amount), "USD") == text


def test_stored_rounds_up() -> None:
    assert money.stored(Decimal("0.00001")) == Decimal("0.0001")


def test_the_china_partition_bills_in_yuan() -> None:
    assert money.currency_of("cn-northwest-1") == "CNY"
    assert money.currency_of("ap-east-1") == "USD"
    assert money.shown(Decimal("3.2"), "CNY") == "¥3.20"
