"""boto3 clients with one configuration: short time-outs, AWS's standard retries."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from jobs.money import in_china

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_pricing import PricingClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_sqs import SQSClient

CONFIG = Config(connect_timeout=3, read_timeout=20, retries={"mode": "standard", "max_attempts": 4})
ONCE = Config(connect_timeout=3, read_timeout=20, retries={"mode": "standard", "max_attempts": 1})
"""No capacity is an HTTP 500, which the SDK would try again; for launches the next pool or the next tick does."""
QUICK = Config(connect_timeout=1, read_timeout=1.5, retries={"mode": "standard", "max_attempts": 1})
"""While a person waits: Slack wants the answer to a command within 3 s."""
PRICE_LIST_REGION, PRICE_LIST_REGION_CHINA = "us-east-1", "cn-northwest-1"
"""The Price List API serves from a few regions only, for all of their partition."""


@cache
def _client(name: str, region: str | None = None, config: Config = CONFIG) -> Any:
    return boto3.client(name, region_name=region, config=config)  # type: ignore[call-overload]


def dynamodb() -> DynamoDBClient:
    client: DynamoDBClient = _client("dynamodb")
    return client


def ec2() -> EC2Client:
    client: EC2Client = _client("ec2")
    return client


def ec2_for_launches() -> EC2Client:
    client: EC2Client = _client("ec2", config=ONCE)
    return client


def sqs() -> SQSClient:
    client: SQSClient = _client("sqs")
    return client


def s3() -> S3Client:
    client: S3Client = _client("s3", config=CONFIG.merge(Config(signature_version="s3v4")))
    return client


def s3_for_people() -> S3Client:
    client: S3Client = _client("s3", config=QUICK)
    return client


def logs_for_people() -> CloudWatchLogsClient:
    client: CloudWatchLogsClient = _client("logs", config=QUICK)
    return client


def scheduler() -> EventBridgeSchedulerClient:
    client: EventBridgeSchedulerClient = _client("scheduler")
    return client


def pricing(region: str) -> PricingClient:
    home = PRICE_LIST_REGION_CHINA if in_china(region) else PRICE_LIST_REGION
    client: PricingClient = _client("pricing", home)
    return client
