"""Which spot prices a job's spend still lacks."""

from __future__ import annotations

from datetime import datetime

from jobs.job import Job


def prices_needed(job: Job) -> dict[str, datetime]:
    """From when on the job's attempts lack prices, by pool."""
    needed: dict[str, datetime] = {}
    for attempt in job.attempts:
        if attempt.started_at is not None and not attempt.settled:
            since = attempt.priced_until or attempt.started_at
            needed[attempt.pool_name] = min(since, needed.get(attempt.pool_name, since))
    return needed
