"""`ocr-rec`: reading lines of text in pictures."""

from decimal import Decimal

from jobs.recipe import LOOP, Metric, Param, Recipe

RECIPE = Recipe(
    name="ocr-rec",
    title=("text line recognition", "文本行识别"),
    params=(
        *LOOP,
        Param(
            name="data",
            kind="data",
            default="drawn",
            choices=("drawn",),
            holds="lines",
            example="lines",
            aliases=("数据",),
        ),
        Param(name="dictionary", kind="data", default=None, example="chars.txt", aliases=("字典",)),
        Param(
            name="width", kind="int", default=160, low=Decimal(32), high=Decimal(2048), example="320", aliases=("宽度",)
        ),
        Param(
            name="height", kind="int", default=32, low=Decimal(16), high=Decimal(128), example="32", aliases=("高度",)
        ),
        Param(
            name="hidden",
            kind="int",
            default=96,
            low=Decimal(16),
            high=Decimal(1024),
            example="256",
            aliases=("隐藏层",),
        ),
        Param(
            name="samples",
            kind="int",
            default=None,
            low=Decimal(64),
            high=Decimal(100_000_000),
            example="1200",
            aliases=("样本数",),
        ),
    ),
    metrics=(
        Metric(name="cer", title=("Character error rate", "字符错误率"), better="lower"),
        Metric(name="line_accuracy", title=("Whole lines right", "整行正确率")),
    ),
    example="/train ocr-rec epochs=10 budget=$5",
)
