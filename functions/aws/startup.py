"""An instance's start-up data: cloud-init writes the lease guard and starts it, then the trainer's container.

`#cloud-config` with a JSON body, which is YAML (cloud-init documentation, "User data formats"). At most 16 KB."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from pathlib import Path

from jobs.messages import RunSpec

HOST = Path(__file__).resolve().parents[2] / "trainer_image" / "host"
RUN, GUARD, SCRIPT = "/etc/paddock/run.json", "/etc/paddock/guard.json", "/opt/paddock/lease_guard.py"
LARGEST = 16_384
"""Bytes before base64 (EC2 User Guide, "Run commands when you launch an EC2 instance with user data input")."""
CONTAINER = "paddock-trainer"


def stream_of(job: str, attempt: int) -> str:
    """The log stream of an attempt."""
    return f"{job}/{attempt}"


class TooMuchData(ValueError):
    """More start-up data than EC2 takes: it would refuse them."""


def user_data(run: RunSpec, image: str, logs: str, lease_until: datetime, deadline: datetime, warning_s: int) -> str:
    """The start-up data of one attempt. The guard comes first, so that nothing can run unguarded.
    `logs`: the log group that takes what the container prints, a stream per attempt.

    Raises TooMuchData."""
    guard = {
        "lease": lease_until.timestamp(),
        "deadline": deadline.timestamp(),
        "warning_s": warning_s,
        "period_s": 5,
        "warn": ["docker", "kill", "--signal=TERM", CONTAINER],
        "power_off": ["systemctl", "poweroff"],
    }
    unit = (HOST / "paddock-trainer.service").read_text()
    known = {"@IMAGE@": image, "@REGION@": run.region, "@LOGS@": logs, "@STREAM@": stream_of(run.job, run.attempt)}
    for place, value in known.items():
        unit = unit.replace(place, value)
    files = {
        SCRIPT: (HOST / "lease_guard.py").read_text(),
        GUARD: json.dumps(guard),
        RUN: run.model_dump_json(),
        "/etc/systemd/system/paddock-guard.service": (HOST / "paddock-guard.service").read_text(),
        "/etc/systemd/system/paddock-trainer.service": unit,
    }
    config = {
        "write_files": [
            {
                "path": path,
                "permissions": "0600",
                "encoding": "b64",
                "content": base64.b64encode(text.encode()).decode(),
            }
            for path, text in files.items()
        ],
        "runcmd": [
            ["systemctl", "daemon-reload"],
            ["systemctl", "start", "paddock-guard.service"],
            ["systemctl", "start", "--no-block", "paddock-trainer.service"],
        ],
    }
    text = "#cloud-config\n" + json.dumps(config)
    if len(text) > LARGEST:
        raise TooMuchData(f"start-up data of {len(text)} bytes: EC2 takes {LARGEST}")
    return text
