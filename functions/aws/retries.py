"""The retry queue: what Slack did not take comes back here, apart from the table's stream."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter

from jobs.model import Model, UtcTime

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

LONGEST_DELAY_S = 900
"""Of a message, in SQS (SendMessage, `DelaySeconds`)."""


class Retry(Model):
    """A card, or a month's alerts, to be told again at `due`."""

    kind: Literal["retry"] = "retry"
    key: str
    due: UtcTime


class ChannelOpened(Model):
    """Paddock was invited to a channel: cards that belong there come home."""

    kind: Literal["channel_opened"] = "channel_opened"
    channel: str


_ANY: TypeAdapter[Retry | ChannelOpened] = TypeAdapter(Annotated[Retry | ChannelOpened, Field(discriminator="kind")])


def read(body: str) -> Retry | ChannelOpened:
    """A message of the queue. Raises pydantic's ValidationError."""
    return _ANY.validate_json(body)


class RetryQueue:
    """See functions.telling.Retries."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def send(self, key: str, due: datetime, delay_s: float) -> None:
        """SQS counts whole seconds. What is due later than its longest delay comes early, and is sent again."""
        self._put(Retry(key=key, due=due), min(LONGEST_DELAY_S, math.ceil(delay_s)))

    def opened(self, channel: str) -> None:
        self._put(ChannelOpened(channel=channel), 0)

    def _put(self, message: Retry | ChannelOpened, delay_s: int) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=message.model_dump_json(), DelaySeconds=delay_s)
