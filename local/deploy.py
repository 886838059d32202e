"""Deploys template.yaml, the same that goes to AWS, to the emulated account."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from jobs.model import Model
from local import build
from local.places import ROOT

Clients = Callable[[str], Any]
"""A boto3 client of the local stack, by service name."""
STACK = "paddock"
PACKAGES = "paddock-packages"
MACHINE_IMAGE = "/paddock/machine-image"
LOCAL_TERMS = {"margin_s": 5, "warning_s": 8, "useful_s": 8, "certain_s": 120, "grace_s": 15, "boot_s": 300,
               "silent_s": 120}  # fmt: skip
"""A laptop's instance starts in seconds and its market has no delay; the rules are the same."""


class Keys(Model):
    """This stack's secrets, made anew each time."""

    slack_signing_secret: str
    slack_bot_token: str
    report_key: str

    @classmethod
    def fresh(cls) -> Keys:
        return cls(slack_signing_secret=secrets.token_hex(16), slack_bot_token=f"xoxb-{secrets.token_hex(12)}",
                   report_key=secrets.token_hex(32))  # fmt: skip


class Deployed(Model):
    """What the deployed stack is called."""

    slack_url: str
    table: str
    bucket: str
    mailbox: str
    reports: str
    watch: str
    run_logs: str


def deploy(
    client: Clients, account_ec2: Any, account: str, ec2: str, slack: str, keys: Keys, folder: Path,
    options: dict[str, str],
) -> Deployed:  # fmt: skip
    """Create the stack. `account_ec2`: the emulated account's own EC2, where CloudFormation makes the launch template.
    `account`, `ec2`, `slack` are base URLs; `options` are parameters of the template that differ
    from the local defaults. Raises RuntimeError with the stack's own reasons when it cannot be created."""
    parameters = {
        "SecretArn": _secret(client, keys), "TrainerImage": "paddock-trainer:local", "MachineImage": MACHINE_IMAGE,
        "SlackApi": f"{slack}/api/",
        "PriceLagSeconds": "0", "VolumeGb": "30", "DefaultTimeSeconds": "3600", "Terms": json.dumps(LOCAL_TERMS),
        "Admins": "U0ADA", "BudgetChannel": "C0PADDOCK", "MonthBudgetUsd": "100", **options,
    }  # fmt: skip
    client("ssm").put_parameter(Name=MACHINE_IMAGE, Value="ami-12c6146b", Type="String")
    template = (ROOT / "template.yaml").read_text()
    location = _upload(client, build.archive(folder / "functions.zip"))
    template = template.replace("CodeUri: .build/functions/", f"CodeUri: {location}")
    stacks = client("cloudformation")
    stacks.create_stack(
        StackName=STACK, TemplateBody=template, Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
    )  # fmt: skip
    try:
        stacks.get_waiter("stack_create_complete").wait(
            StackName=STACK, WaiterConfig={"Delay": 0.2, "MaxAttempts": 300}
        )
    except Exception as error:
        events = stacks.describe_stack_events(StackName=STACK)["StackEvents"]
        reasons = [f"{e['LogicalResourceId']}: {e['ResourceStatusReason']}" for e in events if "FAILED" in
                   e.get("ResourceStatus", "") and e.get("ResourceStatusReason")]  # fmt: skip
        raise RuntimeError("the stack was not created: " + "; ".join(reasons)) from error
    outputs = {
        o["OutputKey"]: o["OutputValue"] for o in stacks.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
    }
    _share_launch_template(account_ec2, ec2)
    url_id = outputs["SlackUrl"].removeprefix("https://").split(".")[0]
    slack_url = f"{account}/_aws/lambda-url/{url_id}/"
    httpx.post(f"{slack}/stand-in/url", json={"url": slack_url}, trust_env=False).raise_for_status()
    return Deployed(
        slack_url=slack_url,
        table=outputs["TableName"],
        bucket=outputs["BucketName"],
        mailbox=outputs["MailboxUrl"],
        reports=outputs["ReportsUrl"],
        watch=outputs["WatchName"],
        run_logs=outputs["RunLogsName"],
    )


def _secret(client: Clients, keys: Keys) -> str:
    return str(client("secretsmanager").create_secret(Name="paddock/local", SecretString=keys.model_dump_json())["ARN"])


def _upload(client: Clients, package: Path) -> str:
    s3 = client("s3")
    s3.create_bucket(Bucket=PACKAGES)
    s3.upload_file(str(package), PACKAGES, package.name)
    return f"s3://{PACKAGES}/{package.name}"


def _share_launch_template(account_ec2: Any, ec2: str) -> None:
    """The account's EC2 and the stand-in are two: copy the launch template over."""
    for template in account_ec2.describe_launch_templates()["LaunchTemplates"]:
        versions = account_ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        asked = {"name": template["LaunchTemplateName"], "data": {"ImageId": data["ImageId"]}}
        httpx.post(f"{ec2}/stand-in/launch-template", json=asked, trust_env=False).raise_for_status()
