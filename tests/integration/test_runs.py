"""Runs through the deployed stack: real functions, a real trainer on real text, real processes."""

from __future__ import annotations

import json
import os
import signal
from decimal import Decimal

import pytest

from jobs.job import Job
from local.stack import Stack
from tests.channel import ask, card_says, start, state_is, thread
from tests.waiting import until


def job_of(stack: Stack, id: str) -> Job:
    key = {"pk": {"S": f"JOB#{id}"}, "sk": {"S": "JOB"}}
    item = stack.client("dynamodb").get_item(TableName=stack.deployed.table, Key=key, ConsistentRead=True)["Item"]
    return Job.model_validate_json(item["doc"]["S"])


def trainer_pid(stack: Stack, instance: str) -> int:
    note = stack.folder / "instances" / instance / "trainer.pid"
    return int(until(lambda: note.exists() and note.read_text()))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_three_epochs_are_trained_for_real(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=3")
    for epoch in (1, 2, 3):
        card_says(stack, job, f"epoch {epoch}/3")
    text = state_is(stack, job, "succeeded")
    assert "epoch 3/3 · step 750/750" in text
    done = job_of(stack, job)
    assert done.metrics["accuracy"] >= 0.75, "the majority class has 0.52"
    assert done.spent > 0
    until(lambda: not stack.instances())
    assert any("succeeded" in reply for reply in thread(stack, job))
    assert done.checkpoint is not None
    pointer = stack.client("s3").get_object(Bucket=stack.deployed.bucket, Key=f"jobs/{job}/checkpoints/pointer.json")
    assert json.loads(pointer["Body"].read())["checkpoints"][0]["step"] == 750


def test_time_and_budget_end_runs_that_others_go_on_from(stack: Stack) -> None:
    stack.control("ec2", "market", share="1")
    by_time = start(stack, "/train ernie-cls epochs=500 samples=640 time=60s")
    card_says(stack, by_time, "checkpoint at step")
    by_budget = start(stack, "/train ernie-cls epochs=500 samples=640 budget=$0.01", user="U0LIN")
    text = state_is(stack, by_time, "out of time")
    assert "The time limit of 1m is reached" in text
    timed = job_of(stack, by_time)
    assert timed.checkpoint is not None
    assert timed.ended_at is not None
    assert timed.deadline is not None
    assert timed.ended_at <= timed.deadline
    # The LR schedule depends on the epochs, the data order does not: another number of epochs may go on from here.
    further = start(stack, f"/train ernie-cls epochs=600 samples=640 resume={by_time}")
    card_says(stack, further, f"resumed from step {timed.checkpoint.step}")
    ask(stack, f"/jobs stop {further}")
    text = state_is(stack, by_budget, "out of budget")
    assert "The budget of $0.01 is reached" in text
    spent = job_of(stack, by_budget)
    assert Decimal(0) < spent.spent <= Decimal("0.01")
    assert spent.checkpoint is not None
    assert [alert.percent for alert in spent.alerts][-1] == 100
    told = [reply for reply in thread(stack, by_budget) if "out of budget" not in reply]
    assert len(told) == len(spent.alerts)
    assert all(reply.startswith("<@U0LIN>") for reply in told)
    state_is(stack, further, "stopped")
    until(lambda: not stack.instances())


def test_stop_ends_the_process_and_its_schedule(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=500 samples=640")
    card_says(stack, job, "checkpoint at step")
    [instance] = stack.instances()
    pid = trainer_pid(stack, instance)
    schedules = stack.client("scheduler")
    schedule = schedules.get_schedule(Name=instance, GroupName="paddock-leases")
    assert schedule["Target"]["Arn"] == "arn:aws:scheduler:::aws-sdk:ec2:terminateInstances"
    assert json.loads(schedule["Target"]["Input"]) == {"InstanceIds": [instance]}
    lease = job_of(stack, job).attempts[0].lease_until
    assert schedule["ScheduleExpression"] == f"at({lease:%Y-%m-%dT%H:%M:%S})"
    answer = ask(stack, f"/jobs stop {job}", user="U0LIN")
    assert "Stopping" in answer
    until(lambda: not alive(pid))
    text = state_is(stack, job, "stopped")
    assert "<@U0LIN>" in text
    assert "already over" in ask(stack, f"/jobs stop {job}")
    with pytest.raises(schedules.exceptions.ResourceNotFoundException):
        schedules.get_schedule(Name=instance, GroupName="paddock-leases")


def test_a_killed_trainer_goes_on_from_its_checkpoint(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=4 samples=3200")
    card_says(stack, job, "checkpoint at step")
    first = stack.instances()[0]
    os.kill(trainer_pid(stack, first), signal.SIGKILL)
    text = card_says(stack, job, "resumed from step")
    assert "attempt 2" in text
    state_is(stack, job, "succeeded")
    done = job_of(stack, job)
    assert [a.number for a in done.attempts] == [1, 2]
    assert done.progress is not None
    assert done.progress.step == 400


def test_an_interruption_with_notice_saves_first(stack: Stack) -> None:
    job = start(stack, "/train ernie-cls epochs=500 samples=640")
    card_says(stack, job, "checkpoint at step")
    stack.control("ec2", "interrupt", instance=stack.instances()[0], notice_s=20)
    text = card_says(stack, job, "resumed from step")
    assert "attempt 2" in text
    stack.press("stop", job)
    state_is(stack, job, "stopped")
    assert job_of(stack, job).attempts[0].notice_at is not None


def test_logs_name_job_and_attempt_and_hold_no_secret(stack: Stack) -> None:
    """After all the runs above: Powertools lines of the jobs function, and every line of every function."""
    logs = stack.client("logs")
    lines: list[str] = []
    ours: list[dict[str, object]] = []
    for group in logs.describe_log_groups()["logGroups"]:
        for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"]):
            for event in page["events"]:
                lines.append(event["message"])
                if "JobsFunction" in group["logGroupName"] and event["message"].startswith("{"):
                    ours.append(json.loads(event["message"]))
    assert ours, "the jobs function logs"
    assert [line for line in ours if not {"job", "attempt"} <= line.keys()] == []
    said = "\n".join(lines) + json.dumps(stack.channel())
    for secret in (stack.keys.slack_bot_token, stack.keys.slack_signing_secret, stack.keys.report_key):
        assert secret not in said
