"""Each minute: tells every live job what EC2 and the market show, and ends what should not be there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import wiring
from functions.ports import Cloud, Found, JobTable, Mailbox, Market
from functions.sweep import orphans
from jobs.job import Job
from jobs.messages import MonthSpent, PriceSpan, Tick
from jobs.money import month_of
from jobs.pricing import prices_needed

logger = Logger(service="paddock")
metrics = Metrics(namespace="Paddock", service="watch")


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Raises what went wrong after everything that could be done was done, so that the alarm sees it."""
    counts = watch(wiring.table(), wiring.instances(), wiring.prices(), wiring.mailbox(), wiring.now())
    metrics.add_metric("LiveJobs", MetricUnit.Count, counts["live"])
    metrics.add_metric("OrphansEnded", MetricUnit.Count, counts["orphans"])
    return counts


def watch(table: JobTable, cloud: Cloud, market: Market, mailbox: Mailbox, now: datetime) -> dict[str, int]:
    """One round. A table that cannot be read does not keep an instance alive past its lease; a market that cannot be
    read does not keep jobs from their tick."""
    with _no_cycle_collector():
        return _watch(table, cloud, market, mailbox, now)


def _watch(table: JobTable, cloud: Cloud, market: Market, mailbox: Mailbox, now: datetime) -> dict[str, int]:
    found = list(cloud.walk())
    failure: Exception | None = None
    live: list[Job] | None = None
    try:
        live = list(table.live())
    except Exception as error:
        logger.exception("the table cannot be read: only leases count")
        failure = error
    jobs = None if live is None else _with_unlisted(live, found, table)
    ended = _sweep(cloud, orphans(found, jobs, now))
    if live:
        month = month_of(now)
        mailbox.send(*ticks(live, found, _prices(market, live, now), now))
        mailbox.send(MonthSpent(job=f"month-{month}", month=month, seen_at=now))
    if failure is not None:
        raise failure
    return {"live": len(live or ()), "instances": len(found), "orphans": len(ended)}


@contextmanager
def _no_cycle_collector() -> Iterator[None]:
    """A round makes objects by the thousand and no cycles: the collector would walk them all, again and again, which
    makes a round at 10,000 jobs nearly twice as long as linear (make bench)."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def ticks(live: list[Job], found: list[Found], spans: dict[str, PriceSpan], now: datetime) -> list[Tick]:
    """A tick for each live job: its own instances, and the prices that it lacks."""
    by_job: dict[str, list[Found]] = {}
    for one in found:
        by_job.setdefault(one.job, []).append(one)
    return [
        Tick(
            job=job.id,
            instances=tuple(one.seen for one in by_job.get(job.id, ())),
            seen_at=now,
            prices={name: _from(spans[name], since) for name, since in prices_needed(job).items() if name in spans},
        )
        for job in live
    ]


def _from(span: PriceSpan, since: datetime) -> PriceSpan:
    """The part of a span from `since` on, with the price in force then."""
    if since <= span.since:
        return span
    before = [p for p in span.points if p.at <= since]
    later = tuple(p for p in span.points if p.at > since)
    return PriceSpan(since=since, until=max(span.until, since), points=(*before[-1:], *later))


def _prices(market: Market, live: list[Job], now: datetime) -> dict[str, PriceSpan]:
    needed: dict[str, datetime] = {}
    for job in live:
        for name, since in prices_needed(job).items():
            needed[name] = min(since, needed.get(name, since))
    try:
        return market.kept_history(needed, now)
    except Exception:
        logger.exception("the market cannot be read: unknown prices count as on demand")
        return {}


def _with_unlisted(live: list[Job], found: list[Found], table: JobTable) -> dict[str, Job | None]:
    """The live jobs, and whatever the table has for instances of others: the index may lag behind the table."""
    jobs: dict[str, Job | None] = {job.id: job for job in live}
    for one in found:
        if one.job not in jobs and one.seen.state != "terminated":
            jobs[one.job] = table.load(one.job) if one.job else None
    return jobs


def _sweep(cloud: Cloud, ids: list[str]) -> list[str]:
    ended = []
    for id in ids:
        try:
            cloud.terminate(id)
            ended.append(id)
            logger.warning("orphan ended", extra={"instance": id})
        except Exception:
            logger.exception("an orphan could not be ended, trying again in a minute", extra={"instance": id})
    return ended
