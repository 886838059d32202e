"""On-demand prices for when the Price List API cannot be reached: Linux, shared tenancy, us-east-1, USD per hour.

As published on the EC2 on-demand pricing page (aws.amazon.com/ec2/pricing/on-demand), looked up 2026-12. Prices of
other regions are higher by at most `OTHER_REGIONS`, which is rounded up so that a bill is never under-counted."""

from __future__ import annotations

from decimal import Decimal

US_EAST_1: dict[str, Decimal] = {
    "g4dn.xlarge": Decimal("0.526"),
    "g4dn.2xlarge": Decimal("0.752"),
    "g4dn.12xlarge": Decimal("3.912"),
    "g5.xlarge": Decimal("1.006"),
    "g5.2xlarge": Decimal("1.212"),
    "g5.12xlarge": Decimal("5.672"),
    "g6.xlarge": Decimal("0.8048"),
    "g6.2xlarge": Decimal("0.9776"),
    "p3.2xlarge": Decimal("3.06"),
    "p4d.24xlarge": Decimal("32.7726"),
}
OTHER_REGIONS = Decimal("1.8")


def on_demand(instance_type: str, region: str) -> Decimal | None:
    """USD per hour, or None for a type that is not in the list, and in China, where prices are in another currency."""
    price = None if region.startswith("cn-") else US_EAST_1.get(instance_type)
    if price is None or region == "us-east-1":
        return price
    return price * OTHER_REGIONS
