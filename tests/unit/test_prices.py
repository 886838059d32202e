"""Prices: paginated, only what is new, with a fall-back, in the region's currency."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from functions.aws import catalogue
from functions.aws.prices import NoPrice, Prices
from tests.samples import NOW, POOL_NAME, after


class Notes:
    """The table's notes."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def note(self, key: str) -> str | None:
        return self.kept.get(key)

    def keep_note(self, key: str, doc: str, seconds: int) -> None:
        self.kept[key] = doc


class Paginated:
    def __init__(self, pages: list[dict[str, Any]], asked: list[dict[str, Any]]) -> None:
        self._pages, self._asked = pages, asked

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:
        self._asked.append(asked)
        yield from self._pages


class Api:
    """EC2 and the Price List: answers pages, notes what was asked."""

    def __init__(self, *pages: dict[str, Any], down: bool = False) -> None:
        self.pages, self.down = list(pages), down
        self.asked: list[dict[str, Any]] = []

    def get_paginator(self, _: str) -> Paginated:
        if self.down:
            raise EndpointConnectionError(endpoint_url="pricing")
        return Paginated(self.pages, self.asked)


def entry(seconds: float, price: str, zone: str = "us-east-1a") -> dict[str, Any]:
    return {"InstanceType": "g4dn.xlarge", "AvailabilityZone": zone, "SpotPrice": price, "Timestamp": after(seconds)}


def prices(ec2: Api, pricing: Api | None = None, region: str = "us-east-1", lag_s: int = 300) -> tuple[Prices, Notes]:
    notes = Notes()
    api: Any = pricing or Api(down=True)
    made = Prices(ec2, api, notes, region, 100, Decimal("0.08"), Decimal("0.005"), lag_s)  # type: ignore[arg-type]
    return made, notes


def offer(currency: str, price: str) -> dict[str, Any]:
    dimension = {"unit": "Hrs", "pricePerUnit": {currency: price}}
    return {"PriceList": [json.dumps({"terms": {"OnDemand": {"t": {"priceDimensions": {"d": dimension}}}}})]}


def test_history_joins_pages_and_keeps_the_price_in_force() -> None:
    ec2 = Api({"SpotPriceHistory": [entry(500, "0.2"), entry(100, "0.3", "us-east-1b")]},
              {"SpotPriceHistory": [entry(-3000, "0.1")]})  # fmt: skip
    spans = prices(ec2, lag_s=0)[0].history(["g4dn.xlarge"], NOW, after(600))
    assert [p.usd_per_hour for p in spans[POOL_NAME].points] == [Decimal("0.1"), Decimal("0.2")]
    assert "g4dn.xlarge/us-east-1b" not in spans, "a pool whose price at the start is unknown is left out"
    assert ec2.asked[0]["ProductDescriptions"] == ["Linux/UNIX"]


@pytest.mark.parametrize("nothing", ["0", "0.000000", "-1"])
def test_a_pool_whose_price_is_nothing_is_as_dear_as_on_demand(nothing: str) -> None:
    """Others' catalogues had such prices; a pool is not chosen for being free."""
    made, _ = prices(Api({"SpotPriceHistory": [entry(-3000, nothing)]}), Api(offer("USD", "0.526")), lag_s=0)
    (pool,) = made.pools(["g4dn.xlarge"], NOW)
    assert pool.spot == Decimal("0.526")


def test_young_prices_are_not_trusted() -> None:
    spans = prices(Api({"SpotPriceHistory": [entry(-3000, "0.1")]}))[0].history(["g4dn.xlarge"], NOW, after(600))
    assert spans[POOL_NAME].until == after(300)


def test_only_what_is_new_is_asked_for() -> None:
    ec2 = Api({"SpotPriceHistory": [entry(-3000, "0.1")]})
    made, _ = prices(ec2, lag_s=0)
    made.kept_history({POOL_NAME: NOW}, after(600))
    ec2.pages = [{"SpotPriceHistory": [entry(-3000, "0.1"), entry(630, "0.4")]}]
    spans = made.kept_history({POOL_NAME: NOW}, after(660))
    assert [a["StartTime"] for a in ec2.asked] == [NOW, after(600)]
    assert [(p.at, p.usd_per_hour) for p in spans[POOL_NAME].points] == [
        (after(-3000), Decimal("0.1")),
        (after(630), Decimal("0.4")),
    ]
    assert (spans[POOL_NAME].since, spans[POOL_NAME].until) == (NOW, after(660))


def test_an_older_need_is_asked_for_anew() -> None:
    ec2 = Api({"SpotPriceHistory": [entry(-9000, "0.1")]})
    made, _ = prices(ec2, lag_s=0)
    made.kept_history({POOL_NAME: NOW}, after(600))
    spans = made.kept_history({POOL_NAME: NOW - timedelta(hours=1)}, after(660))
    assert spans[POOL_NAME].since == NOW - timedelta(hours=1)


def test_no_pools_no_calls() -> None:
    ec2 = Api()
    assert prices(ec2)[0].kept_history({}, after(600)) == {}
    assert ec2.asked == []


def test_on_demand_prices_are_looked_up_once_a_day() -> None:
    pricing = Api(offer("USD", "0.5260000000"))
    made, notes = prices(Api(), pricing)
    assert made.on_demand("g4dn.xlarge") == made.on_demand("g4dn.xlarge") == Decimal("0.526")
    assert len(pricing.asked) == 1
    fields = {f["Field"] for f in pricing.asked[0]["Filters"]}
    assert fields >= {"instanceType", "regionCode", "operatingSystem", "tenancy", "preInstalledSw", "capacitystatus"}


@pytest.mark.parametrize("answer", [Api(down=True), Api({"PriceList": []}), Api(offer("USD", "0.0000"))])
def test_the_catalogue_answers_when_the_list_does_not(answer: Api) -> None:
    assert prices(Api(), answer)[0].on_demand("g4dn.xlarge") == catalogue.US_EAST_1["g4dn.xlarge"]


def test_other_regions_are_never_assumed_cheaper() -> None:
    assert prices(Api(), region="ap-northeast-1")[0].on_demand("g4dn.xlarge") > catalogue.US_EAST_1["g4dn.xlarge"]


def test_a_type_without_a_price_is_not_guessed() -> None:
    with pytest.raises(NoPrice):
        prices(Api())[0].on_demand("x9.mystery")


def test_china_s_prices_are_yuan_and_never_from_the_dollar_catalogue() -> None:
    made, _ = prices(Api(), Api(offer("CNY", "4.3600000000")), region="cn-northwest-1")
    rates = made.rates("g4dn.xlarge")
    assert (rates.on_demand, rates.currency) == (Decimal("4.36"), "CNY")
    with pytest.raises(NoPrice):
        prices(Api(), region="cn-north-1")[0].on_demand("g4dn.xlarge")


def test_a_volume_is_never_under_counted() -> None:
    """EBS bills a month's share of its real hours; the shortest month has the dearest hour."""
    rates = prices(Api(), Api(offer("USD", "0.5")))[0].rates("g4dn.xlarge")
    assert rates.volume >= Decimal(100) * Decimal("0.08") / (28 * 24)


def test_a_type_without_a_price_does_not_hide_the_others() -> None:
    mystery = {**entry(-3000, "0.2"), "InstanceType": "x9.mystery"}
    ec2 = Api({"SpotPriceHistory": [entry(-3000, "0.1"), mystery]})
    pools = prices(ec2, lag_s=0)[0].pools(["g4dn.xlarge", "x9.mystery"], NOW)
    assert [pool.instance_type for pool in pools] == ["g4dn.xlarge"]
