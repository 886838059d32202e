"""The batches of a run, in an order that is a function of seed and epoch alone: the position in the data is the step.
Prepared ahead by paddle.io.DataLoader, so that training waits for little; how long it waits is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from paddle.io import BatchSampler, DataLoader, Dataset

Batch = tuple[np.ndarray, ...]
MakeBatch = Callable[[np.ndarray, np.random.Generator], Batch]
"""From the numbers of the samples [batch] and this step's own random generator to the arrays of one step."""
FEW_CORES, MOST_WORKERS = 2, 8


def worker_count() -> int:
    """Processes that prepare batches: none where training itself needs the cores. PADDOCK_WORKERS says otherwise."""
    if os.environ.get("PADDOCK_WORKERS"):
        return int(os.environ["PADDOCK_WORKERS"])
    cores = len(os.sched_getaffinity(0))
    return 0 if cores <= FEW_CORES else min(MOST_WORKERS, cores - 1)


class Position(NamedTuple):
    """Which samples the step `step` (zero-based) takes."""

    step: int
    chosen: np.ndarray


class Feed:
    """Batches from any step on. `waited_s` and `all_s`: of the steps taken, the time spent waiting and in all."""

    def __init__(self, make: MakeBatch, samples: int, batch: int, seed: int) -> None:
        self._make, self._samples, self._batch, self._seed = make, samples, batch, seed
        self._workers = worker_count()
        self.per_epoch = -(-samples // batch)
        self.waited_s = self.all_s = 0.0

    def batches(self, step: int, steps: int) -> Iterator[list[Any]]:
        """The tensors of the steps from `step` to before `steps`."""
        loader = DataLoader(
            _Prepared(self._make, self._seed), batch_sampler=_Positions(self, step, steps), collate_fn=_only,
            num_workers=self._workers, return_list=True,
        )  # fmt: skip
        source = iter(loader)
        for _ in range(step, steps):
            began = time.monotonic()
            batch = next(source)
            self.waited_s += time.monotonic() - began
            yield batch
            self.all_s += time.monotonic() - began

    @property
    def waiting(self) -> float:
        """The share of the time that was spent waiting for data, 0 to 1."""
        return self.waited_s / self.all_s if self.all_s else 0.0

    def positions(self, step: int, steps: int) -> Iterator[Position]:
        """Every sample once per epoch, shuffled anew each time; the last batch of an epoch may be smaller."""
        ordered, order = -1, np.arange(0)
        for at in range(step, steps):
            epoch, within = divmod(at, self.per_epoch)
            if epoch != ordered:
                ordered = epoch
                order = np.random.RandomState((self._seed * 100_003 + epoch) % 2**32).permutation(self._samples)
            yield Position(at, order[within * self._batch : (within + 1) * self._batch])


class _Positions(BatchSampler):
    def __init__(self, feed: Feed, step: int, steps: int) -> None:
        self._feed, self._step, self._steps = feed, step, steps

    def __iter__(self) -> Iterator[list[Position]]:
        return ([position] for position in self._feed.positions(self._step, self._steps))

    def __len__(self) -> int:
        return self._steps - self._step


class _Prepared(Dataset):
    """A "sample" of this data set is a whole batch, made with a random generator of its step's own: augmentation is
    the same whichever process makes it, and after an interruption."""

    def __init__(self, make: MakeBatch, seed: int) -> None:
        self._make, self._seed = make, seed

    def __getitem__(self, position: Position) -> Batch:
        return self._make(position.chosen, np.random.default_rng([self._seed, position.step]))

    def __len__(self) -> int:
        return 1


def _only(batches: list[Batch]) -> Batch:
    return batches[0]
