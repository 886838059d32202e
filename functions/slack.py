"""Function URL: what Slack sends. Verified, understood, put into one mailbox, acknowledged."""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from slack_bolt import App, BoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.app import build_app
from bot.desk import House
from functions import wiring
from functions.aws.data import RemoteFile, RemoteFolder
from functions.settings import secrets, settings
from jobs.data.dataset import DataSet, FileRef
from jobs.job import Job
from jobs.messages import AnyMessage
from jobs.model import Usd
from jobs.money import month_of
from jobs.problem import Problem
from jobs.team import Month, month_report

logger = Logger(service="paddock")


class _Desk:
    """See bot.desk.Desk."""

    @property
    def house(self) -> House:
        return settings().house

    def send(self, message: AnyMessage) -> None:
        wiring.mailbox().send(message)

    def job(self, id: str) -> Job | None:
        return wiring.table().load(id)

    def recent(self, count: int) -> list[Job]:
        live = [job for job in wiring.table().live() if not job.state.is_end]
        live.sort(key=lambda job: job.created_at, reverse=True)
        known = {job.id for job in live}
        return live + [job for job in wiring.table().newest(count) if job.id not in known][: max(0, count - len(live))]

    def month(self) -> Month:
        table, now = wiring.table(), wiring.now()
        return month_report(table.ledger(month_of(now)), table.cap(), table.live(), now, settings().currency)

    def obstacle(self, channel: str) -> str:
        """The run is accepted already: that this cannot be read is no reason to say that it was not."""
        try:
            return wiring.table().obstacle(channel)
        except Exception:
            logger.exception("obstacles cannot be read")
            return ""

    def opened(self, channel: str) -> None:
        wiring.retries().opened(channel)

    def data_sets(self) -> list[DataSet]:
        return wiring.data().sets()

    def find_data(self, value: str) -> FileRef | Problem:
        return wiring.data().find(value)

    def open_data(self, ref: FileRef) -> RemoteFile | RemoteFolder:
        return wiring.data().open(ref)

    def log(self, job: str, attempt: int, count: int) -> list[str]:
        return [line.text for line in wiring.logs().last(job, attempt, count)]

    def place(self, key: str) -> str:
        return f"s3://{settings().bucket}/{key}"

    def link(self, key: str) -> str:
        return wiring.results().link(key)

    def set_cap(self, cap: Usd) -> None:
        wiring.table().set_cap(cap)


@lru_cache(maxsize=1)
def _app() -> App:
    return build_app(_Desk(), wiring.slack())


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answers within 3 s, transit included: at most one read and one queue send. 401 for whatever is not signed."""
    headers = {key.lower(): value for key, value in (event.get("headers") or {}).items()}
    body = raw_body(event)
    if body is None or not is_signed(body, headers):
        logger.warning("unsigned request refused")
        return {"statusCode": 401, "body": ""}
    response = _app().dispatch(BoltRequest(body=body, headers=headers))
    first = {key: values[0] for key, values in response.headers.items() if values}
    return {"statusCode": response.status, "headers": first, "body": response.body or ""}


def raw_body(event: dict[str, Any]) -> str | None:
    """The body as Slack signed it, or None if it is no text. Function URLs may hand it over in base64."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body)
    try:
        return base64.b64decode(body, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def is_signed(body: str, headers: dict[str, str]) -> bool:
    """HMAC-SHA256 over `v0:{timestamp}:{raw body}`, at most 300 s old (docs.slack.dev, "Verifying requests from
    Slack"). slack_sdk's verifier raises on odd input; all of that is simply not signed."""
    timestamp, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
    if not (timestamp.isascii() and timestamp.isdigit() and signature.isascii()):
        return False
    return bool(SignatureVerifier(secrets().slack_signing_secret).is_valid(body, timestamp, signature))
