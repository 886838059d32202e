"""What a run leaves: a model that somebody can use, proven to be the trained one, with all that is known of it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import paddle

from jobs.messages import Trained
from trainer_image.trainer import curves, model_card
from trainer_image.trainer.exported import MODEL, arrays
from trainer_image.trainer.loop import Task
from trainer_image.trainer.setting import Setting

PATIENCE_S = 300
CLOSE = 1e-3
"""Relative to the largest answer: an exported model whose answers differ by more is not the trained one."""
CARD, ABOUT, CURVES, ARCHIVE = "README.md", "about.json", "curves.png", "model.zip"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Leaves:
    """What a recipe says of its export. `inputs`: a paddle.static.InputSpec for each input; `samples`: validation
    samples as those inputs; `files` go beside the model (labels, dictionary); `reading`: how an input is made from
    what people have, and an answer from what the model gives. `net`: what is exported, if it is not the model."""

    inputs: list[Any]
    samples: tuple[np.ndarray, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    net: Any = None


class Exportable(Task, Protocol):
    """A task whose model can be taken away."""

    def leaves(self) -> Leaves: ...


def export(task: Exportable, setting: Setting, about: model_card.About) -> Trained:
    """Save the model as a static program (paddle.jit.save: inference only, no optimizer state), load it in a new
    process, compare both on validation samples, and put all of it into the bucket.

    Raises ValueError if the exported model answers otherwise."""
    folder = setting.scratch / "model"
    folder.mkdir(parents=True, exist_ok=True)
    leaves = task.leaves()
    net = leaves.net or task.model
    net.eval()
    if hasattr(net.forward, "rollback"):
        net.forward.rollback()  # trained as a static graph, for the shapes of its batches: export for all
    with paddle.no_grad():
        trained = arrays(net(*(paddle.to_tensor(sample) for sample in leaves.samples)))
    paddle.jit.save(net, str(folder / MODEL), input_spec=leaves.inputs)
    for name, data in leaves.files.items():
        (folder / name).write_bytes(data)
    difference = _difference(trained, _loaded_answers(folder, leaves.samples, setting.scratch))
    (folder / ABOUT).write_text(model_card.about_json(about, leaves.reading, difference), encoding="utf-8")
    (folder / CARD).write_text(model_card.card(about, leaves.reading, difference), encoding="utf-8")
    curves.draw(about.history, setting.recipe.metrics[0], folder / CURVES)
    curves.visualdl(about.history, folder / "log")
    return _stored(folder, setting, about.step, difference)


def _loaded_answers(folder: Path, samples: tuple[np.ndarray, ...], scratch: Path) -> list[np.ndarray]:
    inputs, outputs = scratch / "inputs.npz", scratch / "outputs.npz"
    np.savez(inputs, *samples)
    command = [sys.executable, "-m", "trainer_image.trainer.exported", str(folder), str(inputs), str(outputs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise ValueError(f"the exported model does not load: {done.stderr[-800:]}")
    with np.load(outputs) as answers:
        return [answers[name] for name in answers.files]


def _difference(trained: list[np.ndarray], loaded: list[np.ndarray]) -> float:
    """The largest difference between the two models' answers."""
    if [a.shape for a in trained] != [a.shape for a in loaded]:
        raise ValueError("the exported model gives answers of another shape than the trained one")
    pairs = [(a.astype("float64"), b.astype("float64")) for a, b in zip(trained, loaded, strict=True) if a.size]
    largest = max((float(np.abs(a - b).max()) for a, b in pairs), default=0.0)
    scale = max((float(np.abs(a).max()) for a, _ in pairs), default=0.0)
    if not largest <= CLOSE * max(1.0, scale):
        raise ValueError(f"the exported model's answers differ from the trained model's by up to {largest:g}")
    return largest


def _stored(folder: Path, setting: Setting, step: int, difference: float) -> Trained:
    """Everything in one archive, to be taken away; what is looked at alone beside it. The archive comes last."""
    archive = setting.scratch / ARCHIVE
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in files:
            packed.write(folder / name, name)
    prefix = setting.spec.models
    for name in (ABOUT, CARD, CURVES):
        setting.storage.put_file(f"{prefix}/{name}", folder / name)
    setting.storage.put_file(f"{prefix}/{ARCHIVE}", archive)
    return Trained(key=f"{prefix}/{ARCHIVE}", folder=prefix, size=archive.stat().st_size, step=step,
                   difference=difference, files=tuple(files))  # fmt: skip


def read_about(folder: Path) -> dict[str, Any]:
    """What is known of an exported model."""
    return dict(json.loads((folder / ABOUT).read_text(encoding="utf-8")))
