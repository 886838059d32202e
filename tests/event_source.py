"""A double of Lambda's event source for a DynamoDB stream: one shard, in order, by AWS's documented rules, which the
emulated account does not follow (Lambda Developer Guide, "Using AWS Lambda with Amazon DynamoDB": partial batch
response, retries, bisecting, discarded records)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from local.places import ROOT

RETRY_S = 1.0
Record = dict[str, Any]
Handler = Callable[[dict[str, Any]], dict[str, Any] | None]


class Rules(BaseModel):
    """What template.yaml says of the mapping; AWS's defaults where it says nothing: until the record expires."""

    BatchSize: int = 100
    BisectBatchOnFunctionError: bool = False
    MaximumRetryAttempts: int = 10_000_000
    MaximumRecordAgeInSeconds: int = 86_400
    FunctionResponseTypes: list[str] = []


class _Template(yaml.SafeLoader):
    """CloudFormation's short forms (`!Ref`, `!Sub`) mean nothing here."""


_Template.add_multi_constructor("!", lambda loader, suffix, node: suffix)


def rules_of(function: str, event: str) -> Rules:
    """The rules of one event source in template.yaml."""
    template = yaml.load(Path(ROOT / "template.yaml").read_text(), _Template)
    return Rules.model_validate(template["Resources"][function]["Properties"]["Events"][event]["Properties"])


class EventSource:
    """Feeds `handler`. `clock_s` counts the seconds that retries take; `dead` has what was discarded."""

    def __init__(self, handler: Handler, rules: Rules) -> None:
        self._handler, self._rules = handler, rules
        self.clock_s = 0.0
        self.invocations = 0
        self.dead: list[Record] = []

    def feed(self, records: list[Record]) -> None:
        """Until every record is taken or discarded. The next batch waits for the one before."""
        size = self._rules.BatchSize
        for start in range(0, len(records), size):
            self._batch(records[start : start + size], 0)

    def _batch(self, batch: list[Record], attempts: int) -> None:
        while batch:
            first = self._invoke(batch)
            if first is None:
                return
            if attempts >= self._rules.MaximumRetryAttempts or self.clock_s >= self._rules.MaximumRecordAgeInSeconds:
                self.dead += batch[first:]
                return
            self.clock_s += RETRY_S
            reports = "ReportBatchItemFailures" in self._rules.FunctionResponseTypes
            if (
                first == 0
                and len(batch) > 1
                and self._rules.BisectBatchOnFunctionError
                and not (reports and self._said)
            ):
                half = len(batch) // 2
                self._batch(batch[:half], attempts)
                batch = batch[half:]
                continue
            batch = batch[first:]
            attempts += 1

    def _invoke(self, batch: list[Record]) -> int | None:
        """The place of the lowest failed sequence number, 0 for an exception; None if all were taken."""
        self.invocations += 1
        self._said = False
        try:
            answer = self._handler({"Records": batch}) or {}
        except Exception:  # noqa: BLE001  (Lambda does not look at what it was)
            return 0
        if "ReportBatchItemFailures" not in self._rules.FunctionResponseTypes:
            return None
        failed = {item["itemIdentifier"] for item in answer.get("batchItemFailures", [])}
        self._said = bool(failed)
        return next((i for i, r in enumerate(batch) if r["dynamodb"]["SequenceNumber"] in failed), None)


def job_record(number: int, id: str, doc: str) -> Record:
    """A change of a job, as the stream gives it."""
    key = {"pk": {"S": f"JOB#{id}"}, "sk": {"S": "JOB"}}
    return {
        "eventID": str(number), "eventName": "MODIFY", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1", "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/1",
        "dynamodb": {"Keys": key, "NewImage": {**key, "doc": {"S": doc}}, "SequenceNumber": f"{number:021d}",
                     "StreamViewType": "NEW_IMAGE", "SizeBytes": 1},
    }  # fmt: skip
