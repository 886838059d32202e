"""Runs one attempt. `python -m trainer_image.trainer --spec run.json`

Exit codes: 0 done, 75 told to leave and saved, 77 out of memory, 1 anything else."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from pathlib import Path

DONE, FAILED, YIELDED, OUT_OF_MEMORY = 0, 1, 75, 77
_told = threading.Event()


def main() -> int:
    """Told to leave (SIGTERM) at any time after the first line, the trainer saves at its next step and leaves."""
    signal.signal(signal.SIGTERM, lambda *_: _told.set())
    warnings.filterwarnings("ignore")
    os.environ.setdefault("GLOG_minloglevel", "2")
    parser = argparse.ArgumentParser(prog="trainer")
    parser.add_argument("--spec", type=Path, required=True)
    arguments = parser.parse_args()

    from jobs.messages import RunSpec
    from trainer_image.trainer.reports import Reporter, SqsOutbox

    spec = RunSpec.model_validate_json(arguments.spec.read_text())
    reporter = Reporter(spec, SqsOutbox(spec.reports, spec.region))
    try:
        with tempfile.TemporaryDirectory(prefix="paddock-") as scratch:
            return run(spec, reporter, Path(scratch))
    except MemoryError:
        traceback.print_exc()
        reporter.failed("out of memory", traceback.format_exc(limit=-3), final=False)
        return OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001  (reported, whatever it is)
        traceback.print_exc()
        reporter.failed(type(error).__name__, str(error) or traceback.format_exc(limit=-3), final=_is_final(error))
        return OUT_OF_MEMORY if "out of memory" in str(error).lower() else FAILED


def _is_final(error: Exception) -> bool:
    """Whether the same run would fail the same way again: a wrong model name, a missing file, bad parameters."""
    return isinstance(error, ValueError | FileNotFoundError | ImportError | KeyError | TypeError)


def run(spec: "RunSpec", reporter: "Reporter", scratch: Path) -> int:  # noqa: F821, UP037
    """Resume from the newest whole checkpoint, train, say how it went."""
    from jobs.recipes import RECIPES
    from trainer_image.trainer import ernie_cls
    from trainer_image.trainer.checkpoints import Checkpoints
    from trainer_image.trainer.storage import Bucket

    recipes = {"ernie-cls": ernie_cls}
    recipe = recipes[spec.recipe]
    params = {p.name: p.default for p in RECIPES[spec.recipe].params} | spec.params
    bucket = Bucket(spec.bucket, spec.region)
    own = Checkpoints(bucket, spec.checkpoints, scratch, recipe.write, recipe.read)
    training = recipe.Run(params, scratch, _told.is_set, reporter)
    found = own.newest()
    if found is None and spec.resume_from:
        found = Checkpoints(bucket, spec.resume_from, scratch, recipe.write, recipe.read).newest()
    if found is not None:
        training.restore(found[1])
    reporter.started(
        resumed_step=training.step, steps=training.steps, device=training.device, schedule=training.schedule
    )
    if training.train(own):
        reporter.finished(training.step, training.metrics, bucket)
        return DONE
    reporter.yielded(training.step)
    return YIELDED


if __name__ == "__main__":
    sys.exit(main())
