"""`paddock data`: the team's data from a terminal."""

from __future__ import annotations

import getpass
import hashlib
import tempfile
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid

from bot.answers import sentence
from bot.quantities import size
from bot.wording import say
from jobs.data import texts
from jobs.data.dataset import NAME, Version, key_of
from jobs.problem import nearest
from local.connected import connected

app = typer.Typer(no_args_is_help=True, help="Upload data and see what is there.")
console = Console()
EPOCH = (1980, 1, 1, 0, 0, 0)
LABELS_KEPT = 50
WRONG = 2

Name = Annotated[str, typer.Argument(help="The name that commands use: data=NAME")]


@app.command()
def put(
    name: Name,
    path: Annotated[Path, typer.Argument(help="A file, or a folder (packed as a zip)", exists=True, readable=True)],
    text_column: Annotated[str, typer.Option(help="Which column holds the texts")] = "",
    label_column: Annotated[str, typer.Option(help="Which column holds the labels")] = "",
) -> None:
    """Upload a file under a name. The same name again makes a new version; runs say which version they used."""
    if not NAME.fullmatch(name):
        console.print(f"{name!r} is not a name: letters, digits, '_', '.' and '-', at most 64. Try: reviews")
        raise typer.Exit(WRONG)
    with tempfile.TemporaryDirectory() as scratch:
        file = _packed(path, Path(scratch)) if path.is_dir() else path
        version = _looked_at(name, file, texts.Asked(text_column=text_column, label_column=label_column))
        with connected(console) as there:
            known = there.data.put(name, version, file)
    count = len(known.versions)
    again = "the same content as before" if count and known.newest.at != version.at else f"version {count}"
    console.print(f"[bold]{name}[/bold]: {file.name}, {size(version.size)}, {again} ({version.sha256[:8]})")
    console.print(f"Train on it: /train … data={name}", highlight=False)


@app.command()
def ls() -> None:
    """List what was uploaded."""
    with connected(console) as there:
        sets = there.data.sets()
    if not sets:
        console.print("Nothing is uploaded yet. Try: paddock data put reviews reviews.csv")
        return
    grid = Grid("name", "file", "size", "rows", "labels", "version", "versions", "by", "when (UTC)", box=None)
    for found in sets:
        new = found.newest
        grid.add_row(found.name, new.file, size(new.size), f"{new.rows:,}" if new.rows else "—",
                     str(new.label_count or "—"), new.sha256[:8], str(len(found.versions)), new.by,
                     f"{new.at:%Y-%m-%d %H:%M}")  # fmt: skip
    console.print(grid)


@app.command()
def rm(name: Name) -> None:
    """Delete a name and all of its versions. Refused while a live run uses them."""
    with connected(console) as there:
        users = [job.id for job in there.table.live() if name in {ref.name for ref in job.spec.files.values()}
                 and not job.state.is_end]  # fmt: skip
        if users:
            console.print(f"{name} is used by {', '.join(users)}: nothing was deleted. Stop them first.")
            raise typer.Exit(WRONG)
        removed = there.data.remove(name)
        if removed is None:
            meant = nearest(name, [found.name for found in there.data.sets()])
            console.print(f"There are no data called {name}." + (f" Did you mean {meant}?" if meant else ""))
            raise typer.Exit(WRONG)
    total = sum(version.size for version in removed.versions)
    console.print(f"Deleted {name}: {len(removed.versions)} versions, {size(total)}.")


def _packed(folder: Path, scratch: Path) -> Path:
    """A folder as one zip; the same content gives the same bytes, hence the same version."""
    target = scratch / f"{folder.resolve().name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            packed.writestr(zipfile.ZipInfo(path.relative_to(folder).as_posix(), EPOCH), path.read_bytes())
    return target


def _looked_at(name: str, file: Path, asked: texts.Asked) -> Version:
    """What is in the file, said to the person too: what would be refused later is heard of now."""
    data = file.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    version = Version(sha256=sha256, key=key_of(name, sha256, file.name), size=len(data), by=getpass.getuser(),
                      at=datetime.now(timezone.utc), kind="file")  # fmt: skip
    if zipfile.is_zipfile(file) or file.name.endswith((".tar", ".tar.gz", ".tgz")):
        return version
    found = texts.read(data, file.name, asked, whole=True)
    if isinstance(found, list):
        for problem in found:
            console.print("[yellow]Note:[/yellow] " + sentence(problem, "en"), highlight=False)
        return version
    findings = found[1]
    console.print(
        f"{findings.rows:,} rows ({findings.encoding}), {findings.used:,} usable, {len(findings.labels)} labels"
    )
    for reason, left in findings.left_out.items():
        console.print(
            f"  {left.count:,} left out: {say('en', f'left_{reason}')} (first in line {left.first})", highlight=False
        )
    labels = dict(list(findings.labels.items())[:LABELS_KEPT])
    changed: Version = version.with_(kind="texts", rows=findings.rows, labels=labels, label_count=len(findings.labels))
    return changed
