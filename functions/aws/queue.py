"""The mailbox: an SQS FIFO queue whose message group is the job id."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from jobs.messages import MAIL, AnyMail

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

BATCH = 10
"""SendMessageBatch takes ten messages."""


class Undelivered(Exception):
    """SQS took some messages of a batch and refused these."""


class Queue:
    """Sends messages to jobs. The same message sent again within five minutes is dropped by SQS."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def send(self, *messages: AnyMail) -> None:
        """Raises ClientError, or Undelivered when a part of a batch was refused."""
        waiting = iter(messages)
        while batch := list(islice(waiting, BATCH)):
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=_entries(batch))
            if answer.get("Failed"):
                raise Undelivered(answer["Failed"])


def _entries(batch: Sequence[AnyMail]) -> list[SendMessageBatchRequestEntryTypeDef]:
    entries: list[SendMessageBatchRequestEntryTypeDef] = []
    for number, message in enumerate(batch):
        body = MAIL.dump_json(message).decode()
        entries.append(
            {
                "Id": str(number),
                "MessageBody": body,
                "MessageGroupId": message.job,
                "MessageDeduplicationId": hashlib.sha256(body.encode()).hexdigest(),
            }
        )
    return entries
