"""The schedule that ends an instance with none of our code in the way: EventBridge Scheduler calls EC2 itself
(universal target `arn:aws:scheduler:::aws-sdk:ec2:terminateInstances`, EventBridge Scheduler User Guide)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_scheduler.type_defs import TargetTypeDef


class InstanceSchedules:
    """`role` may terminate instances of this deployment only (template.yaml)."""

    def __init__(self, client: EventBridgeSchedulerClient, group: str, role: str, partition: str = "aws") -> None:
        self._client, self._group, self._role, self._partition = client, group, role, partition

    def put(self, instance: str, at: datetime) -> None:
        """Set or move the schedule of `instance` to `at` (UTC). It fires within a minute after that (User Guide,
        "Schedule types": 60-second precision); the lease's margin covers this."""
        target: TargetTypeDef = {
            "Arn": f"arn:{self._partition}:scheduler:::aws-sdk:ec2:terminateInstances",
            "RoleArn": self._role,
            "Input": json.dumps({"InstanceIds": [instance]}),
            "RetryPolicy": {"MaximumEventAgeInSeconds": 86400, "MaximumRetryAttempts": 185},
        }
        request: dict[str, Any] = {
            "Name": instance,
            "GroupName": self._group,
            "ScheduleExpression": f"at({at.strftime('%Y-%m-%dT%H:%M:%S')})",
            "ScheduleExpressionTimezone": "UTC",
            "Target": target,
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
        }
        try:
            self._client.update_schedule(**request)
        except self._client.exceptions.ResourceNotFoundException:
            self._client.create_schedule(**request)

    def delete(self, instance: str) -> None:
        """Delete the schedule; one that is not there is fine."""
        try:
            self._client.delete_schedule(Name=instance, GroupName=self._group)
        except self._client.exceptions.ResourceNotFoundException:
            return
