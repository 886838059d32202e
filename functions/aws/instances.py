"""EC2 as Paddock uses it: spot instances under our tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)

from functions.aws.prices import Prices
from functions.aws.startup import TooMuchData, user_data
from functions.ports import Found, LaunchRefused
from functions.tokens import report_token
from jobs.effects import Launch
from jobs.job import Job
from jobs.messages import Pool, RunSpec, SeenInstance, Tick
from jobs.model import Model
from jobs.pricing import prices_needed

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import InstanceTypeDef

logger = Logger(service="paddock", child=True)
DEPLOYMENT, JOB, ATTEMPT = "paddock-deployment", "paddock-job", "paddock-attempt"
LEASE, DEADLINE = "paddock-lease", "paddock-deadline"
PAGE = 1000

# MissingInput: the account has no default subnet in this zone, but may have one in another.
_CAPACITY = {
    "InsufficientInstanceCapacity", "InsufficientCapacity", "InsufficientHostCapacity", "Unsupported",
    "SpotMaxPriceTooLow", "InsufficientFreeAddressesInSubnet", "MissingInput",
}  # fmt: skip
_QUOTA = {
    "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "InstanceLimitExceeded", "SpotInstanceCountLimitExceeded",
}  # fmt: skip
_BUSY = {"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled"}
_NOT_SENT = (NoCredentialsError, PartialCredentialsError, EndpointConnectionError, ConnectTimeoutError)
"""Errors of botocore's that say that nothing reached EC2; another time it may."""
_GONE = {"InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"}
_ENDED = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)")


class Home(Model):
    """Where instances of this deployment belong, and what they are told."""

    deployment: str
    launch_template: str
    image: str
    bucket: str
    reports_url: str
    region: str
    logs: str = ""


class Instances:
    """See ports.Cloud."""

    def __init__(self, client: EC2Client, launcher: EC2Client, prices: Prices, home: Home, report_key: str) -> None:
        """`launcher`: a client that does not try again by itself."""
        self._client, self._launcher = client, launcher
        self._prices, self._home, self._report_key = prices, home, report_key

    def quote(self, instance_types: Iterable[str]) -> list[Pool]:
        return self._prices.pools(instance_types, datetime.now(timezone.utc))

    def launch(self, job: Job, order: Launch) -> tuple[str, datetime]:
        """RunInstances with a ClientToken made from job and attempt: asked twice, EC2 starts one instance.

        Raises LaunchRefused also for what failed before anything was sent: too much start-up data, parameters that
        botocore knows to be wrong, no credentials, no connection."""
        home, attempt = self._home, order.attempt
        run = RunSpec(
            job=job.id, attempt=attempt.number, recipe=job.spec.recipe, params=job.spec.params,
            files=job.spec.files, bucket=home.bucket,
            checkpoints=checkpoints_of(job.id), result=result_of(job.id), models=model_of(job.id),
            reports=home.reports_url, region=home.region,
            resume_from=checkpoints_of(job.spec.resume) if job.spec.resume else None,
            deployment=home.deployment, keep=job.spec.keep, code_version=job.code_version,
            spent=job.spent, hourly=attempt.price + attempt.pool.rates.fixed,
            token=report_token(self._report_key, job.id, attempt.number),
        )  # fmt: skip
        tags = {
            "Name": f"paddock {job.id}", DEPLOYMENT: home.deployment, JOB: job.id, ATTEMPT: str(attempt.number),
            LEASE: _unix(attempt.lease_until), DEADLINE: _unix(order.deadline),
        }  # fmt: skip
        try:
            data = user_data(run, home.image, home.logs, attempt.lease_until, order.deadline, order.warning_s)
            answer = self._launcher.run_instances(
                LaunchTemplate={"LaunchTemplateName": home.launch_template, "Version": "$Default"},
                InstanceType=attempt.pool.instance_type,  # type: ignore[arg-type]
                Placement={"AvailabilityZone": attempt.pool.zone},
                MinCount=1,
                MaxCount=1,
                ClientToken=f"{home.deployment}-{job.id}-{attempt.number}"[:64],
                UserData=data,
                TagSpecifications=[{"ResourceType": kind, "Tags": _tags(tags)} for kind in ("instance", "volume")],
            )
        except (TooMuchData, ParamValidationError) as error:
            raise LaunchRefused("invalid", str(error)) from error
        except _NOT_SENT as error:
            raise LaunchRefused("busy", str(error)) from error
        except ClientError as error:
            refused = _refusal(error)
            if refused is None:
                raise
            raise refused from error
        instance = answer["Instances"][0]
        return instance["InstanceId"], instance["LaunchTime"]

    def renew(self, instance: str, lease_until: datetime, deadline: datetime) -> None:
        tags = {LEASE: _unix(lease_until), DEADLINE: _unix(deadline)}
        self._client.create_tags(Resources=[instance], Tags=_tags(tags))

    def terminate(self, instance: str) -> None:
        """Asked again and again it stays done; an instance that EC2 does not know any more is gone."""
        try:
            self._client.terminate_instances(InstanceIds=[instance])
        except ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise

    def look(self, job: Job, now: datetime) -> Tick:
        seen = tuple(found.seen for found in self.walk(**{JOB: job.id}))
        needed = prices_needed(job)
        spans = self._prices.history({n.partition("/")[0] for n in needed}, min(needed.values()), now) if needed else {}
        return Tick(job=job.id, instances=seen, seen_at=now, prices={n: s for n, s in spans.items() if n in needed})

    def walk(self, **more: str) -> Iterator[Found]:
        """Every instance under this deployment's tag, in pages of 1000; terminated ones too while EC2 shows them."""
        tags = {DEPLOYMENT: self._home.deployment, **more}
        pages = self._client.get_paginator("describe_instances").paginate(
            Filters=[{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()],
            PaginationConfig={"PageSize": PAGE},
        )
        for page in pages:
            for reservation in page["Reservations"]:
                for instance in reservation["Instances"]:
                    yield _found(instance)

    def instance(self, id: str) -> Found | None:
        """One instance under this deployment's tag, or None."""
        try:
            answer = self._client.describe_instances(InstanceIds=[id])
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                return None
            raise
        for reservation in answer["Reservations"]:
            for instance in reservation["Instances"]:
                if _tags_of(instance).get(DEPLOYMENT) == self._home.deployment:
                    return _found(instance)
        return None


def checkpoints_of(job: str) -> str:
    """The key prefix of a job's checkpoints in the bucket."""
    return f"jobs/{job}/checkpoints"


def model_of(job: str) -> str:
    """Key prefix of what a job leaves: its model."""
    return f"jobs/{job}/model"


def result_of(job: str) -> str:
    """The key of a job's result in the bucket."""
    return f"jobs/{job}/result.json"


def _tags_of(instance: InstanceTypeDef) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}


def _found(instance: InstanceTypeDef) -> Found:
    tags = _tags_of(instance)
    state: Any = instance["State"]["Name"]
    ended = _ENDED.search(instance.get("StateTransitionReason", "")) if state == "terminated" else None
    attempt = tags.get(ATTEMPT, "")
    seen = SeenInstance(
        id=instance["InstanceId"], attempt=int(attempt) if attempt.isdigit() else 0, state=state,
        instance_type=instance["InstanceType"], zone=instance["Placement"]["AvailabilityZone"],
        started_at=instance["LaunchTime"],
        ended_at=datetime.fromisoformat(f"{ended.group(1)}+00:00") if ended else None,
    )  # fmt: skip
    lease = tags.get(LEASE, "")
    until = datetime.fromtimestamp(float(lease), timezone.utc) if re.fullmatch(r"\d+(\.\d+)?", lease) else None
    return Found(job=tags.get(JOB, ""), seen=seen, lease=until)


def _refusal(error: ClientError) -> LaunchRefused | None:
    """Errors that say for certain that there is no instance. After any other, there may be one."""
    code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    if code in _CAPACITY:
        return LaunchRefused("capacity", text)
    if code in _QUOTA:
        return LaunchRefused("quota", text)
    if code in _BUSY:
        return LaunchRefused("busy", text)
    if 400 <= status < 500 and code != "IdempotentParameterMismatch":
        return LaunchRefused("invalid", f"{code}: {text}")
    return None


def _unix(moment: datetime) -> str:
    return str(int(moment.timestamp()))


def _tags(tags: dict[str, str]) -> list[Any]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
