"""Money on the deployed stack: reservations, extensions, month alerts, and the control plane that dies."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from decimal import Decimal

import psutil

from functions.aws.table import Table
from functions.mailbox import deliver
from functions.ports import Conflict
from jobs import money
from jobs.job import Job, State
from jobs.messages import AnyMessage, StopRequested, Submit
from local.stack import Stack, local_stack
from tests.channel import ask, card_says, message, start, state_is, thread
from tests.samples import ADA, spec
from tests.waiting import until


class NoPools:
    """A market without pools: an accepted run waits, nothing is launched."""

    def quote(self, _: object) -> list[object]:
        return []


def now() -> datetime:
    return datetime.now(timezone.utc)


def table_of(stack: Stack) -> Table:
    return Table(stack.client("dynamodb"), stack.deployed.table, Decimal(100))


def handle(table: Table, mail: AnyMessage) -> Job:
    """What functions/jobs.py does with a message, delivered again on a conflict."""
    while True:
        try:
            job = deliver(mail, table, NoPools(), None, None, now)  # type: ignore[arg-type]
        except Conflict:
            continue
        assert job is not None
        return job


def submit(id: str, budget: str) -> Submit:
    return Submit(job=id, spec=spec(budget), owner=ADA, channel="C0PADDOCK", command="/train ernie-cls")


def test_two_at_once_with_room_for_one_two_hundred_times(stack: Stack) -> None:
    """Against a table like the deployed one: one is accepted, one is refused with the sum that would fit."""
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in (("pk", "HASH"), ("sk", "RANGE"))]
    types = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
    stack.client("dynamodb").create_table(
        TableName="two-at-once", KeySchema=keys, AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST"
    )
    table = Table(stack.client("dynamodb"), "two-at-once", Decimal(100))
    cap = table.ledger(money.month_of(now())).committed + Decimal(7)
    table.set_cap(cap)
    with ThreadPoolExecutor(2) as pool:
        for number in range(200):
            ids = [f"{side}{number:07o}" for side in "xy"]
            pair = list(pool.map(lambda id: handle(table, submit(id, "5")), ids))
            assert sorted(job.state.value for job in pair) == ["queued", "refused"], number
            refused = next(job for job in pair if job.state is State.REFUSED)
            accepted = next(job for job in pair if job.state is State.QUEUED)
            assert refused.why.facts["free"] == "$2.00"
            assert refused.why.facts["asked"] == "$5.00"
            stopped = handle(table, StopRequested(job=accepted.id, by=ADA))
            assert stopped.state is State.STOPPED
    assert table.ledger(money.month_of(now())).committed == cap - 7


def test_two_at_once_through_slack(stack: Stack) -> None:
    """The whole way, with the answers that the two people see."""
    stack.control("ec2", "capacity", full_zones=["us-east-1a", "us-east-1b", "us-east-1c"])
    table = table_of(stack)
    table.set_cap(table.ledger(money.month_of(now())).committed + Decimal(7))
    try:
        with ThreadPoolExecutor(2) as pool:
            users = ["U0ADA", "U0LIN"]
            list(pool.map(lambda user: stack.type("/train ernie-cls epochs=500 budget=$5", user), users))

        def refusals() -> list[str]:
            state = stack.channel()
            return [m["text"] for m in state["messages"] if m["only_for"] and "Not started" in m["text"]]

        refusal = until(refusals)
        assert len(refusal) == 1
        assert "$5.00 is more than the $2.00 left" in refusal[0]
        assert "`budget=$2.00` would fit" in refusal[0]
        waiting = [job for job in table.live() if job.state is State.QUEUED]
        assert len(waiting) == 1
        card_says(stack, waiting[0].id, "No spot capacity")
        ask(stack, f"/jobs stop {waiting[0].id}")
        state_is(stack, waiting[0].id, "stopped")
    finally:
        table.set_cap(Decimal(100))
        stack.control("ec2", "capacity", full_zones=[])


def test_extend_alerts_and_the_button(stack: Stack) -> None:
    """A small budget at the worst price: the 80 % alert comes at once, and its button raises the budget."""
    stack.control("ec2", "market", share="1")
    job = start(stack, "/train ernie-cls epochs=500 samples=640 budget=$0.011")
    alert = until(lambda: [m for m in stack.channel()["messages"] if m["thread_ts"] and f"`{job}`" in m["text"]])[0]
    assert alert["text"].startswith("<@U0ADA> 80 %")
    assert alert["broadcast"]
    button = alert["blocks"][1]["elements"][0]
    assert button["text"]["text"] == "Extend +$0.01"
    stack.press("extend", button["value"], user="U0LIN")
    until(
        lambda: [m for m in stack.channel()["messages"] if m["only_for"] == "U0LIN" and f"started `{job}`" in m["text"]]
    )
    stack.press("extend", button["value"])
    until(
        lambda: [
            m for m in stack.channel()["messages"] if m["only_for"] == "U0ADA" and "may now spend $0.021" in m["text"]
        ]
    )
    ask(stack, f"/jobs extend {job} budget=+$2 time=+1h")
    card_says(stack, job, "of $2.021")
    assert "2h" in card_says(stack, job, "of 2h")
    ask(stack, f"/jobs extend {job} budget=+$2000")
    until(lambda: [m for m in stack.channel()["messages"] if m["only_for"] == "U0ADA" and "Not extended" in m["text"]])
    ask(stack, f"/jobs stop {job}")
    state_is(stack, job, "stopped")


def test_the_month_s_alert_reaches_channel_and_thread(stack: Stack) -> None:
    table = table_of(stack)
    job = start(stack, "/train ernie-cls epochs=500 samples=640 budget=$0.5")
    card_says(stack, job, "checkpoint at step")
    month = money.month_of(now())
    spent = table.ledger(month).settled + sum((j.spent for j in table.live() if not j.state.is_end), Decimal(0))
    table.set_cap((spent * Decimal("1.5")).quantize(Decimal("0.0001")))
    try:
        stack.client("lambda").invoke(FunctionName=stack.deployed.watch)
        told = until(lambda: [m for m in stack.channel()["messages"] if "of the team's GPU budget" in m["text"]])
        until(lambda: any("of the team's GPU budget" in reply for reply in thread(stack, job)))
        assert "50 %" in told[0]["text"]
        stack.client("lambda").invoke(FunctionName=stack.deployed.watch)
    finally:
        table.set_cap(Decimal(100))
        ask(stack, f"/jobs stop {job}")
        state_is(stack, job, "stopped")
    said = [m["text"] for m in stack.channel()["messages"] if "of the team's GPU budget" in m["text"]]
    assert len(said) == 2, "once in the budget channel, once in the thread"


def test_an_orphan_is_ended_by_the_sweep(stack: Stack) -> None:
    """An instance under our tag that no run knows; one under another deployment's tag is left alone."""
    ec2 = stack.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]

    def launch(deployment: str) -> str:
        from functions.aws.startup import user_data
        from jobs.messages import RunSpec

        end = datetime.now(timezone.utc).replace(year=2099)
        run = RunSpec(job="orphan22", attempt=1, recipe="none", params={}, bucket="-", checkpoints="-", result="-",
                      resume_from=None, reports="-", token="-" * 16, region="us-east-1")  # fmt: skip
        tags = {"paddock-deployment": deployment, "paddock-job": "orphan22", "paddock-attempt": "1",
                "paddock-lease": str(int(end.timestamp()))}  # fmt: skip
        answer = ec2.run_instances(
            ImageId=image, MinCount=1, MaxCount=1, InstanceType="g4dn.xlarge",
            UserData=user_data(run, "-", "/paddock/runs", end, end, 1),
            TagSpecifications=[{"ResourceType": "instance",
                                "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}],
        )  # fmt: skip
        return str(answer["Instances"][0]["InstanceId"])

    ours, theirs = launch("paddock"), launch("another")

    def state(id: str) -> str:
        return str(ec2.describe_instances(InstanceIds=[id])["Reservations"][0]["Instances"][0]["State"]["Name"])

    stack.client("lambda").invoke(FunctionName=stack.deployed.watch)
    until(lambda: state(ours) == "terminated")
    events = state(theirs)
    assert events in ("running", "terminated")  # its trainer fails by itself; nobody of ours ended it
    reason = ec2.describe_instances(InstanceIds=[theirs])["Reservations"][0]["Instances"][0]
    assert not reason.get("StateTransitionReason") or events == "terminated"
    ec2.terminate_instances(InstanceIds=[theirs])
    until(lambda: not stack.instances())


def test_when_the_whole_control_plane_dies_the_instance_ends_by_its_lease() -> None:
    """Nothing of ours runs any more but the host's guard; the run still costs no more than its budget."""
    with local_stack(kept=None) as stack:
        stack.control("ec2", "market", share="1")
        job = start(stack, "/train ernie-cls epochs=500 samples=640 budget=$0.01")
        card_says(stack, job, "checkpoint at step")
        assert message(stack, job) is not None
        launched = table_of(stack).load(job)
        assert launched is not None
        attempt = launched.attempts[0]
        [instance] = stack.instances()
        folder = stack.folder / "instances" / instance
        pid = int((folder / "trainer.pid").read_text())
        account = stack.servers.pop("account")
        for child in psutil.Process(account.pid).children(recursive=True):
            child.kill()
        os.kill(account.pid, signal.SIGKILL)
        account.wait()
        until(lambda: not stack.instances())
        ended = now()
        assert not psutil.pid_exists(pid)
        assert attempt.started_at is not None
        bill = money.bill((), attempt.started_at, ended, attempt.started_at, attempt.pool.rates)
        assert bill <= Decimal("0.01")
        assert (ended - attempt.started_at).total_seconds() > 45, "it trained until its lease"
