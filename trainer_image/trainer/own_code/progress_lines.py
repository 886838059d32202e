"""Progress out of what a program prints: one-line JSON, or the log lines of Paddle's own training programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PAIR = re.compile(rf"([A-Za-z_][\w/-]*): ({_NUMBER})(?=$|[\s,])")
_NOT_METRICS = {
    "loss", "lr", "learning_rate", "global_step", "epoch", "progress_or_epoch", "eta", "ips", "batch_cost",
    "reader_cost", "data_cost", "avg_reader_cost", "avg_batch_cost", "avg_samples", "max_mem_reserved",
    "max_mem_allocated", "loss_md5",
}  # fmt: skip
_NLP = re.compile(r"global_step: (\d+)")
_NLP_STEPS = re.compile(r"Total optimization steps = ([\d,.]+)")
_NLP_EPOCHS = re.compile(r"Num Epochs = (\d+)")
_OCR = re.compile(r"epoch: \[(\d+)/(\d+)\], (?:iter: \[\d+/\d+\], )?global_step: ?(\d+)")
_OCR_ITERS = re.compile(r"train dataloader has (\d+) iters")
_DET = re.compile(r"Epoch: \[(\d+)\] \[ *(\d+)/(\d+)\]")
_CLAS = re.compile(r"\[Train\]\[Epoch (\d+)/(\d+)\]\[Iter: (\d+)/(\d+)\]")


class Seen(NamedTuple):
    """What a line says; None where it says nothing."""

    step: int | None = None
    steps: int | None = None
    epoch: int | None = None
    epochs: int | None = None
    loss: float | None = None
    metrics: dict[str, float] = {}
    samples_per_s: float | None = None


class ProgressLines:
    """Reads lines one after another; totals that were said once are remembered."""

    def __init__(self) -> None:
        self._steps: int | None = None
        self._epochs: int | None = None
        self._iters: int | None = None

    def read(self, line: str) -> Seen | None:
        """What a line says of the progress, or None."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
        if plain.startswith("{"):
            return _from_json(plain)
        readers: tuple[Callable[[str], Seen | None], ...] = (self._ocr, self._clas, self._det, self._nlp)
        return next((seen for reader in readers if (seen := reader(plain)) is not None), None)

    def _nlp(self, line: str) -> Seen | None:
        """PaddleNLP's Trainer (paddlenlp/trainer/trainer.py: `log`, `_maybe_log_save_evaluate`)."""
        if found := _NLP_STEPS.search(line):
            self._steps = int(float(found[1].replace(",", "")))
        if found := _NLP_EPOCHS.search(line):
            self._epochs = int(found[1])
        found = _NLP.search(line)
        if found is None or "loss: " not in line:
            return None
        pairs = _pairs(line)
        epoch = pairs.get("progress_or_epoch", pairs.get("epoch"))
        return Seen(int(found[1]), self._steps, None if epoch is None else int(epoch), self._epochs, pairs.get("loss"),
                    {}, pairs.get("interval_samples_per_second"))  # fmt: skip

    def _ocr(self, line: str) -> Seen | None:
        """PaddleOCR (tools/program.py: `train`)."""
        if found := _OCR_ITERS.search(line):
            self._iters = int(found[1])
        found = _OCR.search(line)
        if found is None:
            return None
        epochs, pairs = int(found[2]), _pairs(line)
        steps = epochs * self._iters if self._iters else None
        return Seen(int(found[3]), steps, int(found[1]) - 1, epochs, pairs.get("loss"), _metrics(pairs),
                    pairs.get("ips"))  # fmt: skip

    def _det(self, line: str) -> Seen | None:
        """PaddleDetection (ppdet/engine/callbacks.py: `LogPrinter`); it does not say how many epochs there are."""
        found = _DET.search(line)
        if found is None:
            return None
        epoch, at, of, pairs = int(found[1]), int(found[2]), int(found[3]), _pairs(line)
        return Seen(epoch * of + at, None, epoch, None, pairs.get("loss"), {}, pairs.get("ips"))

    def _clas(self, line: str) -> Seen | None:
        """PaddleClas (ppcls/engine/train/utils.py: `log_info`; of its newer loop: `[Iter: 1/10] lr…`)."""
        found = _CLAS.search(line)
        if found is None:
            return None
        epoch, epochs, at, of = (int(number) for number in found.groups())
        pairs = _pairs(line)
        return Seen((epoch - 1) * of + at, epochs * of, epoch - 1, epochs, pairs.get("loss"), _metrics(pairs),
                    pairs.get("ips"))  # fmt: skip


def _pairs(line: str) -> dict[str, float]:
    return {name: float(value) for name, value in _PAIR.findall(re.sub(r"(?<=\d)s(?=,|$)", "", line))}


def _metrics(pairs: dict[str, float]) -> dict[str, float]:
    """What is neither a loss nor a cost."""
    return {name: value for name, value in pairs.items() if name not in _NOT_METRICS and "loss" not in name.lower()}


def _from_json(line: str) -> Seen | None:
    """`{"step": 10, "steps": 100, "epoch": 1, "epochs": 3, "loss": 0.5, "metrics": {"accuracy": 0.9}}`, all optional
    but `step`. Anything else that is JSON is no progress."""
    try:
        said: Any = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict) or not _is_number(said.get("step")):
        return None
    whole = {name: int(said[name]) for name in ("step", "steps", "epoch", "epochs") if _is_number(said.get(name))}
    metrics = said.get("metrics") if isinstance(said.get("metrics"), dict) else {}
    return Seen(
        **whole,
        loss=float(said["loss"]) if _is_number(said.get("loss")) else None,
        metrics={str(name)[:40]: float(value) for name, value in metrics.items() if _is_number(value)},
        samples_per_s=float(said["samples_per_s"]) if _is_number(said.get("samples_per_s")) else None,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
