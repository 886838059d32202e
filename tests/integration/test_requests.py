"""What comes to the Function URL, over HTTP."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from slack_sdk.signature import SignatureVerifier

from local.stack import Stack
from tests.channel import ask, message, start, state_is
from tests.waiting import until

COMMAND = {
    "team_id": "T0PADDOCK", "channel_id": "C0PADDOCK", "user_id": "U0ADA", "user_name": "ada", "command": "/train",
    "text": "ernie-cls epochs=3", "trigger_id": "1.2.3", "response_url": "http://127.0.0.1/unused",
}  # fmt: skip


def jobs(stack: Stack) -> int:
    items = stack.client("dynamodb").scan(TableName=stack.deployed.table)["Items"]
    return sum(item["sk"]["S"] == "JOB" for item in items)


def send(stack: Stack, body: bytes, **headers: str) -> httpx.Response:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    return stack.http.post(stack.deployed.slack_url, content=body, headers=form | headers)


def signed(stack: Stack, form: dict[str, Any], at: float | None = None, **more: str) -> httpx.Response:
    body, stamp = urlencode(form), str(int(at or time.time()))
    signature = SignatureVerifier(stack.keys.slack_signing_secret).generate_signature(timestamp=stamp, body=body)
    headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature or "", **more}
    return send(stack, body.encode(), **headers)


NOW = str(int(time.time()))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Slack-Request-Timestamp": NOW, "X-Slack-Signature": "v0=" + "0" * 64},
        {"X-Slack-Request-Timestamp": "not-a-number", "X-Slack-Signature": "v0=" + "0" * 64},
        {"X-Slack-Request-Timestamp": "-1", "X-Slack-Signature": "v0="},
        {"X-Slack-Request-Timestamp": NOW, "X-Slack-Signature": ""},
        {"X-Slack-Request-Timestamp": "9" * 40, "X-Slack-Signature": "v0=0"},
    ],
)
def test_an_unsigned_request_is_401_and_starts_nothing(stack: Stack, headers: dict[str, str]) -> None:
    before = jobs(stack)
    assert send(stack, urlencode(COMMAND).encode(), **headers).status_code == 401
    assert jobs(stack) == before


@pytest.mark.parametrize("age_s", [301, -301, 86_400])
def test_an_old_signature_is_401(stack: Stack, age_s: int) -> None:
    before = jobs(stack)
    assert signed(stack, COMMAND, at=time.time() - age_s).status_code == 401
    assert jobs(stack) == before


def test_a_body_that_is_no_text_is_401(stack: Stack) -> None:
    assert (
        send(stack, b"\xff\xfe\x00", **{"X-Slack-Request-Timestamp": NOW, "X-Slack-Signature": "v0=0"}).status_code
        == 401
    )


def test_a_wrong_command_answers_only_the_typist_and_queues_nothing(stack: Stack) -> None:
    before = jobs(stack)
    answer = ask(stack, "/train erny-cls epoch=abc")
    assert "Did you mean `ernie-cls`?" in answer
    assert "`abc` is not a number" in answer
    assert "`/train ernie-cls epochs=3 budget=$5`" in answer
    assert jobs(stack) == before
    public = [m for m in stack.channel()["messages"] if not m["only_for"]]
    assert not any("erny" in m["text"] for m in public)


def test_chinese_is_answered_in_chinese(stack: Stack) -> None:
    assert "不是数字" in ask(stack, "/train ernie-cls 轮数=三")


def test_a_repeated_delivery_makes_one_run(stack: Stack) -> None:
    before = jobs(stack)
    form = COMMAND | {"trigger_id": "same.trigger", "text": "ernie-cls epochs=500 samples=640"}
    for retry in ("", "1", "2"):
        answer = signed(stack, form, **({"X-Slack-Retry-Num": retry} if retry else {}))
        assert answer.status_code == 200
        assert answer.json()["response_type"] == "ephemeral"
    job = answer.json()["text"].split("`")[1]
    until(lambda: message(stack, job))
    ask(stack, f"/jobs stop {job}")
    state_is(stack, job, "stopped")
    assert jobs(stack) == before + 1


def test_jobs_and_budget_and_details(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=500 samples=640 budget=$3")
    until(lambda: message(stack, job))
    assert f"`{job}` ernie-cls" in ask(stack, "/jobs")
    month = ask(stack, "/budget")
    assert "reserved" in month
    assert "<@U0ADA>" in month
    assert "Only an administrator" in ask(stack, "/budget set $500", user="U0LIN")
    assert "There is no run" in ask(stack, "/jobs stop zzzzzzzz")
    stack.press("details", job)
    modal = until(lambda: stack.channel()["modal"])
    assert job in modal["title"]["text"]
    assert "samples" in json.dumps(modal)
    stack.http.post(f"{stack.slack}/close", json={})
    stack.press("stop", job)
    state_is(stack, job, "stopped")


def test_a_report_without_the_attempt_s_token_is_dropped(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=500 samples=640")
    until(stack.instances)
    forged = {"kind": "finished", "job": job, "attempt": 1, "seq": 99, "at": "2026-12-01T00:00:00Z", "step": 1}
    queue = stack.client("sqs")
    for body in (json.dumps({"token": "0" * 64, "report": forged}), "not json", json.dumps({"report": forged})):
        queue.send_message(QueueUrl=stack.deployed.reports, MessageBody=body)

    def empty() -> bool:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = queue.get_queue_attributes(QueueUrl=stack.deployed.reports, AttributeNames=names)["Attributes"]
        return all(count == "0" for count in counts.values())

    until(empty)
    assert stack.instances(), "the run goes on"
    ask(stack, f"/jobs stop {job}")
    state_is(stack, job, "stopped")


def test_a_run_from_a_channel_without_the_app(stack: Stack) -> None:
    """It goes on; its card is in a direct message, the typist is told what to type, and an invitation brings it home."""

    def said(channel: str) -> list[dict[str, Any]]:
        return [m for m in stack.channel()["messages"] if m["channel"] == channel and m["user"] == "B0PADDOCK"]

    def private(words: str) -> list[dict[str, Any]]:
        return [m for m in said("C0LOUNGE") if m["only_for"] == "U0ADA" and words in m["text"]]

    job = start(stack, "/train ernie-cls epochs=500 samples=640", channel="C0LOUNGE")
    until(lambda: [m for m in said("C0LOUNGE") if "`/invite @paddock`" in m["text"] and f"`{job}`" in m["text"]])
    state_is(stack, job, "running")
    found = message(stack, job)
    assert found is not None
    assert found["channel"] == "D0ADA"
    assert "The run goes on" in found["text"]
    second = start(stack, "/train ernie-cls epochs=501 samples=640", channel="C0LOUNGE")
    assert "`/invite @paddock`" in private(f"`{second}`")[0]["text"], "known by now: the answer to the command says so"
    stack.type("/invite @paddock", channel="C0LOUNGE")
    for id in (job, second):
        until(lambda id=id: (message(stack, id) or {}).get("channel") == "C0LOUNGE")  # type: ignore[misc]
        assert not any("/invite" in block.get("text", {}).get("text", "") for block in message(stack, id)["blocks"])  # type: ignore[index]
        ask(stack, f"/jobs stop {id}", channel="C0LOUNGE")
        state_is(stack, id, "stopped")
    stack.control("slack", "leave", channel="C0LOUNGE")
