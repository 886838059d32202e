"""The only writer to Slack. The table's stream says what changed; the retry queue, what Slack did not take before, and
which channels have opened. Whatever a job now is, Slack is brought in line with it."""

from __future__ import annotations

import random
import time
from datetime import timedelta
from functools import lru_cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import wiring
from functions.aws.retries import ChannelOpened, read
from functions.settings import secrets, settings
from functions.telling import Telling
from jobs.job import Job

logger = Logger(service="paddock")
stream = BatchProcessor(event_type=EventType.DynamoDBStreams)
retries = BatchProcessor(event_type=EventType.SQS)
UPDATES_PER_MINUTE = 40
"""chat.update is tier 3: 50 and more a minute for the whole workspace, shared by all live cards."""
COUNTED_FOR_S = 30
BROKEN_S = 30.0
"""What fails for a reason of our own comes again after this time, and at last among the dead letters."""
LOOKED_AT = 50
_live = {"count": 1, "at": 0.0}


@lru_cache(maxsize=1)
def _telling() -> Telling:
    return Telling(wiring.table(), wiring.retries(), wiring.slack(), wiring.now, _gap_s, settings().budget_channel,
                   settings().language, _renew, random.Random(), wiring.results().picture)  # fmt: skip


def _renew() -> None:
    """The app may be installed again, with another token: read the secret anew next time."""
    secrets.cache_clear()
    _telling.cache_clear()


def _on_change(record: DynamoDBRecord) -> None:
    """A failed record would stop the shard, and with it every card, for a day (Lambda Developer Guide, "Using AWS
    Lambda with Amazon DynamoDB"): so whatever goes wrong with one goes to the retry queue."""
    image = record.dynamodb.new_image if record.dynamodb else None
    if not image or image.get("sk") not in ("JOB", "ALERTS"):
        return
    key = str(image["pk"])
    try:
        _telling().bring(key)
    except Exception:
        logger.exception("could not be told, trying again apart from the stream", extra={"told": key})
        wiring.retries().send(key, wiring.now() + timedelta(seconds=BROKEN_S), BROKEN_S)


def _on_retry(record: SQSRecord) -> None:
    message = read(record.body)
    if isinstance(message, ChannelOpened):
        for job in _jobs_away_from(message.channel):
            _telling().come_home(f"JOB#{job.id}")
        return
    _telling().bring(message.key, message.due)


def _jobs_away_from(channel: str) -> list[Job]:
    """Runs that were started in this channel: all live ones, and the newest others."""
    table = wiring.table()
    found = {job.id: job for job in [*table.live(), *table.newest(LOOKED_AT)] if job.channel == channel}
    return list(found.values())


def _gap_s() -> float:
    """Each live card gets its share of the workspace's updates."""
    if time.monotonic() - _live["at"] > COUNTED_FOR_S:
        running = sum(not job.state.is_end for job in wiring.table().live())
        _live.update(count=max(1, running), at=time.monotonic())
    return 60 * _live["count"] / UPDATES_PER_MINUTE


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """No record of the stream fails because of Slack."""
    records = event.get("Records") or [{}]
    if records[0].get("eventSource") == "aws:sqs":
        return dict(process_partial_response(event, _on_retry, retries, context))
    return dict(process_partial_response(event, _on_change, stream, context))
