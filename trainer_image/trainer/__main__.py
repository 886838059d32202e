"""Runs one attempt. `python -m trainer_image.trainer --spec run.json`

Exit codes: 0 done, 75 told to leave and saved, 77 out of memory, 1 anything else."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jobs.messages import RunSpec
    from trainer_image.trainer.reports import Reporter
    from trainer_image.trainer.storage import Storage

_told = threading.Event()


def main() -> int:
    """Told to leave (SIGTERM) at any time after the first line, the trainer saves at its next step and leaves."""
    signal.signal(signal.SIGTERM, lambda *_: _told.set())
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)  # of libraries: what they tell of every file they write
    os.environ.setdefault("GLOG_minloglevel", "2")
    parser = argparse.ArgumentParser(prog="trainer")
    parser.add_argument("--spec", type=Path, required=True)
    arguments = parser.parse_args()

    from jobs.logs import lines_that_matter
    from jobs.messages import RunSpec
    from trainer_image.trainer.exit_codes import FAILED, OUT_OF_MEMORY
    from trainer_image.trainer.reports import Reporter, SqsOutbox
    from trainer_image.trainer.setting import Refused
    from trainer_image.trainer.storage import Bucket

    spec = RunSpec.model_validate_json(arguments.spec.read_text())
    reporter = Reporter(spec, SqsOutbox(spec.reports, spec.region))
    try:
        with tempfile.TemporaryDirectory(prefix="paddock-") as scratch:
            return run(spec, reporter, Path(scratch), lambda name: Bucket(name, spec.region, spec.keep))
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        reporter.failed("refused", str(refused), final=True, problem=refused.problem)
        return FAILED
    except MemoryError:
        traceback.print_exc()
        reporter.failed("out of memory", traceback.format_exc(limit=-3), final=False)
        return OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001  (reported, whatever it is)
        traceback.print_exc()
        detail = str(error) or "\n".join(lines_that_matter(traceback.format_exc().splitlines()))
        reporter.failed(type(error).__name__, detail, final=_is_final(error))
        return OUT_OF_MEMORY if "out of memory" in str(error).lower() else FAILED


def run(spec: RunSpec, reporter: Reporter, scratch: Path, open_bucket: Callable[[str], Storage]) -> int:
    """The exit code. Raises whatever goes wrong."""
    from jobs.recipes import RECIPES
    from trainer_image.trainer.setting import Setting

    recipe = RECIPES[spec.recipe]
    module = import_module(f"trainer_image.trainer.recipes.{spec.recipe.replace('-', '_')}")
    params = {p.name: p.default for p in recipe.params} | spec.params
    setting = Setting(spec, recipe, params, scratch, open_bucket(spec.bucket), reporter, _told.is_set, open_bucket)
    if hasattr(module, "run"):
        return int(module.run(setting))
    from trainer_image.trainer.attempt import train

    return train(setting, module.task)


def _is_final(error: Exception) -> bool:
    """Whether the same run would fail the same way again: a wrong model name, a missing file, bad parameters."""
    return isinstance(error, ValueError | FileNotFoundError | ImportError | KeyError | TypeError)


if __name__ == "__main__":
    sys.exit(main())
