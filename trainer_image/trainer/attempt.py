"""One attempt at a run of a recipe that uses the loop: go on from the newest checkpoint, train, export, say how it
went."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import paddle

from jobs.messages import RunSpec
from jobs.problem import Problem
from trainer_image.trainer.checkpoints import Checkpoints
from trainer_image.trainer.exit_codes import DONE, YIELDED
from trainer_image.trainer.export import Exportable, export
from trainer_image.trainer.loop import Loop, read, write
from trainer_image.trainer.model_card import About
from trainer_image.trainer.setting import Refused, Setting

_began = time.monotonic()


class Prepared(NamedTuple):
    """A run that goes on from its newest checkpoint. `version`: of its data."""

    task: Exportable
    loop: Loop
    checkpoints: Checkpoints
    version: str


def prepare(setting: Setting, make: Callable[[Setting], tuple[Exportable, str]]) -> Prepared:
    """Build what the recipe's `task` makes of the setting, and bring it to where the training was."""
    spec = setting.spec
    paddle.seed(setting.params["seed"])
    np.random.seed(setting.params["seed"])
    task, version = make(setting)
    own = Checkpoints(setting.storage, spec.checkpoints, setting.scratch, write, read)
    loop = Loop(task, setting.params, setting.recipe.metrics[0], setting.told, setting.reporter, version)
    found = own.newest()
    if found is None and spec.resume_from:
        found = Checkpoints(setting.storage, spec.resume_from, setting.scratch, write, read).newest()
        if found is None:
            raise Refused(Problem(code="checkpoint_gone", facts={"job": spec.resume_from.split("/")[1]}))
    if found is not None:
        loop.restore(found[1])
    return Prepared(task, loop, own, version)


def train(setting: Setting, make: Callable[[Setting], tuple[Exportable, str]]) -> int:
    """Train to the end and leave a model, or until told to leave.

    The optimizer's state is kept under the parameters' names, which Paddle counts through: from 0 for each run."""
    with paddle.utils.unique_name.guard():
        return _train(setting, make)


def _train(setting: Setting, make: Callable[[Setting], tuple[Exportable, str]]) -> int:
    task, loop, own, version = prepare(setting, make)
    reporter = setting.reporter
    reporter.started(resumed_step=loop.step, steps=loop.steps, device=loop.device, schedule=loop.schedule)
    if not loop.train(own):
        reporter.yielded(loop.step)
        return YIELDED
    best = own.best()
    if best is not None and best[0].step != loop.step:
        loop.show(best[1])
    step = best[0].step if best is not None else loop.step
    about = About(setting, step, loop.steps, loop.metrics, loop.history, version, loop.device, _cost(setting.spec))
    model = export(task, setting, about)
    reporter.finished(loop.steps, loop.metrics, setting.storage, model)
    return DONE


def _cost(spec: RunSpec) -> str:
    """USD until now: what earlier attempts cost, and this one at the price of its launch."""
    if spec.hourly is None:
        return ""
    hours = Decimal(round(time.monotonic() - _began)) / 3600
    return str((spec.spent + spec.hourly * hours).quantize(Decimal("0.0001")))
