"""Docker's awslogs driver, for local instances: what a process prints goes to the log group and stream that its unit
names, and into a file. As with `mode=non-blocking`, a log that takes nothing never stops the process."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import IO, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

EVERY_S = 1.0
MOST_WAITING = 10_000
"""Lines; the oldest are dropped beyond it."""
_OPTION = re.compile(r"--log-opt awslogs-(\w+)=(\S+)")


class LogDriver:
    """Reads `source` to its end in a thread of its own. `unit`: the text of the systemd unit."""

    def __init__(self, unit: str, source: IO[bytes], copy: Path) -> None:
        options = dict(_OPTION.findall(unit))
        self._where = {"logGroupName": options["group"], "logStreamName": options["stream"]}
        self._client: Any = boto3.client("logs", region_name=options["region"],
                                         config=Config(connect_timeout=2, read_timeout=5))  # fmt: skip
        self._source, self._copy = source, copy
        self._waiting: list[dict[str, Any]] = []
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._send)]
        for thread in self._threads:
            thread.start()

    def close(self, patience_s: float) -> None:
        """Wait until all is sent, or for so long."""
        for thread in self._threads:
            thread.join(patience_s)

    def _read(self) -> None:
        with self._copy.open("wb") as copy:
            for raw in self._source:
                copy.write(raw)
                copy.flush()
                text = raw.decode(errors="replace").rstrip("\n")
                if text.strip():
                    with self._lock:
                        self._waiting.append({"timestamp": int(time.time() * 1000), "message": text})
                        del self._waiting[:-MOST_WAITING]
        self._ended.set()

    def _send(self) -> None:
        made = False
        while True:
            last = self._ended.wait(EVERY_S)
            with self._lock:
                batch, self._waiting = self._waiting, []
            try:
                if batch and not made:
                    self._make_stream()
                    made = True
                if batch:
                    self._client.put_log_events(**self._where, logEvents=batch)
            except (ClientError, BotoCoreError):
                with self._lock:
                    self._waiting = (batch + self._waiting)[-MOST_WAITING:]
            if last:
                return

    def _make_stream(self) -> None:
        try:
            self._client.create_log_stream(**self._where)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceAlreadyExistsException":
                raise
