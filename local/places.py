"""Where things are on this machine. Everything that the local stack writes lies under `.paddock/`."""

from __future__ import annotations

import os
import socket
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(os.environ.get("PADDOCK_HOME", ROOT / ".paddock"))
RUNS = HOME / "runs"
KEPT = HOME / "kept"
TRAINER_PYTHON = Path(os.environ.get("PADDOCK_TRAINER_PYTHON", HOME / "trainer" / "bin" / "python"))
REGION = "us-east-1"


def listening() -> socket.socket:
    """A socket on a free port of 127.0.0.1, to be handed to a server: a port that is only looked up can be somebody
    else's by the time that the server starts."""
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen(128)
    return made


def port_of(made: socket.socket) -> int:
    return int(made.getsockname()[1])
