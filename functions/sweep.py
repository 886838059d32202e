"""The orphan sweep: which instances EC2 has under our tag that should not be there. It trusts EC2, not our table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from functions.ports import Found
from jobs.job import Job

GRACE = timedelta(seconds=15)
"""With the minute between two sweeps this stays within the lease's margin."""
ALIVE = frozenset({"pending", "running", "stopping", "stopped"})


def orphans(found: Iterable[Found], jobs: Mapping[str, Job | None] | None, now: datetime) -> list[str]:
    """Ids of instances to end: past the lease and its grace; or with no live job; or superseded by their job.

    `jobs` maps job ids to jobs, None for a job that the table does not have; it is None itself when the table cannot
    be read, and then only the lease counts. A slow boot is no orphan: its job knows it."""
    ids = []
    for one in found:
        if one.seen.state not in ALIVE:
            continue
        if one.lease is None or one.lease + GRACE < now or (jobs is not None and not _wanted(one, jobs.get(one.job))):
            ids.append(one.seen.id)
    return ids


def _wanted(one: Found, job: Job | None) -> bool:
    if job is None or job.state.is_end:
        return False
    for attempt in job.attempts:
        if attempt.instance == one.seen.id:
            return not (attempt.giving_up or attempt.stray or attempt.closed)
    # Launched, but the table has not heard of it yet: the job's next tick adopts it.
    return any(a.number == one.seen.attempt and a.instance is None and not a.closed for a in job.attempts)
