"""`script`: a team's own code, run as it stands (docs/own-code.md)."""

from jobs.recipe import Param, Recipe

NAMES = r"[A-Za-z0-9_.,-]+"

RECIPE = Recipe(
    name="script",
    title=("own code", "自有代码"),
    params=(
        Param(
            name="code", kind="code", default=None, required=True, example="my-code", aliases=("代码",), changeable=True
        ),
        Param(
            name="run",
            kind="text",
            default=None,
            required=True,
            longest=1000,
            form=r"[^\x00-\x08\x0a-\x1f]+",
            example='"python train.py --epochs=10"',
            aliases=("命令",),
            changeable=True,
        ),
        Param(name="data", kind="data", default=None, example="reviews", aliases=("数据",)),
        Param(
            name="requirements",
            kind="text",
            default=None,
            longest=300,
            form=r"[A-Za-z0-9._/ ,=<>~!\[\]-]+",
            example="requirements.txt",
            aliases=("依赖",),
            changeable=True,
        ),
        Param(
            name="secret",
            kind="text",
            default=None,
            longest=200,
            form=NAMES,
            example="wandb",
            aliases=("密钥",),
            changeable=True,
        ),
    ),
    metrics=(),
    example='/train script code=my-code run="python train.py" budget=$5',
)
