"""Recipe `ernie-cls`: PaddleNLP's ErnieForSequenceClassification on Chinese text, exactly resumable."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import paddle
from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification, ErnieTokenizer

from trainer_image.trainer import reviews
from trainer_image.trainer.checkpoints import Checkpoints, Entry
from trainer_image.trainer.reports import Reporter

TINY = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 256}
TINY_LR, PRETRAINED_LR = 2e-3, 5e-5
SAVE_EVERY_S = 60.0
SAVE_EVERY_S_ON_CPU = 5.0


class Run:
    """One training run of this recipe. `told` says whether the trainer was told to leave."""

    def __init__(self, params: dict[str, Any], scratch: Path, told: Callable[[], bool], reporter: Reporter) -> None:
        self._params, self._told, self._reporter = params, told, reporter
        self._gpu = paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0
        paddle.seed(params["seed"])
        np.random.seed(params["seed"])
        data = reviews.load(params["samples"], params["seed"])
        self._model, self._tokenizer = _model(params, data, scratch)
        self._train, self._valid = self._encode(data.train), self._encode(data.valid)
        self._per_epoch = -(-len(data.train) // params["batch"])
        self.steps = self._per_epoch * params["epochs"]
        self._rate = params["lr"] or (TINY_LR if params["model"] == "tiny" else PRETRAINED_LR)
        self._falls_from = 0
        self.schedule: Literal["as_planned", "longer", "new_rate"] = "as_planned"
        self._schedule = self._falling()
        self._optimizer = paddle.optimizer.AdamW(
            self._schedule, parameters=self._model.parameters(), weight_decay=0.01,
            grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
        )  # fmt: skip
        self._scaler = paddle.amp.GradScaler(enable=self._gpu)
        self.step = 0
        self._metrics: dict[str, float] = {}

    @property
    def device(self) -> str:
        return str(paddle.device.cuda.get_device_name()) if self._gpu else "CPU"

    @property
    def metrics(self) -> dict[str, float]:
        return dict(self._metrics)

    @property
    def epoch(self) -> int:
        """Zero-based; after the last step the number of epochs."""
        return self.step // self._per_epoch

    def _falling(self) -> Any:
        """The learning rate: from `_rate` at step `_falls_from` on a line to 0 at the last step."""
        steps = max(1, self.steps - self._falls_from)
        return paddle.optimizer.lr.PolynomialDecay(self._rate, decay_steps=steps, end_lr=0.0)

    def state(self) -> dict[str, Any]:
        """A copy in host memory of all that the next step depends on."""
        return {
            "model": _copied(self._model.state_dict()),
            "optimizer": _copied(self._optimizer.state_dict()),
            "plan": {"rate": self._rate, "falls_from": self._falls_from, "steps": self.steps},
            "scaler": dict(self._scaler.state_dict()) if self._gpu else {},
            "random": [bytes(s) if isinstance(s, bytes) else s for s in paddle.get_rng_state()],
            "random_gpu": paddle.get_cuda_rng_state() if self._gpu else [],
            "step": self.step,
            "metrics": self.metrics,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`: the next step is bit for bit the one that would have followed it; unless this run has
        more epochs or another learning rate than the one that saved it (docs/commands.md, "Going on from a run")."""
        self._model.set_state_dict(state["model"])
        self._optimizer.set_state_dict(state["optimizer"])
        self._plan_on(state)
        if self._gpu:
            self._scaler.load_state_dict(state["scaler"])
            paddle.set_cuda_rng_state(state["random_gpu"])
        paddle.set_rng_state(state["random"])
        self.step = min(state["step"], self.steps)
        self._metrics = dict(state["metrics"])

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
        saved_at, meter = time.monotonic(), _Meter(self._params["batch"])
        while self.step < self.steps and not self._told():
            loss = self._one_step()
            self.step += 1
            rate = meter.tick()
            at_epoch_end = self.step % self._per_epoch == 0
            if at_epoch_end:
                self._metrics = {"accuracy": self.accuracy()}
                meter.pause()
            self._reporter.progress(
                force=at_epoch_end, step=self.step, steps=self.steps, epoch=self.epoch, epochs=self._params["epochs"],
                loss=loss, metrics=self.metrics if at_epoch_end else {}, samples_per_s=rate,
            )  # fmt: skip
            if at_epoch_end or time.monotonic() - saved_at >= every:
                self.save(checkpoints)
                saved_at = time.monotonic()
        if not checkpoints.entries() or checkpoints.entries()[0].step != self.step:
            self.save(checkpoints)
        checkpoints.wait()
        return self.step >= self.steps

    def save(self, checkpoints: Checkpoints) -> None:
        """Copy now, write in the background."""

        def saved(entry: Entry) -> None:
            self._reporter.checkpoint(step=entry.step, epoch=entry.epoch, key=entry.key, sha256=entry.sha256)

        checkpoints.save(self.state(), self.step, self.epoch, self._metrics.get("accuracy"), saved)

    def accuracy(self) -> float:
        """On the validation split."""
        self._model.eval()
        right = 0
        ids, labels = self._valid
        with paddle.no_grad():
            for start in range(0, len(ids), 256):
                logits = self._model(paddle.to_tensor(ids[start : start + 256]))
                right += int((logits.argmax(-1).numpy() == labels[start : start + 256]).sum())
        self._model.train()
        return right / len(ids)

    def _one_step(self) -> float:
        self._model.train()
        ids, labels = self._train
        chosen = self._order()[self.step % self._per_epoch]
        with paddle.amp.auto_cast(enable=self._gpu):
            logits = self._model(paddle.to_tensor(ids[chosen]))
            loss = paddle.nn.functional.cross_entropy(logits, paddle.to_tensor(labels[chosen]))
        if self._gpu:
            self._scaler.scale(loss).backward()
            self._scaler.step(self._optimizer)
            self._scaler.update()
        else:
            loss.backward()
            self._optimizer.step()
        self._optimizer.clear_grad()
        self._schedule.step()
        return float(loss)

    def _order(self) -> list[np.ndarray]:
        """This epoch's batches, a function of seed and epoch alone: the data position is the step."""
        if getattr(self, "_ordered", -1) != self.epoch:
            self._ordered = self.epoch
            shuffled = np.random.RandomState((self._params["seed"] * 100_003 + self.epoch) % 2**32).permutation(
                len(self._train[0])
            )
            self._batches = np.array_split(shuffled, range(self._params["batch"], len(shuffled), self._params["batch"]))
        return self._batches

    def _encode(self, pairs: list[tuple[str, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Token ids [texts, max_len] (int64, padded) and labels [texts] (int64)."""
        length = self._params["max_len"]
        encoded = self._tokenizer([text for text, _ in pairs], max_length=length, truncation=True,
                                  padding="max_length", return_token_type_ids=False)["input_ids"]  # fmt: skip
        return np.asarray(encoded, dtype="int64"), np.asarray([label for _, label in pairs], dtype="int64")


class _Meter:
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


def _model(params: dict[str, Any], data: reviews.Reviews, scratch: Path) -> tuple[Any, Any]:
    """A model from a local folder or by its hub name; `tiny` is made here and trained from scratch."""
    if params["model"] != "tiny":
        model = ErnieForSequenceClassification.from_pretrained(params["model"], num_labels=2)
        return model, ErnieTokenizer.from_pretrained(params["model"])
    vocab = scratch / "vocab.txt"
    words = reviews.vocabulary(data.train)
    vocab.write_text("\n".join(words), encoding="utf-8")
    config = ErnieConfig(
        vocab_size=len(words), max_position_embeddings=params["max_len"], num_labels=2, pad_token_id=0,
        hidden_dropout_prob=params["dropout"], attention_probs_dropout_prob=params["dropout"], **TINY,
    )  # fmt: skip
    return ErnieForSequenceClassification(config), ErnieTokenizer(str(vocab))


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
