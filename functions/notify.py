"""The table's stream: the only writer to Slack. Whatever a job now is, Slack is brought in line with it."""

from __future__ import annotations

import time
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from bot.month_posting import tell_month
from bot.posting import Told, tell
from functions import wiring
from functions.settings import settings
from jobs.job import Job
from jobs.team import MonthAlerts

logger = Logger(service="paddock")
processor = BatchProcessor(event_type=EventType.DynamoDBStreams)
UPDATES_PER_MINUTE = 40
"""chat.update is tier 3: 50 and more a minute for the whole workspace, shared by all live cards."""
COUNTED_FOR_S = 30
_live = {"count": 1, "at": 0.0}


def _handle(record: DynamoDBRecord) -> None:
    image = record.dynamodb.new_image if record.dynamodb else None
    if not image or image.get("sk") not in ("JOB", "ALERTS"):
        return
    key, table, client = str(image["pk"]), wiring.table(), wiring.slack(retry=True)

    def save(told: Told) -> None:
        table.save_told(key, told)

    if image["sk"] == "ALERTS":
        month = MonthAlerts.model_validate_json(image["doc"])
        tell_month(month, table.told(key), client, settings().budget_channel, settings().language, table.load, save,
                   lambda id: table.told(f"JOB#{id}").ts)  # fmt: skip
        return
    # The job as it is now, which may be newer than the record: several changes become one update of the card.
    job = table.load(key.removeprefix("JOB#")) or Job.model_validate_json(image["doc"])
    with logger.append_context_keys(job=job.id, attempt=job.last_attempt):
        tell(job, table.told(key), client, wiring.now(), _gap_s(), save)


def _gap_s() -> float:
    """Each live card gets its share of the workspace's updates."""
    if time.monotonic() - _live["at"] > COUNTED_FOR_S:
        running = sum(not job.state.is_end for job in wiring.table().live())
        _live.update(count=max(1, running), at=time.monotonic())
    return 60 * _live["count"] / UPDATES_PER_MINUTE


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """What Slack would not take comes again; what it never will is marked in the job's record."""
    return dict(process_partial_response(event, _handle, processor, context))
