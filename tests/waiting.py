"""Waiting on conditions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], timeout_s: float = 30, every_s: float = 0.1) -> T:
    """The first true value of `condition`. Fails the test when there is none in time."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:.0f} s: {getattr(condition, '__doc__', None) or condition}")
        time.sleep(every_s)
