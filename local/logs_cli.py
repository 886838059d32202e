"""`paddock logs`: what a run printed."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console

from functions.aws.logs import Line
from jobs.logs import Masked, plain
from local.connected import Connection, connected

console = Console(soft_wrap=True, highlight=False)
WRONG = 2
EVERY_S = 1.0


def logs(
    id: Annotated[str, typer.Argument(help="The run's id, as /jobs shows it")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run is over")] = False,
    attempt: Annotated[int, typer.Option(help="Which attempt; the newest that printed anything if not given")] = 0,
) -> None:
    """Show what a run printed."""
    with connected(console) as there:
        job = there.table.load(id.lower())
        if job is None:
            console.print(f"There is no run {id}.")
            raise typer.Exit(WRONG)
        number = attempt or next((n for n in range(job.last_attempt, 0, -1) if there.logs.last(job.id, n, 1)), 1)
        try:
            shown = _follow(there, job.id, number, follow)
        except KeyboardInterrupt:
            shown = True
    if not shown:
        console.print(f"{id} has written no log yet." if not job.state.is_end else f"{id} has left no log here.")


def _follow(there: Connection, id: str, attempt: int, follow: bool) -> bool:
    """Print an attempt's lines, and with `follow` those to come and those of later attempts. Whether there were any."""
    token, shown = "", False
    while True:
        job = there.table.load(id)
        over = job is None or job.state.is_end or not follow
        lines, after = there.logs.after(id, attempt, token)
        _print(lines)
        shown = shown or bool(lines)
        if lines or (after and after != token):
            token = after
            if lines:
                continue
        if over:
            return shown
        if job is not None and job.last_attempt > attempt and there.logs.last(id, attempt + 1, 1):
            attempt, token = attempt + 1, ""
            console.print(f"— attempt {attempt} —", style="dim")
            continue
        time.sleep(EVERY_S)


def _print(lines: list[Line]) -> None:
    mask = Masked()
    for line in lines:
        console.print(mask(plain(line.text)), markup=False)
