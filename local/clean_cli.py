"""`paddock clean`: what runs left and nobody needs any more."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table as Grid

from bot.quantities import size
from jobs.job import Job
from jobs.spec import read_keep, read_time
from local.connected import Connection, connected

console = Console()
WRONG = 2
LOOKED_AT = 1000


class Left(NamedTuple):
    """What a run left below one prefix: keys and bytes, and when it ended."""

    job: Job
    what: str
    keys: list[str]
    bytes: int
    ended: datetime


def clean(
    older: Annotated[
        str, typer.Option(help="Older than this, e.g. 30d; if not given, what each run's keep= said")
    ] = "",
    checkpoints_only: Annotated[bool, typer.Option("--checkpoints", help="Leave models alone")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it only shows what would be freed")] = False,
) -> None:
    """Show which checkpoints and models are past their time, and what deleting them frees; with --yes, delete them."""
    age = read_time(older, low_s=0) if older else None
    if age is not None and not isinstance(age, int):
        console.print(f"{older!r} is not an age: use d or h, for example --older 30d")
        raise typer.Exit(WRONG)
    now = datetime.now(timezone.utc)
    with connected(console) as there:
        due = [left for job in there.table.newest(LOOKED_AT) for left in _left(there, job, checkpoints_only)
               if _is_due(left, age, now)]  # fmt: skip
        _show(due, yes)
        if yes:
            for left in due:
                _delete(there.client("s3"), there.deployed.bucket, left.keys)


def _left(there: Connection, job: Job, checkpoints_only: bool) -> list[Left]:
    """Of a run that is over. A live run needs its checkpoints."""
    if not job.state.is_end:
        return []
    found = []
    for what in ("checkpoints",) if checkpoints_only else ("checkpoints", "model"):
        pages = (
            there.client("s3")
            .get_paginator("list_objects_v2")
            .paginate(Bucket=there.deployed.bucket, Prefix=f"jobs/{job.id}/{what}/")
        )
        entries = [entry for page in pages for entry in page.get("Contents", [])]
        if entries:
            size_of = sum(entry["Size"] for entry in entries)
            found.append(Left(job, what, [entry["Key"] for entry in entries], size_of, job.ended_at or job.updated_at))
    return found


def _is_due(left: Left, age_s: int | None, now: datetime) -> bool:
    keep = left.job.spec.keep
    if age_s is None:
        return keep != "forever" and now - left.ended > timedelta(days=int(str(read_keep(keep)).removesuffix("d")))
    return now - left.ended >= timedelta(seconds=age_s)


def _show(due: list[Left], deleted: bool) -> None:
    if not due:
        console.print("Nothing is past its time.")
        return
    grid = Grid("run", "recipe", "what", "size", "keep", "ended (UTC)", box=None)
    for left in due:
        grid.add_row(left.job.id, left.job.spec.recipe, left.what, size(left.bytes), left.job.spec.keep,
                     f"{left.ended:%Y-%m-%d %H:%M}")  # fmt: skip
    console.print(grid)
    total = size(sum(left.bytes for left in due))
    console.print(f"Freed {total}." if deleted else f"Deleting these frees {total}: paddock clean … --yes")


def _delete(client: Any, bucket: str, keys: list[str]) -> None:
    for at in range(0, len(keys), 1000):
        part = [{"Key": key} for key in keys[at : at + 1000]]
        client.delete_objects(Bucket=bucket, Delete={"Objects": part, "Quiet": True})
