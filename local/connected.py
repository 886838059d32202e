"""The stack that a command of the CLI talks to: the one that runs (`make console`), else one started for the moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import boto3
from rich.console import Console

from functions.aws.data import Data
from functions.aws.logs import Logs
from functions.aws.table import Table
from local import leftovers
from local.deploy import Clients, Deployed
from local.places import REGION, RUNS
from local.stack import NOTE, local_stack


class Connection:
    """A deployed stack's clients and names."""

    def __init__(self, client: Clients, deployed: Deployed) -> None:
        self.client, self.deployed = client, deployed

    @property
    def table(self) -> Table:
        return Table(self.client("dynamodb"), self.deployed.table, Decimal(0))

    @property
    def logs(self) -> Logs:
        return Logs(self.client("logs"), self.deployed.run_logs)

    @property
    def data(self) -> Data:
        return Data(self.client("dynamodb"), self.deployed.table, self.client("s3"), self.deployed.bucket, ())


@contextmanager
def connected(console: Console) -> Iterator[Connection]:
    """What was kept is there either way, and what is changed is kept."""
    for note in sorted(RUNS.glob(f"*/{NOTE}"), reverse=True):
        if leftovers.is_owned(note.parent):
            yield _running(json.loads(note.read_text()))
            return
    with console.status("starting the local stack …"):
        context = local_stack()
        stack = context.__enter__()
    try:
        yield Connection(stack.client, stack.deployed)
    finally:
        context.__exit__(None, None, None)


def _running(known: dict[str, Any]) -> Connection:
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)

    def client(name: str) -> Any:
        return session.client(name, endpoint_url=known["account"])  # type: ignore[call-overload]

    return Connection(client, Deployed.model_validate(known["deployed"]))
