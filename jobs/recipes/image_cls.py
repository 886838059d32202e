"""`image-cls`: what is in a picture, with the networks of paddle.vision."""

from decimal import Decimal

from jobs.recipe import LOOP, Metric, Param, Recipe

MODELS = (
    "lenet",
    "mobilenet_v3_small",
    "mobilenet_v3_large",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "mobilenet_v2",
    "shufflenet_v2_x1_0",
    "densenet121",
    "vgg16",
)

RECIPE = Recipe(
    name="image-cls",
    title=("image classification", "图像分类"),
    params=(
        *LOOP,
        Param(
            name="data",
            kind="data",
            default="digits",
            choices=("digits",),
            holds="images",
            example="photos",
            aliases=("数据",),
        ),
        Param(name="model", kind="choice", default="lenet", choices=MODELS, example="resnet18", aliases=("模型",)),
        Param(
            name="pretrained", kind="choice", default="no", choices=("no", "yes"), example="yes", aliases=("预训练",)
        ),
        Param(
            name="size",
            kind="int",
            default=28,
            low=Decimal(16),
            high=Decimal(1024),
            example="224",
            aliases=("image_size", "尺寸"),
        ),
        Param(
            name="augment",
            kind="choice",
            default="light",
            choices=("none", "light", "standard"),
            example="standard",
            aliases=("数据增强",),
        ),
        Param(
            name="class_weights",
            kind="choice",
            default="none",
            choices=("none", "balanced"),
            example="balanced",
            aliases=("类别权重",),
        ),
    ),
    metrics=(
        Metric(name="accuracy", title=("Validation accuracy", "验证准确率")),
        Metric(name="macro_f1", title=("Macro F1", "宏平均 F1")),
    ),
    example="/train image-cls epochs=5 budget=$5",
)
