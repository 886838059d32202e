"""What a recipe is: parameters with bounds, metrics with their names and direction, the machines that suit it. The
recipes themselves are in jobs/recipes/, one file each; docs/recipes.md shows how to add one."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from jobs.model import Model

Value = int | float | str
Words = tuple[str, str]
"""The same in English and in Chinese."""


Holds = Literal["texts", "images", "boxes", "lines", "anything"]
"""Texts with labels; images with labels; images with boxes; images of text lines."""


class Param(Model):
    """One parameter of a recipe. `low` and `high` are inclusive; `default` None means: the recipe decides."""

    name: str
    kind: Literal["int", "float", "choice", "text", "data", "code"]
    """`data`: one of `choices` (what the recipe ships), the name of an uploaded set, or a place `s3://bucket/key`.
    `code`: the name of an upload, or a repository's address `https://host/path@ref`."""
    default: Value | None
    low: Decimal | None = None
    high: Decimal | None = None
    choices: tuple[str, ...] = ()
    longest: int = 0
    """The most characters of a text."""
    form: str = ""
    """A regular expression that all of a text must match."""
    aliases: tuple[str, ...] = ()
    example: str
    required: bool = False
    """There is no default: it must be typed."""
    holds: Holds = "anything"
    """Of data: what must be in them. Checked before anything is launched."""
    changeable: bool = False
    """Whether a run that resumes another's checkpoint may give it another value. All others are kept from that run:
    with another model, batch or text the checkpoint would not be where the training was."""


class Metric(Model):
    """Something that evaluation measures. The trainer reports it under `name`."""

    name: str
    title: Words
    form: Literal["percent", "number"] = "percent"
    digits: int = 1
    """After the decimal point."""
    better: Literal["higher", "lower"] = "higher"

    def shown(self, value: float) -> str:
        """`value` as people read it: 0.785 is `78.5 %`."""
        return f"{value * 100:.{self.digits}f} %" if self.form == "percent" else f"{value:.{self.digits}f}"

    def score(self, value: float) -> float:
        """`value` so that higher is better: by it the best checkpoint is chosen."""
        return value if self.better == "higher" else -value


class Recipe(Model):
    """What can be trained: its parameters, its metrics (the main one first) and the instance types that suit it,
    cheapest first."""

    name: str
    title: Words
    params: tuple[Param, ...]
    metrics: tuple[Metric, ...]
    instance_types: tuple[str, ...] = ("g4dn.xlarge", "g5.xlarge")
    example: str

    def param(self, name: str) -> Param | None:
        """The parameter of this name or alias."""
        return next((p for p in self.params if name == p.name or name in p.aliases), None)

    def metric(self, name: str) -> Metric | None:
        """The metric that the trainer reports under this name."""
        return next((m for m in self.metrics if m.name == name), None)


EPOCHS = Param(
    name="epochs", kind="int", default=3, low=Decimal(1), high=Decimal(1000), example="3",
    aliases=("epoch", "轮数", "轮"), changeable=True,
)  # fmt: skip
LR = Param(
    name="lr", kind="float", default=None, low=Decimal("0.0000001"), high=Decimal("0.1"), example="2e-3",
    aliases=("learning_rate", "学习率"), changeable=True,
)  # fmt: skip
BATCH = Param(
    name="batch", kind="int", default=32, low=Decimal(1), high=Decimal(1024), example="32",
    aliases=("batch_size", "批大小"),
)  # fmt: skip
SEED = Param(
    name="seed", kind="int", default=1, low=Decimal(0), high=Decimal(2_147_483_647), example="1", aliases=("种子",)
)  # fmt: skip
GRAPH = Param(
    name="graph", kind="choice", default="dynamic", choices=("dynamic", "static"), example="static",
    aliases=("图模式",),
)  # fmt: skip
"""`static` trains through paddle.jit.to_static, with the same losses."""
LOOP = (EPOCHS, LR, BATCH, SEED, GRAPH)
"""What the training loop itself takes (trainer_image/trainer/loop.py): every recipe that uses it has these."""
