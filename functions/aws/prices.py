"""What instances cost: on-demand prices from the Price List API, spot prices from EC2's history."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from functions.aws import catalogue
from functions.aws.table import Table
from jobs.messages import Pool, PriceSpan
from jobs.money import PricePoint, Rates, currency_of, stored

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_pricing import PricingClient

logger = Logger(service="paddock", child=True)
DAY_S = 86_400
KEPT_S = 90 * DAY_S
HOURS_OF_SHORTEST_MONTH = Decimal(28 * 24)
LINUX = "Linux/UNIX"


class NoPrice(Exception):
    """Nobody knows what this instance type costs on demand, so no budget can be promised for it."""


class Prices:
    """`volume_gb` at `volume_usd_per_gb_month` (gp3) and a public IPv4 address come with every instance."""

    def __init__(
        self, ec2: EC2Client, pricing: PricingClient, table: Table, region: str, volume_gb: int,
        volume_usd_per_gb_month: Decimal, address_usd_per_hour: Decimal, lag_s: int,
    ) -> None:  # fmt: skip
        self._ec2, self._pricing, self._table, self._region = ec2, pricing, table, region
        self._volume = stored(volume_gb * volume_usd_per_gb_month / HOURS_OF_SHORTEST_MONTH)
        self._address, self._lag = address_usd_per_hour, timedelta(seconds=lag_s)
        self._currency = currency_of(region)

    def rates(self, instance_type: str) -> Rates:
        """Per hour, in the region's currency. Raises NoPrice."""
        return Rates(
            on_demand=self.on_demand(instance_type),
            volume=self._volume,
            address=self._address,
            currency=self._currency,
        )

    def on_demand(self, instance_type: str) -> Decimal:
        """Per hour, in the region's currency; looked up once a day. Raises NoPrice."""
        key = f"on-demand/{self._region}/{instance_type}"
        known = self._table.note(key)
        if known is not None:
            return Decimal(known)
        try:
            price = self._listed(instance_type)
        except (ClientError, BotoCoreError) as error:
            logger.warning("price list unreachable, using the catalogue", extra={"error": str(error)})
            price = None
        if price is None:
            price = catalogue.on_demand(instance_type, self._region)
            if price is None:
                raise NoPrice(instance_type)
            return price
        self._table.keep_note(key, str(price), DAY_S)
        return price

    def _listed(self, instance_type: str) -> Decimal | None:
        """The Price List API's answer (Query API, `GetProducts`): on demand, shared, Linux, nothing pre-installed."""
        terms = {
            "instanceType": instance_type, "regionCode": self._region, "operatingSystem": "Linux", "tenancy": "Shared",
            "preInstalledSw": "NA", "capacitystatus": "Used",
        }  # fmt: skip
        pages = self._pricing.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2", Filters=[{"Type": "TERM_MATCH", "Field": k, "Value": v} for k, v in terms.items()]
        )
        found: list[Decimal] = []
        for page in pages:
            for text in page["PriceList"]:
                for offer in json.loads(text)["terms"].get("OnDemand", {}).values():
                    for dimension in offer["priceDimensions"].values():
                        price = Decimal(dimension["pricePerUnit"].get(self._currency, "0"))
                        if price > 0 and dimension.get("unit") == "Hrs":
                            found.append(price)
        return max(found) if found else None

    def pools(self, instance_types: Iterable[str], now: datetime) -> list[Pool]:
        """Every zone that sells these types as spot, at its price now; not types without an on-demand price."""
        spans = self.history(instance_types, now, now)
        rates: dict[str, Rates] = {}
        for kind in {name.partition("/")[0] for name in spans}:
            try:
                rates[kind] = self.rates(kind)
            except NoPrice:
                logger.warning("no on-demand price is known, so no budget can be promised", extra={"type": kind})
        pools = []
        for name, span in spans.items():
            kind, _, zone = name.partition("/")
            if kind in rates:
                price = span.points[-1].charged(rates[kind].on_demand)
                pools.append(Pool(instance_type=kind, zone=zone, spot=price, rates=rates[kind]))
        return pools

    def history(self, instance_types: Iterable[str], since: datetime, now: datetime) -> dict[str, PriceSpan]:
        """The spot prices of these types from `since` on, by pool `type/zone`. EC2 also gives the last change before
        `since`, the price in force then; a pool without it is left out. Prices count as known up to the lag."""
        kinds = sorted(set(instance_types))
        if not kinds:
            return {}
        points: dict[str, list[PricePoint]] = defaultdict(list)
        asked: dict[str, Any] = {
            "InstanceTypes": kinds,
            "ProductDescriptions": [LINUX],
            "StartTime": since,
            "EndTime": now,
        }
        pages = self._ec2.get_paginator("describe_spot_price_history").paginate(**asked)
        for page in pages:
            for entry in page["SpotPriceHistory"]:
                name = f"{entry['InstanceType']}/{entry['AvailabilityZone']}"
                points[name].append(PricePoint(at=entry["Timestamp"], usd_per_hour=Decimal(entry["SpotPrice"])))
        until = max(since, now - self._lag)
        spans = {}
        for name, found in points.items():
            found.sort(key=lambda point: point.at)
            if found[0].at <= since:
                spans[name] = PriceSpan(since=since, until=until, points=tuple(found))
        return spans

    def kept_history(self, pools: dict[str, datetime], now: datetime) -> dict[str, PriceSpan]:
        """The prices of each pool from its given time on; from the table, with only what is new asked of EC2."""
        spans: dict[str, PriceSpan] = {}
        missing: dict[str, datetime] = {}
        for name, since in pools.items():
            note = self._table.note(f"spot/{name}")
            if note is not None and (span := PriceSpan.model_validate_json(note)).since <= since:
                spans[name] = span
                missing[name] = span.until
            else:
                missing[name] = since
        if not missing:
            return {}
        # Pools that were never looked at reach far back: they are asked for apart from those that need minutes.
        for group in (missing.keys() & spans.keys(), missing.keys() - spans.keys()):
            if not group:
                continue
            since = min(missing[name] for name in group)
            news = self.history({name.partition("/")[0] for name in group}, since, now)
            for name in group:
                if name in news:
                    spans[name] = _joined(spans.get(name), news[name])
                    self._table.keep_note(f"spot/{name}", spans[name].model_dump_json(), KEPT_S)
        return spans


def _joined(old: PriceSpan | None, new: PriceSpan) -> PriceSpan:
    if old is None or new.until <= old.until:
        return old or new
    later = tuple(p for p in new.points if p.at > old.points[-1].at)
    return PriceSpan(since=old.since, until=new.until, points=old.points + later)
