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


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
