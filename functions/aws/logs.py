"""What containers print, in CloudWatch Logs: one stream per attempt, `<job>/<attempt>`."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from botocore.exceptions import ClientError

from functions.aws.startup import stream_of

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient


class Line(NamedTuple):
    """One line that a container printed."""

    at: datetime
    text: str


class Logs:
    """`group`: the deployment's log group for runs."""

    def __init__(self, client: CloudWatchLogsClient, group: str) -> None:
        self._client, self._group = client, group

    def last(self, job: str, attempt: int, count: int) -> list[Line]:
        """The last lines of an attempt, oldest first; none if it has printed nothing. Raises ClientError."""
        try:
            page = self._client.get_log_events(
                logGroupName=self._group, logStreamName=stream_of(job, attempt), limit=count, startFromHead=False
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return []
            raise
        return [_line(event["timestamp"], event["message"]) for event in page["events"][-count:]]

    def after(self, job: str, attempt: int, token: str) -> tuple[list[Line], str]:
        """The lines after a place in the log (empty: its beginning), and the next place."""
        more = {"nextToken": token} if token else {}
        try:
            page = self._client.get_log_events(
                logGroupName=self._group, logStreamName=stream_of(job, attempt), startFromHead=True,
                **more,  # type: ignore[arg-type]
            )  # fmt: skip
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return [], token
            raise
        return [_line(event["timestamp"], event["message"]) for event in page["events"]], page["nextForwardToken"]


def _line(at_ms: int, text: str) -> Line:
    return Line(datetime.fromtimestamp(at_ms / 1000, timezone.utc), text)
