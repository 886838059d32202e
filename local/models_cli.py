"""`paddock model` and `paddock predict`: what runs left, from a terminal."""

from __future__ import annotations

import json
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bot.quantities import size
from jobs.messages import Trained
from local.connected import Connection, connected
from local.places import ROOT, TRAINER_PYTHON

app = typer.Typer(no_args_is_help=True, help="Fetch models that runs left.")
console = Console()
WRONG = 2
SHOWN = 5

Id = Annotated[str, typer.Argument(help="The run's id, as /jobs shows it")]


@app.callback()
def _group() -> None:
    """Fetch models that runs left."""


@app.command()
def get(
    id: Id, folder: Annotated[Path, typer.Argument(help="Where to put it: made if it is not there, else empty")]
) -> None:
    """Fetch a run's model into a folder."""
    if folder.exists() and any(folder.iterdir()):
        console.print(f"{folder} is not empty: nothing was fetched. Name a new folder.")
        raise typer.Exit(WRONG)
    with connected(console) as there:
        _fetch(there, id, folder)
    console.print(f"[bold]{folder}[/bold]: README.md says what it is. Try it: paddock predict {id} …", highlight=False)


def predict(
    id: Id,
    inputs: Annotated[list[str], typer.Argument(help="Texts, or image files, as the model's recipe wants them")],
) -> None:
    """Try a run's model on this machine."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with connected(console) as there:
            _fetch(there, id, folder)
        command = [str(TRAINER_PYTHON), "-m", "trainer_image.trainer.predict", str(folder), *inputs]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        console.print(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the model could not be run")
        raise typer.Exit(1)
    for answer in json.loads(done.stdout.splitlines()[-1]):
        _show(answer)


def _fetch(there: Connection, id: str, folder: Path) -> None:
    """The run's archive, unpacked. Exits with a word if there is none."""
    left = _model(there, id)
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "model.zip"
        there.client("s3").download_file(there.deployed.bucket, left.key, str(archive))
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    console.print(f"Fetched {len(left.files)} files, {size(left.size)}.", highlight=False)


def _model(there: Connection, id: str) -> Trained:
    job = there.table.load(id.lower())
    if job is None:
        known = [found.id for found in there.table.newest(SHOWN) if found.model is not None]
        console.print(f"There is no run {id}." + (f" With a model: {', '.join(known)}" if known else ""))
        raise typer.Exit(WRONG)
    if job.model is None:
        console.print(f"{id} left no model: it is {job.state.value.replace('_', ' ')}.")
        raise typer.Exit(WRONG)
    return job.model


def _show(answer: dict[str, Any]) -> None:
    said = answer["answer"]
    shown = ", ".join(map(str, said)) if isinstance(said, list) else str(said)
    console.print(f"[bold]{shown or '—'}[/bold]  {answer['input']}", highlight=False)
    for label in answer.get("labels", [])[:SHOWN]:
        console.print(f"    {label['share'] * 100:5.1f} %  {label['label']}", highlight=False)
