"""The shares of a budget that are told of, once each, ever: half, 80 %, all."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

Share = Literal[50, 80, 100]
SHARES: tuple[Share, ...] = (100, 80, 50)


def newly_reached(spent: Decimal, budget: Decimal, told: int, all_of_it: bool) -> Share | None:
    """The highest share that is reached and higher than what was told before (0: nothing); of several only that one.

    `all_of_it`: the whole budget counts as spent, whatever is left of it."""
    reached = next((share for share in SHARES if spent * 100 >= budget * share), None)
    due = 100 if all_of_it else reached
    return due if due is not None and due > told else None
