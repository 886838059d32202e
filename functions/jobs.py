"""The mailbox's consumer: the only writer of job state. A job's messages come one at a time, in order."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import wiring
from functions.mailbox import deliver
from functions.month import note_month
from functions.settings import settings
from jobs.messages import MAIL

logger = Logger(service="paddock")
processor = SqsFifoPartialProcessor(skip_group_on_error=True)


def _handle(record: SQSRecord) -> None:
    message = MAIL.validate_json(record.body)
    if message.kind == "month_spent":
        note_month(message.month, wiring.table(), wiring.now(), settings().currency)
        return
    attempt = getattr(message, "attempt", None)
    with logger.append_context_keys(job=message.job, attempt=attempt, message_kind=message.kind):
        deliver(message, wiring.table(), wiring.instances(), wiring.schedules(), wiring.results(), wiring.now)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Messages that failed are reported one by one; the others of the batch are done."""
    return dict(process_partial_response(event, _handle, processor, context))
