"""What our loop costs: the same model on the same data in the same process, trained by a bare Paddle loop, by ours, and by
ours with checkpoints at the default interval; in turns, so that whatever else this machine does meets all three. Run by the trainer's
Python: `python -m tests.bench.loop`"""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import paddle  # noqa: E402

from jobs.messages import RunSpec  # noqa: E402
from jobs.recipes import RECIPES  # noqa: E402
from trainer_image.trainer import loop  # noqa: E402
from trainer_image.trainer.checkpoints import Checkpoints  # noqa: E402
from trainer_image.trainer.recipes.ernie_cls import ErnieCls, task  # noqa: E402
from trainer_image.trainer.reports import Reporter  # noqa: E402
from trainer_image.trainer.setting import Setting  # noqa: E402
from trainer_image.trainer.storage import Folder  # noqa: E402

ROUNDS, STEPS = 5, 160
RECIPE = RECIPES["ernie-cls"]
PARAMS = {p.name: p.default for p in RECIPE.params} | {"epochs": 1, "samples": STEPS * 32}


class Silent:
    def send(self, body: str) -> None:
        return


def setting(folder: Path) -> Setting:
    spec = RunSpec(job="bench", attempt=1, recipe="ernie-cls", params=PARAMS, bucket="b", checkpoints="c", result="r",
                   resume_from=None, reports="-", token="t" * 16, region="us-east-1")  # fmt: skip
    bucket = Folder(folder / "bucket")
    return Setting(spec, RECIPE, PARAMS, folder, bucket, Reporter(spec, Silent()), lambda: False, lambda _: bucket)


def fresh(folder: Path) -> ErnieCls:
    paddle.seed(1)
    made, _ = task(setting(folder))
    made.evaluate = dict  # type: ignore[method-assign,assignment]  (evaluation is no part of the comparison)
    return made


def bare(folder: Path) -> tuple[float, float]:
    """Seconds of the steps as one would write them by hand, with the losses read as often as ours does."""
    made = fresh(folder)
    schedule = paddle.optimizer.lr.PolynomialDecay(2e-3, decay_steps=STEPS, end_lr=0.0)
    adam = paddle.optimizer.AdamW(schedule, parameters=made.model.parameters(), weight_decay=0.01,
                                  grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))  # fmt: skip
    ids, labels = made._train
    order = np.random.RandomState(1).permutation(made.samples)
    began = time.monotonic()
    for step in range(STEPS):
        chosen = order[step * 32 : step * 32 + 32]
        loss = paddle.nn.functional.cross_entropy(
            made.model(paddle.to_tensor(ids[chosen])), paddle.to_tensor(labels[chosen])
        )
        loss.backward()
        adam.step()
        adam.clear_grad()
        schedule.step()
        if step % loop.READ_EVERY == 0:
            float(loss)
    return time.monotonic() - began, 0.0


def ours(folder: Path, every_s: float) -> tuple[float, float]:
    """Seconds of the same steps in our loop, and the share of them spent waiting for data."""
    made, here = fresh(folder), setting(folder)
    training = loop.Loop(made, PARAMS, RECIPE.metrics[0], here.told, here.reporter)
    loop.SAVE_EVERY_S_ON_CPU = every_s
    kept = Checkpoints(here.storage, f"c{time.monotonic_ns()}", folder, loop.write, loop.read)
    save: Callable[[Any], None] = training.save
    training.save = save if every_s < 100 else lambda _: None  # type: ignore[method-assign]
    began = time.monotonic()
    training.train(kept)
    return time.monotonic() - began, training.feed.waiting


def main() -> None:
    default = loop.SAVE_EVERY_S_ON_CPU
    kinds: dict[str, Callable[[Path], tuple[float, float]]] = {
        "bare loop": bare, "ours": lambda f: ours(f, 1e9), "ours, checkpoints": lambda f: ours(f, default),
    }  # fmt: skip
    took: dict[str, list[float]] = {name: [] for name in kinds}
    waited = []
    with tempfile.TemporaryDirectory() as scratch, open("/dev/null", "w") as nowhere:
        from contextlib import redirect_stdout

        for turn in range(-1, ROUNDS):
            for name, run in kinds.items():
                with redirect_stdout(nowhere):
                    seconds, waiting = run(Path(scratch))
                if turn >= 0:
                    took[name].append(seconds)
                    waited.append(waiting)
    middle = {name: statistics.median(values) for name, values in took.items()}
    print(f"{STEPS} steps of ernie-cls, batch 32, median of {ROUNDS} turns:")
    for name, seconds in middle.items():
        ratios = [bare_s / own for bare_s, own in zip(took["bare loop"], took[name], strict=True)]
        print(
            f"  {name:18} {seconds:6.2f} s   {STEPS * 32 / seconds:6.0f} samples/s   {statistics.median(ratios):.3f} of bare"
        )
    cost = statistics.median(b / a - 1 for a, b in zip(took["ours"], took["ours, checkpoints"], strict=True))
    print(f"  checkpoints every {default:.0f} s and at the end cost {cost * 100:+.1f} %")
    print(f"  waiting for data: {max(waited) * 100:.2f} % of the time at most")


if __name__ == "__main__":
    main()
