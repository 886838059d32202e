"""`detect`: what is where in a picture, with PP-YOLOE."""

from decimal import Decimal

from jobs.recipe import BATCH, EPOCHS, LR, SEED, Metric, Param, Recipe

RECIPE = Recipe(
    name="detect",
    title=("object detection with PP-YOLOE", "用 PP-YOLOE 做目标检测"),
    params=(
        EPOCHS.with_(default=20, example="20"),
        LR,
        BATCH.with_(default=8, example="8"),
        SEED,
        Param(
            name="data",
            kind="data",
            default="drawn",
            choices=("drawn",),
            holds="boxes",
            example="scenes",
            aliases=("数据",),
        ),
        Param(name="model", kind="choice", default="s", choices=("xs", "s", "m", "l"), example="s", aliases=("模型",)),
        Param(
            name="size",
            kind="int",
            default=160,
            low=Decimal(96),
            high=Decimal(1280),
            example="640",
            aliases=("image_size", "尺寸"),
        ),
        Param(
            name="samples",
            kind="int",
            default=None,
            low=Decimal(16),
            high=Decimal(100_000_000),
            example="500",
            aliases=("样本数",),
        ),
    ),
    metrics=(
        Metric(name="map", title=("mAP", "mAP")),
        Metric(name="map50", title=("mAP at IoU 0.5", "mAP（IoU 0.5）")),
    ),
    example="/train detect epochs=20 budget=$5",
)
