"""Run by the trainer's own Python: attempts at runs in a folder, each as a line of JSON.

`python -m tests.trainer.attempt ROOT '[{"recipe": …, "job": …, "params": {…}, "leave_after": 17, …}]'`"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")

from importlib import import_module  # noqa: E402

from jobs.messages import RunSpec  # noqa: E402
from jobs.recipes import RECIPES  # noqa: E402
from trainer_image.trainer.reports import Reporter  # noqa: E402
from trainer_image.trainer.setting import Refused, Setting  # noqa: E402
from trainer_image.trainer.storage import Folder  # noqa: E402


class Reports:
    """Keeps what was reported."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def send(self, body: str) -> None:
        self.bodies.append(json.loads(body)["report"])


class Told:
    """Tells the trainer to leave before the step after `steps`."""

    def __init__(self, steps: int | None) -> None:
        self._left = steps

    def __call__(self) -> bool:
        if self._left is None:
            return False
        self._left -= 1
        return self._left < 0


def attempt(root: Path, asked: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """`rate`: the learning rate of the step after its last; `plan`: how it falls."""
    from trainer_image.trainer.attempt import train
    from trainer_image.trainer.checkpoints import Checkpoints
    from trainer_image.trainer.loop import read, write

    job, recipe = asked["job"], RECIPES[asked["recipe"]]
    params = {p.name: p.default for p in recipe.params} | asked.get("params", {})
    spec = RunSpec(
        job=job, attempt=1, recipe=recipe.name, params=params, bucket="own", checkpoints=f"jobs/{job}/checkpoints",
        result=f"jobs/{job}/result.json", models=f"jobs/{job}/model", files=asked.get("files", {}), reports="-",
        resume_from=f"jobs/{asked['resume_from']}/checkpoints" if asked.get("resume_from") else None,
        token="t" * 16, region="us-east-1", spent="0.5", hourly="0.2",
    )  # fmt: skip
    reports, began, bucket = Reports(), time.monotonic(), Folder(root / "own")
    setting = Setting(spec, recipe, params, scratch, bucket, Reporter(spec, reports), Told(asked.get("leave_after")),
                      lambda name: Folder(root / name))  # fmt: skip
    os.environ["PADDOCK_WORKERS"] = str(asked.get("workers", 0))
    try:
        code = train(setting, import_module(f"trainer_image.trainer.recipes.{recipe.name.replace('-', '_')}").task)
    except Refused as refused:
        return {"refused": refused.problem.model_dump()}
    checkpoints = Checkpoints(bucket, spec.checkpoints, scratch, write, read)
    newest = checkpoints.newest()
    assert newest is not None
    entry, state = newest
    digest = hashlib.sha256()
    for name, tensor in sorted(state["model"].items()):
        digest.update(name.encode() + tensor.tobytes())
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for body in reports.bodies:
        by_kind.setdefault(body["kind"], []).append(body)
    [started], ended = by_kind["started"], by_kind.get("finished", [{}])[0]
    return {
        "code": code, "began": started["resumed_step"], "schedule": started["schedule"], "step": entry.step,
        "rate": state["optimizer"]["LR_Scheduler"]["last_lr"], "plan": state["plan"], "digest": digest.hexdigest(),
        "losses": json.loads(state["history"])["losses"], "metrics": state["metrics"], "kinds": sorted(by_kind),
        "kept": [e.step for e in checkpoints.entries()], "data": by_kind.get("data", [None])[0],
        "model": ended.get("model"), "finished": ended.get("metrics"), "seconds": time.monotonic() - began,
        "waiting": by_kind["progress"][-1]["waiting"] if "progress" in by_kind else None,
    }  # fmt: skip


if __name__ == "__main__":
    for one in json.loads(sys.argv[2]):
        with tempfile.TemporaryDirectory() as folder:
            print("RESULT " + json.dumps(attempt(Path(sys.argv[1]), one, Path(folder))), flush=True)
