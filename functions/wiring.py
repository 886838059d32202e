"""The adapters of this execution environment, made once from the settings."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)

from functions.aws import clients
from functions.aws.instances import Home, Instances
from functions.aws.prices import Prices
from functions.aws.queue import Queue
from functions.aws.results import BucketResults
from functions.aws.schedules import InstanceSchedules
from functions.aws.table import Table
from functions.settings import secrets, settings

SLACK_TIMEOUT_S = 10


def now() -> datetime:
    """The clock: the only place where the time is read."""
    return datetime.now(timezone.utc)


@lru_cache(maxsize=1)
def table() -> Table:
    return Table(clients.dynamodb(), settings().table, settings().month_budget)


@lru_cache(maxsize=1)
def mailbox() -> Queue:
    return Queue(clients.sqs(), settings().mailbox_url)


@lru_cache(maxsize=1)
def prices() -> Prices:
    s = settings()
    return Prices(
        clients.ec2(), clients.pricing(s.region), table(), s.region, s.volume_gb, s.volume_usd_per_gb_month,
        s.address_usd_per_hour, s.price_lag_s,
    )  # fmt: skip


@lru_cache(maxsize=1)
def instances() -> Instances:
    s = settings()
    home = Home(deployment=s.deployment, launch_template=s.launch_template, image=s.image, bucket=s.bucket,
                reports_url=s.reports_url, region=s.region)  # fmt: skip
    return Instances(clients.ec2(), clients.ec2_for_launches(), prices(), home, secrets().report_key)


@lru_cache(maxsize=1)
def schedules() -> InstanceSchedules:
    s = settings()
    partition = s.schedule_role.split(":")[1]
    return InstanceSchedules(clients.scheduler(), s.schedule_group, s.schedule_role, partition)


@lru_cache(maxsize=1)
def results() -> BucketResults:
    return BucketResults(clients.s3(), settings().bucket)


def slack(retry: bool) -> WebClient:
    """A Slack client. `retry`: wait and try again when Slack is busy or down; not where Slack waits for us."""
    client = WebClient(token=secrets().slack_bot_token, base_url=settings().slack_api, timeout=SLACK_TIMEOUT_S)
    client.retry_handlers = []
    if retry:
        client.retry_handlers = [
            ConnectionErrorRetryHandler(), RateLimitErrorRetryHandler(max_retry_count=2), ServerErrorRetryHandler(),
        ]  # fmt: skip
    return client
