"""The orphan sweep and the watch around it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from functions.ports import Found
from functions.sweep import orphans
from functions.watch import watch
from jobs.job import Job, State
from jobs.messages import AnyMail
from tests.samples import after, launching, running, seen

ID = "abcdefgh"


def found(
    lease: float | None = 1800, job: str = ID, state: str = "running", id: str = "i-1", attempt: int = 1
) -> Found:
    until = None if lease is None else after(lease)
    return Found(job=job, seen=seen(state, id=id, attempt=attempt), lease=until)


def test_a_live_job_s_instance_stays() -> None:
    assert orphans([found()], {ID: running()}, after(600)) == []


def test_a_slow_boot_is_no_orphan() -> None:
    """The table does not know the instance yet, but it knows the launch."""
    assert orphans([found()], {ID: launching()}, after(600)) == []


@pytest.mark.parametrize(
    ("one", "jobs"),
    [
        (found(job="nobody22"), {"nobody22": None}),
        (found(job=""), {}),
        (found(), {ID: running().with_(state=State.STOPPED)}),
        (found(id="i-2"), {ID: running()}),
        (found(attempt=7), {ID: launching()}),
        (found(lease=None), {ID: running()}),
        (found(lease=500), {ID: running()}),
    ],
    ids=["unknown job", "no job", "ended job", "second instance", "unknown attempt", "no lease", "past its lease"],
)
def test_orphans(one: Found, jobs: dict[str, Job | None]) -> None:
    assert orphans([one], jobs, after(600)) == [one.seen.id]


def test_what_its_job_has_given_up_is_ended() -> None:
    job = running()
    given = job.with_(attempts=tuple(a.with_(giving_up=True) for a in job.attempts))
    assert orphans([found()], {ID: given}, after(600)) == ["i-1"]


def test_what_its_job_believes_to_be_gone_is_ended() -> None:
    job = running()
    closed = job.with_(attempts=tuple(a.with_(closed=True, ended_at=after(500)) for a in job.attempts))
    assert orphans([found()], {ID: closed}, after(600)) == ["i-1"]


def test_what_is_gone_is_left_alone() -> None:
    assert orphans([found(job="x", state="terminated"), found(job="x", state="shutting-down")], {}, after(600)) == []


def test_without_the_table_only_the_lease_counts() -> None:
    both = [found(job="x", id="i-1", lease=1800), found(job="x", id="i-2", lease=500)]
    assert orphans(both, None, after(600)) == ["i-2"]


class Outside:
    """An EC2, a table, a market and a mailbox that can each be broken."""

    def __init__(self, jobs: list[Job], instances: list[Found], broken: str) -> None:
        self.jobs, self.instances, self.broken = jobs, instances, broken
        self.ended: list[str] = []
        self.sent: list[AnyMail] = []

    def walk(self) -> Any:
        return iter(self.instances)

    def terminate(self, id: str) -> None:
        if self.broken == id:
            raise ConnectionError(id)
        self.ended.append(id)

    def live(self) -> Any:
        if self.broken == "table":
            raise ConnectionError("table")
        return iter(self.jobs)

    def load(self, id: str) -> Job | None:
        return next((job for job in self.jobs if job.id == id), None)

    def kept_history(self, pools: dict[str, datetime], now: datetime) -> dict[str, Any]:
        if self.broken == "market":
            raise ConnectionError("market")
        return {}

    def send(self, *messages: AnyMail) -> None:
        self.sent += messages


def round_of(outside: Outside) -> None:
    watch(outside, outside, outside, outside, after(600))  # type: ignore[arg-type]


def test_a_table_that_cannot_be_read_keeps_nothing_alive_past_its_lease() -> None:
    outside = Outside([running()], [found(), found(id="i-2", lease=500)], "table")
    with pytest.raises(ConnectionError):
        round_of(outside)
    assert outside.ended == ["i-2"]


def test_a_market_that_cannot_be_read_keeps_no_job_from_its_tick() -> None:
    outside = Outside([running()], [found()], "market")
    round_of(outside)
    assert [m.kind for m in outside.sent] == ["tick", "month_spent"]


def test_one_orphan_that_cannot_be_ended_does_not_save_the_others() -> None:
    outside = Outside([], [found(job="x", id=f"i-{n}") for n in range(3)], "i-1")
    round_of(outside)
    assert outside.ended == ["i-0", "i-2"]
