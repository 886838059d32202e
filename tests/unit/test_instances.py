"""EC2 as Paddock uses it, against botocore's service model."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.session import Session
from botocore.stub import Stubber

from functions.aws.clients import ONCE
from functions.aws.instances import Home, Instances
from functions.aws.startup import LARGEST
from functions.ports import LaunchRefused
from functions.tokens import is_own, report_token
from jobs.effects import Launch
from jobs.launching import launch_effect
from jobs.recipes.ernie_cls import RECIPE as ERNIE_CLS
from tests.samples import NOW, after, launching

HOME = Home(deployment="paddock", launch_template="paddock-trainer", image="image:1", bucket="bucket",
            reports_url="https://sqs/reports", region="us-east-1")  # fmt: skip


def instances() -> tuple[Instances, Stubber, list[dict[str, Any]]]:
    client = boto3.client("ec2", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    asked: list[dict[str, Any]] = []
    client.meta.events.register("provide-client-params.ec2.*", lambda params, **_: asked.append(params))
    return Instances(client, client, None, HOME, "k" * 32), Stubber(client), asked  # type: ignore[arg-type]


def order() -> Launch:
    job = launching()
    return launch_effect(job, job.attempts[0])


def launched() -> dict[str, Any]:
    return {"Instances": [{"InstanceId": "i-1", "LaunchTime": NOW}]}


def test_a_launch_is_idempotent_tagged_and_in_its_zone() -> None:
    cloud, stub, asked = instances()
    stub.add_response("run_instances", launched())
    stub.add_response("run_instances", launched())
    with stub:
        assert cloud.launch(launching(), order()) == ("i-1", NOW)
        cloud.launch(launching(), order())
    first, second = asked
    assert first == second, "asked twice, the request is the same to the letter"
    assert first["ClientToken"] == "paddock-abcdefgh-1"
    assert first["Placement"] == {"AvailabilityZone": "us-east-1a"}
    assert first["LaunchTemplate"]["LaunchTemplateName"] == "paddock-trainer"
    tags = {t["Key"]: t["Value"] for t in first["TagSpecifications"][0]["Tags"]}
    assert tags["paddock-deployment"] == "paddock"
    assert tags["paddock-lease"] == str(int(after(1800).timestamp()))
    assert tags["paddock-deadline"] == str(int(after(3600).timestamp()))
    assert len(first["UserData"]) <= LARGEST


def test_what_fails_before_it_is_sent_is_refused_for_certain() -> None:
    cloud, stub, asked = instances()
    job = launching()
    wide = job.with_(spec=job.spec.with_(params=job.spec.params | {"model": "型" * 3300}))
    with stub, pytest.raises(LaunchRefused) as refused:
        cloud.launch(wide, order())
    assert (refused.value.reason, asked) == ("invalid", [])
    assert "EC2 takes 16384" in refused.value.detail


def test_parameters_no_connection_and_no_credentials_start_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    job, keys = launching(), {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    bad = job.attempts[0].with_(pool=job.attempts[0].pool.model_copy(update={"zone": 7}))
    for attempt, known, reason in (
        (bad, keys, "invalid"),
        (job.attempts[0], keys, "busy"),
        (job.attempts[0], {}, "busy"),
    ):
        client = boto3.Session(botocore_session=Session()).client(
            "ec2", region_name="us-east-1", endpoint_url="http://127.0.0.1:9", config=ONCE, **known
        )
        cloud = Instances(client, client, None, HOME, "k" * 32)  # type: ignore[arg-type]
        with pytest.raises(LaunchRefused) as refused:
            cloud.launch(job, order().with_(attempt=attempt))
        assert refused.value.reason == reason


def test_the_widest_parameters_fit_the_start_up_data() -> None:
    cloud, stub, asked = instances()
    job = launching()
    widest = {p.name: "x" * p.longest if p.kind == "text" else p.high for p in ERNIE_CLS.params}
    stub.add_response("run_instances", launched())
    with stub:
        cloud.launch(job.with_(spec=job.spec.with_(params=job.spec.params | widest, resume="zzzzzzzz")), order())
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("InsufficientInstanceCapacity", 500, "capacity"),
        ("MaxSpotInstanceCountExceeded", 400, "quota"),
        ("VcpuLimitExceeded", 400, "quota"),
        ("RequestLimitExceeded", 503, "busy"),
        ("InvalidAMIID.NotFound", 400, "invalid"),
        ("UnauthorizedOperation", 403, "invalid"),
    ],
)
def test_errors_that_say_there_is_no_instance(code: str, status: int, reason: str) -> None:
    cloud, stub, _ = instances()
    stub.add_client_error("run_instances", code, "why", http_status_code=status)
    with stub, pytest.raises(LaunchRefused) as refused:
        cloud.launch(launching(), order())
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("code", "status"), [("InternalError", 500), ("Unavailable", 503), ("IdempotentParameterMismatch", 400)]
)
def test_after_any_other_error_there_may_be_an_instance(code: str, status: int) -> None:
    cloud, stub, _ = instances()
    stub.add_client_error("run_instances", code, "why", http_status_code=status)
    with stub, pytest.raises(ClientError):
        cloud.launch(launching(), order())


def test_ending_an_instance_that_ec2_forgot_is_done() -> None:
    cloud, stub, _ = instances()
    stub.add_client_error("terminate_instances", "InvalidInstanceID.NotFound", http_status_code=400)
    with stub:
        cloud.terminate("i-1")


def test_the_walk_asks_for_our_tag_in_pages_and_reads_what_is_there() -> None:
    cloud, stub, asked = instances()

    def instance(id: str, **more: Any) -> dict[str, Any]:
        tags = {"paddock-deployment": "paddock", "paddock-job": "abcdefgh", "paddock-attempt": "2",
                "paddock-lease": str(int(after(1800).timestamp()))}  # fmt: skip
        return {"InstanceId": id, "InstanceType": "g4dn.xlarge", "LaunchTime": NOW, "State": {"Name": "running"},
                "Placement": {"AvailabilityZone": "us-east-1a"},
                "Tags": [{"Key": k, "Value": v} for k, v in tags.items()], **more}  # fmt: skip

    over = {"State": {"Name": "terminated"}, "StateTransitionReason": "User initiated (2026-12-10 12:20:00 GMT)"}
    taken = {"State": {"Name": "terminated"}, "StateTransitionReason": "Server.SpotInstanceTermination"}
    odd = {"Tags": [{"Key": "paddock-lease", "Value": "soon"}]}
    stub.add_response("describe_instances", {"Reservations": [{"Instances": [instance("i-1"), instance("i-2", **over)]}],
                                             "NextToken": "more"})  # fmt: skip
    stub.add_response(
        "describe_instances", {"Reservations": [{"Instances": [instance("i-3", **taken), instance("i-4", **odd)]}]}
    )
    with stub:
        found = list(cloud.walk())
    assert asked[0]["Filters"] == [{"Name": "tag:paddock-deployment", "Values": ["paddock"]}]
    assert asked[0]["MaxResults"] == 1000
    assert [(f.seen.id, f.seen.attempt, f.seen.state) for f in found] == [
        ("i-1", 2, "running"), ("i-2", 2, "terminated"), ("i-3", 2, "terminated"), ("i-4", 0, "running"),
    ]  # fmt: skip
    assert [f.seen.ended_at for f in found] == [None, after(1200), None, None]
    assert found[0].lease == after(1800)
    assert found[3].lease is None


def test_a_token_fits_its_own_attempt_only() -> None:
    token = report_token("key", "abcdefgh", 1)
    assert is_own("key", "abcdefgh", 1, token)
    assert not is_own("key", "abcdefgh", 2, token)
    assert not is_own("key", "abcdefgi", 1, token)
    assert not is_own("other", "abcdefgh", 1, token)
    assert not is_own("key", "abcdefgh", 1, "ü")
