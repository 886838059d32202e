"""The token by which an attempt's reports are known: only the attempt's own instance has it."""

from __future__ import annotations

import hashlib
import hmac


def report_token(key: str, job: str, attempt: int) -> str:
    """HMAC-SHA256 of job and attempt, in hex."""
    return hmac.new(key.encode(), f"{job}/{attempt}".encode(), hashlib.sha256).hexdigest()


def is_own(key: str, job: str, attempt: int, token: str) -> bool:
    """Whether `token` is that of this attempt."""
    return hmac.compare_digest(report_token(key, job, attempt).encode(), token.encode())
