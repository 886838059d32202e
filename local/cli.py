"""`paddock`: the local stack from a terminal."""

from __future__ import annotations

import re
import shutil
import signal
import time
from decimal import Decimal
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console

from jobs.job import ENDS
from local import clean_cli, data_cli, leftovers, logs_cli, models_cli
from local.places import HOME, KEPT
from local.stack import Stack, local_stack
from local.terminal import Channel

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Paddock on this machine, without an account.")
app.add_typer(data_cli.app, name="data")
app.add_typer(models_cli.app, name="model")
app.command(name="predict")(models_cli.predict)
app.command(name="logs")(logs_cli.logs)
console = Console()
ACCEPTED = re.compile(r"`([a-z2-7]{8})`")
EATEN_BY_SHELL = re.compile(r"budget=([^\d$\s]*(sh)?\.\d|\s|$)")
"""What is left of `budget=$0.01` or `budget=$5` between double quotes."""
STOP_PATIENCE_S = 120
SUCCEEDED, ENDED_OTHERWISE, NOT_STARTED, INTERRUPTED = 0, 3, 2, 130

MarketShare = Annotated[
    float | None,
    typer.Option("--market", min=0.01, max=1.0, help="Fix the spot price at this share of the on-demand price."),
]


@app.command()
def run(
    command: Annotated[str, typer.Argument(help='What to type in the channel, e.g. "/train ernie-cls epochs=3"')],
    market: MarketShare = None,
) -> None:
    """Type a command in a local Slack channel and watch until its run is over.

    Exit code: 0 the run succeeded, 3 it ended otherwise, 2 nothing was started, 130 after Ctrl-C (the run is stopped).
    """
    with _stack(market) as stack, Channel(console) as channel:
        code = _follow(stack, channel, command)
    if code == NOT_STARTED and EATEN_BY_SHELL.search(command):
        console.print("Your shell has replaced the $ in the budget: put the command into single quotes.")
    raise typer.Exit(code)


@app.command(name="console")
def serve(market: MarketShare = None) -> None:
    """Start the local stack and leave it up, with the channel as a web page."""
    with _stack(market) as stack:
        console.print(f"The channel: [bold]{stack.slack}/[/bold]   (logs: {stack.folder})", soft_wrap=True)
        console.print("Type [bold]/train ernie-cls epochs=3[/bold] there. Ctrl-C ends everything.")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            console.print("Ending …")


app.command(name="clean")(clean_cli.clean)


@app.command()
def reset() -> None:
    """Forget the runs and checkpoints that were kept, and clean up after a crash."""
    for name in leftovers.clean():
        console.print(f"cleaned up after {name}")
    shutil.rmtree(KEPT, ignore_errors=True)
    console.print(f"Nothing is kept any more in {HOME}.")


def _stack(market: float | None) -> Any:
    # SIGINT too: a shell without job control starts background commands with it ignored, and what cannot be
    # interrupted would leave its run going.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _as_keyboard_interrupt)
    console.print("Paddock: starting the local stack …")
    return _Starting(market)


def _as_keyboard_interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


class _Starting:
    """A stack with its market set, and how long it took."""

    def __init__(self, market: float | None) -> None:
        self._market, self._context = market, local_stack()

    def __enter__(self) -> Stack:
        began = time.monotonic()
        stack = self._context.__enter__()
        if self._market is not None:
            stack.control("ec2", "market", share=str(Decimal(str(self._market))))
        console.print(f"Paddock: template.yaml is deployed to the local account ({time.monotonic() - began:.1f} s).")
        return stack

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)


def _follow(stack: Stack, channel: Channel, command: str) -> int:
    """Type the command and show the channel until the run's end is told in it."""
    job = ""
    try:
        stack.type(command)
        state: dict[str, Any] = {"changed": -1, "messages": []}
        while True:
            state = stack.channel(state["changed"], wait_s=2)
            channel.show(state)
            if command.startswith(("/jobs", "/budget", "/data")):
                return SUCCEEDED
            job = job or _accepted(state)
            if not job:
                return NOT_STARTED
            end = _end_of(stack, job)
            if end is not None:
                channel.show(stack.channel())
                return SUCCEEDED if end == "succeeded" else ENDED_OTHERWISE
    except KeyboardInterrupt:
        if job:
            _stop(stack, channel, job)
        return INTERRUPTED


def _accepted(state: dict[str, Any]) -> str:
    """The id of the run that the answer to the command names."""
    answers = [m for m in state["messages"] if m["only_for"] and m["user"] == state["bot"]]
    found = ACCEPTED.search(answers[0]["text"]) if answers and "`/" not in answers[0]["text"] else None
    return found.group(1) if found else ""


def _end_of(stack: Stack, job: str) -> str | None:
    """The run's end state once Slack has been told of it."""
    table = stack.client("dynamodb")
    told = table.get_item(TableName=stack.deployed.table, Key={"pk": {"S": f"JOB#{job}"}, "sk": {"S": "TOLD"}})
    item = table.get_item(TableName=stack.deployed.table, Key={"pk": {"S": f"JOB#{job}"}, "sk": {"S": "JOB"}})
    state = item.get("Item", {}).get("state", {}).get("S", "")
    finished = '"end"' in told.get("Item", {}).get("doc", {}).get("S", "")
    refused = state == "refused"
    return state if state in {end.value for end in ENDS} and (finished or refused) else None


def _stop(stack: Stack, channel: Channel, job: str) -> None:
    """Stop the run as a person would, and wait until its instance is gone."""
    console.print("Stopping the run … (Ctrl-C again: end everything at once)")
    stack.type(f"/jobs stop {job}")
    deadline = time.monotonic() + STOP_PATIENCE_S
    while _end_of(stack, job) is None and time.monotonic() < deadline:
        channel.show(stack.channel())
        time.sleep(0.3)
    channel.show(stack.channel())


if __name__ == "__main__":
    app()
