"""How loss and metrics went, step by step. Part of every checkpoint, so that the curves of a run that was interrupted
are whole."""

from __future__ import annotations

from pydantic import BaseModel

MOST_POINTS = 1000


class History(BaseModel):
    """`losses`: means over `width` steps each, with the step that they end at; `metrics`: one entry per evaluation."""

    width: int = 1
    losses: list[tuple[int, float]] = []
    metrics: list[tuple[int, dict[str, float]]] = []
    pending: list[float] = []

    def add_loss(self, step: int, loss: float) -> None:
        """Keeps at most 1,000 points: beyond that two become one."""
        self.pending.append(loss)
        if len(self.pending) < self.width:
            return
        self.losses.append((step, sum(self.pending) / len(self.pending)))
        self.pending = []
        if len(self.losses) >= MOST_POINTS:
            pairs = zip(self.losses[::2], self.losses[1::2], strict=True)
            self.losses = [(later[0], (earlier[1] + later[1]) / 2) for earlier, later in pairs]
            self.width *= 2

    def add_metrics(self, step: int, metrics: dict[str, float]) -> None:
        self.metrics.append((step, dict(metrics)))
