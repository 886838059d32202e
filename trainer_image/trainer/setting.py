"""What a recipe is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.messages import RunSpec
from jobs.problem import Problem
from jobs.recipe import Recipe
from trainer_image.trainer.data.fetch import Fetched, fetch
from trainer_image.trainer.reports import Reporter
from trainer_image.trainer.storage import Storage


class Refused(Exception):
    """What the person gave cannot be trained on: the same again would fail the same way."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.facts}")
        self.problem = problem


@dataclass(frozen=True)
class Setting:
    """One attempt's surroundings. `params`: every parameter of the recipe; `scratch`: a folder on the local disk;
    `told`: whether the trainer was told to leave."""

    spec: RunSpec
    recipe: Recipe
    params: dict[str, Any]
    scratch: Path
    storage: Storage
    reporter: Reporter
    told: Callable[[], bool]
    open_bucket: Callable[[str], Storage]

    def fetched(self, param: str) -> Fetched | None:
        """The file that was named for a parameter, on the local disk; None if what the recipe ships is meant."""
        ref = self.spec.files.get(param)
        return None if ref is None else fetch(ref, self.open_bucket(ref.bucket), self.scratch)

    def data_read(self, **facts: Any) -> None:
        """Say what was found in the data; `facts` are those of messages.DataRead."""
        self.reporter.data(**facts)
