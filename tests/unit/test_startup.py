"""The start-up data: small enough, the guard first, nothing secret in the clear, readable by a cloud-init."""

from __future__ import annotations

import json
from pathlib import Path

from functions.aws.startup import LARGEST, user_data
from jobs.messages import RunSpec
from local.machine import write_files
from tests.samples import after

RUN = RunSpec(
    job="abcdefgh", attempt=1, result="jobs/abcdefgh/result.json", recipe="ernie-cls", params={"epochs": 3, "model": "ernie-3.0-nano-zh" * 4}, bucket="b" * 60,
    checkpoints="jobs/abcdefgh/checkpoints", resume_from="jobs/zzzzzzzz/checkpoints", token="f" * 64, region="us-east-1",
    reports="https://sqs.us-east-1.amazonaws.com/123456789012/" + "q" * 80,
)  # fmt: skip


def data() -> str:
    return user_data(
        RUN, "registry.example/a-team/paddock-trainer:2026-12-01", "/paddock/runs", after(1800), after(3600), 120
    )


def test_it_fits() -> None:
    assert len(data()) <= LARGEST


def test_the_guard_starts_before_the_container() -> None:
    commands = [" ".join(c) for c in json.loads(data().partition("\n")[2])["runcmd"]]
    assert commands.index("systemctl start paddock-guard.service") < next(
        i for i, c in enumerate(commands) if "paddock-trainer" in c
    )


def test_the_files_arrive_as_they_are(tmp_path: Path) -> None:
    files = write_files(data(), tmp_path)
    assert RunSpec.model_validate_json(files["run.json"].read_text()) == RUN
    guard = json.loads(files["guard.json"].read_text())
    assert (guard["lease"], guard["deadline"]) == (after(1800).timestamp(), after(3600).timestamp())
    unit = files["paddock-trainer.service"].read_text()
    assert "@IMAGE@" not in unit
    assert "Requires=docker.service paddock-guard.service" in unit
    compile(files["lease_guard.py"].read_text(), "lease_guard.py", "exec")
