"""Waiting on conditions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 200
"""For what must come. Only a failing test waits this long, so a busy machine gets all the time it may need."""


def until(condition: Callable[[], T], why: Callable[[], str] = lambda: "it did not come") -> T:
    """The first true value of `condition`. Fails the test when there is none in time, with what `why` then says."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE_S} s: {why()}")
        time.sleep(0.1)
