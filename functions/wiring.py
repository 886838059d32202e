"""The adapters of this execution environment, made once from the settings."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache

from slack_sdk import WebClient

from functions.aws import clients
from functions.aws.data import Data
from functions.aws.instances import Home, Instances
from functions.aws.logs import Logs
from functions.aws.prices import Prices
from functions.aws.queue import Queue
from functions.aws.results import BucketResults
from functions.aws.retries import RetryQueue
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
                reports_url=s.reports_url, region=s.region, logs=s.run_logs)  # fmt: skip
    return Instances(clients.ec2(), clients.ec2_for_launches(), prices(), home, secrets().report_key)


@lru_cache(maxsize=1)
def schedules() -> InstanceSchedules:
    s = settings()
    partition = s.schedule_role.split(":")[1]
    return InstanceSchedules(clients.scheduler(), s.schedule_group, s.schedule_role, partition)


@lru_cache(maxsize=1)
def results() -> BucketResults:
    return BucketResults(clients.s3(), settings().bucket)


@lru_cache(maxsize=1)
def retries() -> RetryQueue:
    return RetryQueue(clients.sqs(), settings().retries_url)


@lru_cache(maxsize=1)
def logs() -> Logs:
    return Logs(clients.logs_for_people(), settings().run_logs)


@lru_cache(maxsize=1)
def data() -> Data:
    s = settings()
    return Data(clients.dynamodb(), s.table, clients.s3_for_people(), s.bucket, s.data_buckets)


def slack() -> WebClient:
    """A Slack client that never waits and tries again by itself: the retry queue does that, for cards."""
    client = WebClient(token=secrets().slack_bot_token, base_url=settings().slack_api, timeout=SLACK_TIMEOUT_S)
    client.retry_handlers = []
    return client
