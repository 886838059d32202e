"""The real notify function behind a double of Lambda's event source that follows AWS's rules: one card that cannot be
told, for whatever reason, does not keep the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk import WebClient

from functions.aws.table import Table
from jobs.job import Job
from jobs.money import ZERO
from local import account
from local.places import ROOT
from local.slack import Slack
from local.stack import Stack
from tests.conftest import TOKEN
from tests.event_source import EventSource, job_record, rules_of
from tests.samples import running
from tests.waiting import until

CARDS = 100
POISONED = 42


class Notify:
    """The deployed function's own settings, with a table, a retry queue and a Slack workspace of the drill."""

    def __init__(self, stack: Stack, slack: WebClient, name: str) -> None:
        self.dynamodb, self.sqs = stack.client("dynamodb"), stack.client("sqs")
        deployed = stack.client("lambda").get_function_configuration(FunctionName=_notify(stack))
        table = self.dynamodb.describe_table(TableName=stack.deployed.table)["Table"]
        self.dynamodb.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=table["KeySchema"],
            AttributeDefinitions=table["AttributeDefinitions"],
            GlobalSecondaryIndexes=[{k: i[k] for k in ("IndexName", "KeySchema", "Projection")}
                                    for i in table["GlobalSecondaryIndexes"]],
        )  # fmt: skip
        self.table = Table(self.dynamodb, name, ZERO)
        self.name, self.queue = name, self.sqs.create_queue(QueueName=f"{name}-retries")["QueueUrl"]
        secret = {"slack_signing_secret": "s" * 16, "slack_bot_token": TOKEN, "report_key": "r" * 32}
        arn = stack.client("secretsmanager").create_secret(Name=name, SecretString=json.dumps(secret))["ARN"]
        env = account.environment(stack.account_port, stack.folder, stack.ec2_port)
        env |= deployed["Environment"]["Variables"] | {
            "PADDOCK_TABLE": name, "PADDOCK_RETRIES_URL": self.queue, "PADDOCK_SECRET": arn, "PYTHONPATH": str(ROOT),
            "PADDOCK_SLACK_API": slack.base_url, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": stack.account,
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        }  # fmt: skip
        self.log = (stack.folder / f"{name}.log").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.notify_worker"], cwd=ROOT, env={**os.environ, **env}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
        )  # fmt: skip

    def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(event), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "raised" in answer:
            raise RuntimeError(answer["raised"])
        return dict(answer["ok"])

    def retry(self) -> None:
        """One poll of the retry queue's event source."""
        found = self.sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages", [])
        records = [
            {"messageId": m["MessageId"], "receiptHandle": m["ReceiptHandle"], "body": m["Body"], "attributes": {},
             "messageAttributes": {}, "md5OfBody": "", "eventSource": "aws:sqs", "awsRegion": "us-east-1",
             "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:retries"}
            for m in found
        ]  # fmt: skip
        if not records:
            return
        failed = {item["itemIdentifier"] for item in self({"Records": records})["batchItemFailures"]}
        for message in found:
            if message["MessageId"] not in failed:
                self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])

    def logged(self, words: str) -> int:
        self.log.seek(0)
        return self.log.read().count(words)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def _notify(stack: Stack) -> str:
    functions = stack.client("lambda").list_functions()["Functions"]
    return next(str(f["FunctionName"]) for f in functions if "Notify" in f["FunctionName"])


@pytest.fixture
def notify(stack: Stack, slack: tuple[Slack, WebClient], request: pytest.FixtureRequest) -> Iterator[Notify]:
    # Slack's own limits are for another test: here an hour is three seconds.
    slack[0].workspace.clock = lambda: time.monotonic() * 1000
    made = Notify(stack, slack[1], f"drill-{abs(hash(request.node.name)) % 10**8}")
    yield made
    made.end()


def job_named(number: int) -> Job:
    name = f"drill{chr(97 + number // 26)}{chr(97 + number % 26)}a"
    job: Job = running().with_(id=name, version=number + 1)
    return job


@pytest.mark.parametrize("poison", ["invalid_blocks", "msg_too_long", "restricted_action", "internal_error", "unread"])
def test_one_poisoned_card_of_a_hundred(notify: Notify, slack: tuple[Slack, WebClient], poison: str) -> None:
    workspace = slack[0].workspace
    jobs = [job_named(number) for number in range(CARDS)]
    for job in jobs:
        notify.table.save(job, 0, [], enforce=False)
    bad = jobs[POISONED]
    if poison == "unread":
        notify.dynamodb.put_item(
            TableName=notify.name, Item={"pk": {"S": f"JOB#{bad.id}"}, "sk": {"S": "JOB"}, "doc": {"S": "{}"}}
        )
    else:
        workspace.poison = {bad.id: poison}
    source = EventSource(notify, rules_of("NotifyFunction", "Stream"))
    source.feed([job_record(number, job.id, job.model_dump_json()) for number, job in enumerate(jobs, start=1)])
    assert source.clock_s == 0, "nothing of the stream was tried again"
    assert source.dead == []

    def current() -> bool:
        notify.retry()
        texts = [m["text"] for m in workspace.state()["messages"] if m["blocks"]]
        return all(any(job.id in text for text in texts) for job in jobs if job is not bad)

    until(current)
    if poison in ("invalid_blocks", "msg_too_long"):
        assert notify.table.told(f"JOB#{bad.id}").failed == {"card-1": poison}
        source.feed([job_record(200 + n, bad.id, bad.model_dump_json()) for n in range(10)])
        assert notify.logged("Slack never takes this message") == 1
        assert len([c for c in workspace.calls if c["method"] == "chat.postMessage"]) == CARDS


def test_the_outage_is_written_down_under_a_condition(notify: Notify) -> None:
    """What telling.Books promises, by the real table."""
    from functions.telling import Outage
    from tests.samples import NOW, after

    table = notify.table
    first = Outage(code="internal_error", since=NOW, until=after(2))
    second = first.with_(until=after(4), tries=2)
    assert table.outage() is None
    assert table.save_outage(first, None)
    assert not table.save_outage(second, None), "somebody was faster"
    assert table.obstacle("C0LOUNGE") == "internal_error"
    assert table.save_outage(second, first)
    assert not table.save_outage(None, first)
    assert table.outage() == second
    assert table.save_outage(None, second)
    assert table.outage() is None
    table.close("C0LOUNGE", "not_in_channel")
    assert table.obstacle("C0LOUNGE") == "not_in_channel"
    assert table.obstacle("C0PADDOCK") == ""
    table.close("C0LOUNGE", "")
    assert table.obstacle("C0LOUNGE") == ""
