"""On-demand prices for when the Price List API cannot be reached: Linux, shared tenancy, us-east-1, USD per hour.

Dated 2026-12-01. g5.xlarge: $1.006 in June 2026 (factualminds.com, "Amazon EC2 On-Demand Pricing: Instance Families",
2026-06-17); g4dn.xlarge: $0.526 (aws.amazon.com/ec2/instance-types/g4, from memory, not fetched). The page of record
is aws.amazon.com/ec2/pricing/on-demand: compare before a deployment relies on this list. Only types that recipes use
are listed: a type without a price is not launched. Other regions cost at most `OTHER_REGIONS` times as much, rounded
up so that a bill is never under-counted."""

from __future__ import annotations

from decimal import Decimal

from jobs.money import in_china

US_EAST_1: dict[str, Decimal] = {
    "g4dn.xlarge": Decimal("0.526"),
    "g5.xlarge": Decimal("1.006"),
}
OTHER_REGIONS = Decimal("1.8")


def on_demand(instance_type: str, region: str) -> Decimal | None:
    """USD per hour, or None for a type that is not in the list, and in China, where prices are in another currency."""
    price = None if in_china(region) else US_EAST_1.get(instance_type)
    if price is None or region == "us-east-1":
        return price
    return price * OTHER_REGIONS
