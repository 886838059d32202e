"""Loss and metric over the steps, as a picture and as a VisualDL log."""

from __future__ import annotations

from pathlib import Path

from jobs.recipe import Metric
from trainer_image.trainer.history import History

INK, GRID, LOSS, BEST = "#1d1c1d", "#dddddd", "#2a6fb0", "#c2571a"


def draw(history: History, main: Metric, path: Path) -> None:
    """A PNG of 1,000 by 500 pixels: the loss on the left axis, the main metric on the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    left = figure.subplots()
    left.grid(color=GRID, linewidth=0.6)
    left.set_xlabel("step")
    left.set_ylabel("loss", color=LOSS)
    left.plot(*_columns(history.losses), color=LOSS, linewidth=1.2, label="loss")
    measured = [(step, metrics[main.name]) for step, metrics in history.metrics if main.name in metrics]
    if measured:
        right = left.twinx()
        scale = 100 if main.form == "percent" else 1
        unit = " (%)" if main.form == "percent" else ""
        steps, values = _columns(measured)
        right.plot(steps, [value * scale for value in values], color=BEST, marker="o", linestyle="--")
        right.set_ylabel(main.title[0] + unit, color=BEST)
    figure.savefig(path, format="png")


def visualdl(history: History, folder: Path) -> None:
    """The same for `visualdl --logdir`."""
    from visualdl import LogWriter

    with LogWriter(logdir=str(folder)) as log:
        for step, loss in history.losses:
            log.add_scalar(tag="loss", step=step, value=loss)
        for step, metrics in history.metrics:
            for name, value in metrics.items():
                log.add_scalar(tag=name, step=step, value=value)


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [step for step, _ in points], [value for _, value in points]
