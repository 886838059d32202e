"""The training loop, once for every recipe: steps, epochs, evaluation, checkpoints, exact resume, reports, leaving when
told to. A recipe gives a Task."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import paddle

from jobs.recipe import Metric
from trainer_image.trainer.checkpoints import Checkpoints, Entry
from trainer_image.trainer.feed import Batch, Feed
from trainer_image.trainer.history import History
from trainer_image.trainer.reports import Reporter

SAVE_EVERY_S = 60.0
SAVE_EVERY_S_ON_CPU = 5.0
READ_EVERY, READ_EVERY_S = 20, 1.0
"""Steps and seconds between two looks at the losses, whichever is first."""


class Task(Protocol):
    """What a recipe gives the loop: data, model, loss, metric."""

    model: Any
    """A paddle.nn.Layer: what is trained and saved."""
    samples: int
    """Of the training split."""
    rate: float
    """The highest learning rate, if none was typed."""

    def batch(self, chosen: np.ndarray, random: np.random.Generator) -> Batch:
        """The arrays of one step from the numbers of its samples [batch]. Runs in data workers: must not use Paddle,
        nor any randomness but `random`."""

    def loss(self, *batch: Any) -> Any:
        """The scalar loss of the tensors that `batch` made."""

    def evaluate(self) -> dict[str, float]:
        """The recipe's metrics on the validation split; the model is in evaluation mode."""


class Loop:
    """One training run. `told` says whether the trainer was told to leave; `main` is the recipe's main metric."""

    def __init__(
        self, task: Task, params: dict[str, Any], main: Metric, told: Callable[[], bool], reporter: Reporter,
        data: str = "",
    ) -> None:  # fmt: skip
        self._task, self._params, self._main, self._told, self._reporter = task, params, main, told, reporter
        self._data = data
        self._gpu = on_gpu()
        if params.get("graph") == "static":
            task.model = paddle.jit.to_static(task.model)
        self.feed = Feed(task.batch, task.samples, params["batch"], params["seed"])
        self.steps = self.feed.per_epoch * params["epochs"]
        self._rate = params["lr"] or task.rate
        self._falls_from = 0
        self.schedule: Literal["as_planned", "longer", "new_rate"] = "as_planned"
        self._schedule = self._falling()
        self._optimizer = paddle.optimizer.AdamW(
            self._schedule, parameters=task.model.parameters(), weight_decay=0.01,
            grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
        )  # fmt: skip
        self._scaler = paddle.amp.GradScaler(enable=self._gpu)
        self.step = 0
        self.metrics: dict[str, float] = {}
        self._measured_at = 0
        self._saving = -1
        """The step of the newest save."""
        self.history = History()
        self._losses: list[Any] = []
        """Of the newest steps, not yet read."""

    @property
    def device(self) -> str:
        return str(paddle.device.cuda.get_device_name()) if self._gpu else "CPU"

    @property
    def epoch(self) -> int:
        """Zero-based; after the last step the number of epochs."""
        return self.step // self.feed.per_epoch

    @property
    def rate_now(self) -> float:
        """The learning rate of the next step."""
        return float(self._schedule.get_lr())

    def _falling(self) -> Any:
        """The learning rate: from `_rate` at step `_falls_from` on a line to 0 at the last step."""
        steps = max(1, self.steps - self._falls_from)
        return paddle.optimizer.lr.PolynomialDecay(self._rate, decay_steps=steps, end_lr=0.0)

    def state(self) -> dict[str, Any]:
        """A copy in host memory of all that the next step depends on."""
        return {
            "model": _copied(self._task.model.state_dict()),
            "optimizer": _copied(self._optimizer.state_dict()),
            "plan": {"rate": self._rate, "falls_from": self._falls_from, "steps": self.steps},
            "scaler": dict(self._scaler.state_dict()) if self._gpu else {},
            "random": [bytes(s) if isinstance(s, bytes) else s for s in paddle.get_rng_state()],
            "random_gpu": paddle.get_cuda_rng_state() if self._gpu else [],
            "step": self.step,
            "metrics": dict(self.metrics),
            "history": self.history.model_dump_json(),
            "data": self._data,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`: the next step is bit for bit the one that would have followed it; unless this run has
        more epochs or another learning rate than the one that saved it (docs/commands.md, "Going on from a run").

        Raises ValueError if the data are not those that the checkpoint was trained on."""
        if state.get("data", self._data) != self._data:
            raise ValueError("the data changed since this checkpoint was saved: train anew, without resume")
        self._task.model.set_state_dict(state["model"])
        self._optimizer.set_state_dict(state["optimizer"])
        self._plan_on(state)
        if self._gpu:
            self._scaler.load_state_dict(state["scaler"])
            paddle.set_cuda_rng_state(state["random_gpu"])
        paddle.set_rng_state(state["random"])
        self.step = min(state["step"], self.steps)
        self.metrics = dict(state["metrics"])
        self.history = History.model_validate_json(state.get("history", "{}"))

    def show(self, state: dict[str, Any]) -> None:
        """Have the weights and metrics of another state, to be exported: training is over."""
        self._task.model.set_state_dict(state["model"])
        self.metrics = dict(state["metrics"])

    def _plan_on(self, state: dict[str, Any]) -> None:
        plan = {"rate": self._rate, "falls_from": 0, "steps": self.steps} | state.get("plan", {})
        if plan["rate"] != self._rate:
            self.schedule, self._falls_from = "new_rate", min(state["step"], self.steps)
        elif plan["steps"] != self.steps:
            self.schedule, self._falls_from = "longer", plan["falls_from"]
        else:
            self._falls_from = plan["falls_from"]
        self._schedule = self._falling()
        self._schedule.step(min(state["step"], self.steps) - self._falls_from)
        self._optimizer.set_lr_scheduler(self._schedule)

    def train(self, checkpoints: Checkpoints) -> bool:
        """Train to the end, or until told to leave. True when done. The last state is saved either way."""
        every = SAVE_EVERY_S if self._gpu else SAVE_EVERY_S_ON_CPU
        saved_at = read_at = time.monotonic()
        meter = Meter(self._params["batch"])
        self._task.model.train()
        batches = self.feed.batches(self.step, self.steps)
        while self.step < self.steps and not self._told():
            self._losses.append(self._one_step(next(batches)))
            self.step += 1
            rate = meter.tick()
            at_epoch_end = self.step % self.feed.per_epoch == 0
            due = at_epoch_end or time.monotonic() - saved_at >= every
            if not (due or len(self._losses) >= READ_EVERY or time.monotonic() - read_at >= READ_EVERY_S):
                continue
            loss, read_at = self._read_losses(), time.monotonic()
            if at_epoch_end:
                self.metrics, self._measured_at = self.evaluate(), self.step
                self.history.add_metrics(self.step, self.metrics)
                meter.pause()
            self._reporter.progress(
                force=at_epoch_end, step=self.step, steps=self.steps, epoch=self.epoch, epochs=self._params["epochs"],
                loss=loss, metrics=self.metrics if at_epoch_end else {}, samples_per_s=rate, waiting=self.feed.waiting,
            )  # fmt: skip
            if due:
                self.save(checkpoints)
                saved_at = time.monotonic()
        self._read_losses()
        if self._saving != self.step or not checkpoints.settled():
            self.save(checkpoints)
        checkpoints.wait()
        return self.step >= self.steps

    def _read_losses(self) -> float | None:
        """Note the losses of the steps since the last time; the newest one. Read together: reading each would make the
        GPU wait for Python at every step."""
        if not self._losses:
            return None
        values = [float(value) for value in paddle.stack(self._losses).numpy()]
        for step, value in enumerate(values, start=self.step - len(values) + 1):
            self.history.add_loss(step, value)
        self._losses = []
        return values[-1]

    def save(self, checkpoints: Checkpoints) -> None:
        """Copy now, write in the background."""

        def saved(entry: Entry) -> None:
            self._reporter.checkpoint(step=entry.step, epoch=entry.epoch, key=entry.key, sha256=entry.sha256)

        value = self.metrics.get(self._main.name)
        self._saving = self.step
        score = None if value is None or self._measured_at != self.step else self._main.score(value)
        checkpoints.save(self.state(), self.step, self.epoch, score, saved)

    def evaluate(self) -> dict[str, float]:
        """The recipe's metrics, as they are now."""
        self._task.model.eval()
        with paddle.no_grad():
            metrics = self._task.evaluate()
        self._task.model.train()
        return metrics

    def _one_step(self, batch: list[Any]) -> Any:
        """One optimizer step; its loss, not yet read."""
        with paddle.amp.auto_cast(enable=self._gpu):
            loss = self._task.loss(*batch)
        if self._gpu:
            self._scaler.scale(loss).backward()
            self._scaler.step(self._optimizer)
            self._scaler.update()
        else:
            loss.backward()
            self._optimizer.step()
        self._optimizer.clear_grad()
        self._schedule.step()
        return loss.detach().astype("float32").reshape([])


class Meter:
    """Samples per second over the last steps."""

    def __init__(self, batch: int, window: int = 50) -> None:
        self._batch, self._window = batch, window
        self._times = [time.monotonic()]

    def tick(self) -> float:
        self._times = [*self._times[-self._window :], time.monotonic()]
        span = self._times[-1] - self._times[0]
        return self._batch * (len(self._times) - 1) / span if span > 0 else 0.0

    def pause(self) -> None:
        self._times = [time.monotonic()]


def on_gpu() -> bool:
    """Whether this process trains on a GPU."""
    return bool(paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0)


def _copied(tensors: dict[str, Any]) -> dict[str, Any]:
    """Every tensor as a NumPy array of its own, so that training may go on while it is written."""
    return {k: np.array(v.numpy()) if isinstance(v, paddle.Tensor) else
            (_copied(v) if isinstance(v, dict) else v) for k, v in tensors.items()}  # fmt: skip


def write(state: dict[str, Any], path: Path) -> None:
    """A state as a file."""
    paddle.save(state, str(path))


def read(path: Path) -> dict[str, Any]:
    """A state from a file."""
    return dict(paddle.load(str(path), return_numpy=True))
