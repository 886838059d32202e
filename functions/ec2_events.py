"""EventBridge: an instance's state changed, or EC2 gives notice that it takes a spot instance back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions import wiring
from jobs.messages import InstanceChanged

logger = Logger(service="paddock")
INTERRUPTION = "EC2 Spot Instance Interruption Warning"
STATES: dict[str, Literal["running", "shutting-down", "terminated"]] = {
    "running": "running", "shutting-down": "shutting-down", "terminated": "terminated",
}  # fmt: skip


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """The event names an instance only; its tags say whose it is. Not ours, or of no interest: nothing happens."""
    detail = event["detail"]
    id = detail["instance-id"]
    change: Literal["running", "shutting-down", "terminated", "interruption"] | None
    change = "interruption" if event["detail-type"] == INTERRUPTION else STATES.get(detail.get("state", ""))
    found = wiring.instances().instance(id) if change else None
    if found is None or change is None or not found.job:
        return
    at = datetime.fromisoformat(event["time"].replace("Z", "+00:00"))
    with logger.append_context_keys(job=found.job, attempt=found.seen.attempt, instance=id):
        logger.info("instance", extra={"change": change})
        wiring.mailbox().send(
            InstanceChanged(job=found.job, instance=id, attempt=found.seen.attempt, change=change, at=at)
        )
