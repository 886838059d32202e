"""The report queue's consumer: lets a report into its job's mailbox if it carries the attempt's own token."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ValidationError

from functions import wiring
from functions.settings import secrets
from functions.tokens import is_own
from jobs.messages import SignedReport

logger = Logger(service="paddock")
processor = BatchProcessor(event_type=EventType.SQS)


def _handle(record: SQSRecord) -> None:
    try:
        signed = SignedReport.model_validate_json(record.body)
    except ValidationError as error:
        logger.warning("not a report, dropped", extra={"problems": error.error_count()})
        return
    report = signed.report
    with logger.append_context_keys(job=report.job, attempt=report.attempt, message_kind=report.kind):
        if not is_own(secrets().report_key, report.job, report.attempt, signed.token):
            logger.warning("a report without the attempt's token, dropped")
            return
        wiring.mailbox().send(report)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A report that is no report is dropped; one that could not be passed on comes again."""
    return dict(process_partial_response(event, _handle, processor, context))
