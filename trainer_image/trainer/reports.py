"""What the trainer tells Paddock, through its report queue. A queue that cannot be reached does not stop training."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime, timezone
from typing import Any, Protocol

import boto3

from jobs.messages import (
    Checkpoint,
    DataRead,
    Failed,
    Finished,
    Progress,
    RunSpec,
    SignedReport,
    Started,
    Trained,
    TrainerReport,
    Yielded,
)
from jobs.problem import Problem
from trainer_image.trainer.storage import RETRIES, Storage

EVERY_S = 5.0
DETAIL = 1500


class Outbox(Protocol):
    def send(self, body: str) -> None: ...


class SqsOutbox:
    """The report queue."""

    def __init__(self, url: str, region: str) -> None:
        self._client: Any = boto3.client("sqs", region_name=region, config=RETRIES)
        self._url = url

    def send(self, body: str) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=body)


def _in_words(report: TrainerReport) -> str:
    """A report as a line of the log: all that it holds."""
    facts = report.model_dump(mode="json", exclude={"job", "attempt", "seq", "at", "kind"}, exclude_defaults=True)
    return " ".join([report.kind, *(f"{name}={_plain(value)}" for name, value in facts.items())])


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | str) else str(value)


class Reporter:
    """Numbers and signs reports. Progress is throttled to about one in five seconds."""

    def __init__(self, spec: RunSpec, outbox: Outbox) -> None:
        self._spec, self._outbox = spec, outbox
        self._seq = 0
        self._last_progress = 0.0

    def started(self, **facts: Any) -> None:
        """`facts` are those of messages.Started."""
        self._send(Started(**self._head(), **facts))

    def data(self, **facts: Any) -> None:
        """`facts` are those of messages.DataRead."""
        self._send(DataRead(**self._head(), **facts))

    def progress(self, force: bool = False, **facts: Any) -> None:
        """`facts` are those of messages.Progress. Dropped if the last one was just sent, unless `force`."""
        now = time.monotonic()
        if force or now - self._last_progress >= EVERY_S:
            self._last_progress = now
            self._send(Progress(**self._head(), **facts))

    def checkpoint(self, step: int, epoch: int, key: str, sha256: str) -> None:
        self._send(Checkpoint(**self._head(), step=step, epoch=epoch, key=key, sha256=sha256))

    def finished(self, step: int, metrics: dict[str, float], storage: Storage, model: Trained | None = None) -> None:
        """The report goes into the bucket before it goes on the queue, where it may be late or lost: Paddock looks for
        it there before it would launch this job again."""
        report = Finished(**self._head(), step=step, metrics=metrics, model=model)
        try:
            storage.put_bytes(self._spec.result, report.model_dump_json().encode())
        except Exception as error:  # noqa: BLE001
            print(f"result not stored: {error}", file=sys.stderr)
        self._send(report)

    def yielded(self, step: int) -> None:
        self._send(Yielded(**self._head(), step=step))

    def failed(self, reason: str, detail: str, final: bool, problem: Problem | None = None) -> None:
        self._send(Failed(**self._head(), reason=reason, detail=detail[-DETAIL:], final=final, problem=problem))

    def _head(self) -> dict[str, Any]:
        self._seq += 1
        return {"job": self._spec.job, "attempt": self._spec.attempt, "seq": self._seq,
                "at": datetime.now(timezone.utc)}  # fmt: skip

    def _send(self, report: TrainerReport) -> None:
        print(f"[{self._spec.job}/{self._spec.attempt}] {_in_words(report)}", flush=True)
        body = SignedReport(token=self._spec.token, report=report).model_dump_json()
        try:
            self._outbox.send(body)
        except Exception as error:  # noqa: BLE001
            print(f"report not sent: {error}", file=sys.stderr)
