"""The schedule that ends an instance without our code, checked against botocore's service models and the template."""

from __future__ import annotations

import json
import re
from typing import Any

import boto3
import pytest
import yaml
from botocore.stub import ANY, Stubber
from botocore.validate import ParamValidator

from functions.aws.instances import DEPLOYMENT
from functions.aws.schedules import InstanceSchedules
from local.places import ROOT
from tests.samples import after

ROLE = "arn:aws:iam::123456789012:role/paddock-schedule"


def session() -> boto3.Session:
    return boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")


def stubbed() -> tuple[Any, Stubber]:
    client = session().client("scheduler")
    return client, Stubber(client)


def expected(instance: str) -> dict[str, Any]:
    return {
        "Name": instance, "GroupName": "paddock-leases", "ScheduleExpression": "at(2026-12-10T12:30:00)",
        "ScheduleExpressionTimezone": "UTC", "Target": ANY, "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
    }  # fmt: skip


def test_it_is_moved_or_else_made() -> None:
    """The stubber checks every request against the service's model."""
    client, stub = stubbed()
    stub.add_response("update_schedule", {"ScheduleArn": "a"}, expected("i-1"))
    stub.add_client_error("update_schedule", "ResourceNotFoundException", expected_params=expected("i-2"))
    stub.add_response("create_schedule", {"ScheduleArn": "a"}, expected("i-2"))
    with stub:
        schedules = InstanceSchedules(client, "paddock-leases", ROLE)
        schedules.put("i-1", after(1800))
        schedules.put("i-2", after(1800))
        stub.assert_no_pending_responses()


def test_deleting_what_is_not_there_is_fine() -> None:
    client, stub = stubbed()
    stub.add_client_error("delete_schedule", "ResourceNotFoundException")
    with stub:
        InstanceSchedules(client, "paddock-leases", ROLE).delete("i-1")


@pytest.mark.parametrize("partition", ["aws", "aws-cn"])
def test_the_target_is_ec2_s_own_terminate_instances(partition: str) -> None:
    client, stub = stubbed()
    sent: dict[str, Any] = {}
    client.meta.events.register(
        "before-parameter-build.scheduler.UpdateSchedule", lambda params, **_: sent.update(params)
    )
    stub.add_response("update_schedule", {"ScheduleArn": "a"}, {**expected("i-1")})
    with stub:
        InstanceSchedules(client, "paddock-leases", ROLE, partition).put("i-1", after(1800))
    target = sent["Target"]
    found = re.fullmatch(rf"arn:{partition}:scheduler:::aws-sdk:([a-z0-9]+):([a-z][A-Za-z]+)", target["Arn"])
    assert found
    service, action = found.groups()
    operation = session().client(service).meta.service_model.operation_model(action[0].upper() + action[1:])
    report = ParamValidator().validate(json.loads(target["Input"]), operation.input_shape)
    assert not report.has_errors(), report.generate_report()
    assert json.loads(target["Input"]) == {"InstanceIds": ["i-1"]}
    assert target["RoleArn"] == ROLE


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short functions as plain values."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: {tag: getattr(node, "value", None)})


def test_the_role_may_end_this_deployment_s_instances_and_nothing_else() -> None:
    template = yaml.load((ROOT / "template.yaml").read_text(), Loader=_Loader)
    role = template["Resources"]["ScheduleRole"]["Properties"]
    [statement] = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "ec2:TerminateInstances"
    assert list(statement["Condition"]["StringEquals"]) == [f"aws:ResourceTag/{DEPLOYMENT}"]
    assert str(statement["Resource"]).count("instance/") == 1
    trusted = role["AssumeRolePolicyDocument"]["Statement"][0]
    assert trusted["Principal"] == {"Service": "scheduler.amazonaws.com"}


def test_the_launch_template_terminates_on_shutdown_and_shows_its_tags_to_the_guard() -> None:
    template = yaml.load((ROOT / "template.yaml").read_text(), Loader=_Loader)
    data = template["Resources"]["LaunchTemplate"]["Properties"]["LaunchTemplateData"]
    assert data["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert data["MetadataOptions"] == {
        "HttpTokens": "required", "HttpPutResponseHopLimit": 1, "InstanceMetadataTags": "enabled",
    }  # fmt: skip
    assert data["InstanceMarketOptions"]["SpotOptions"]["InstanceInterruptionBehavior"] == "terminate"
    assert "Ingress" not in str(template["Resources"]["TrainerSecurityGroup"])
