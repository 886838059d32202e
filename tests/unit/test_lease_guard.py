"""The lease guard: the very file that runs on instances, against a metadata service."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from functions.aws.startup import HOST
from tests.waiting import until

GUARD = HOST / "lease_guard.py"
LATE_S = 8
"""A machine that runs tests may be busy."""


class Metadata:
    """An instance's metadata: values by path; `down` makes it unreadable."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.down = False
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                self._answer("the-token")

            def do_GET(self) -> None:
                if self.headers.get("X-aws-ec2-metadata-token") != "the-token":
                    self.send_error(401)
                    return
                self._answer(owner.values.get(self.path.removeprefix("/latest/meta-data/")))

            def _answer(self, value: str | None) -> None:
                if owner.down or value is None:
                    self.send_error(500 if owner.down else 404)
                    return
                self.send_response(200)
                self.end_headers()
                self.wfile.write(value.encode())

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def lease(self, until_: float) -> None:
        self.values["tags/instance/paddock-lease"] = str(until_)


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    service = Metadata()
    yield service
    service.server.shutdown()
    service.server.server_close()


class Guarded:
    """A guard process; what it did, with the times."""

    def __init__(self, folder: Path, url: str, lease: float, deadline: float, warning_s: float = 1) -> None:
        self.log = folder / "did"
        note = f"import time; open({str(self.log)!r}, 'a').write('%s %f\\n' % ('{{}}', time.time()))"
        config = {
            "lease": lease, "deadline": deadline, "warning_s": warning_s, "period_s": 0.2,
            "warn": [sys.executable, "-c", note.format("warn")], "power_off": [sys.executable, "-c", note.format("off")],
        }  # fmt: skip
        (folder / "guard.json").write_text(json.dumps(config))
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(GUARD), str(folder / "guard.json")], stderr=subprocess.DEVNULL,
            env={"AWS_EC2_METADATA_SERVICE_ENDPOINT": url, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip

    def did(self, what: str) -> float | None:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return next((float(line.split()[1]) for line in lines if line.split()[0] == what), None)


@pytest.fixture
def guards() -> Iterator[list[Guarded]]:
    started: list[Guarded] = []
    yield started
    for one in started:
        one.process.kill()
        one.process.wait()


def test_it_warns_and_then_powers_off_at_the_lease(tmp_path: Path, metadata: Metadata, guards: list[Guarded]) -> None:
    end = time.time() + 4
    guard = Guarded(tmp_path, metadata.url, end, end + 100)
    guards.append(guard)
    off = until(lambda: guard.did("off"))
    warned = guard.did("warn")
    assert warned is not None
    assert end - 1 <= warned < off
    assert end <= off < end + LATE_S


def test_a_renewed_tag_lengthens_it(tmp_path: Path, metadata: Metadata, guards: list[Guarded]) -> None:
    end = time.time() + 1
    metadata.lease(end + 2)
    guard = Guarded(tmp_path, metadata.url, end, end + 100)
    guards.append(guard)
    assert until(lambda: guard.did("off")) >= end + 2


def test_the_deadline_caps_any_lease(tmp_path: Path, metadata: Metadata, guards: list[Guarded]) -> None:
    end = time.time() + 1
    metadata.lease(end + 1000)
    guard = Guarded(tmp_path, metadata.url, end, end + 1)
    guards.append(guard)
    assert end + 1 <= until(lambda: guard.did("off")) < end + 1 + LATE_S


@pytest.mark.parametrize("nonsense", ["", "never", "-1", "0", "12"])
def test_a_bad_tag_is_no_renewal(tmp_path: Path, metadata: Metadata, guards: list[Guarded], nonsense: str) -> None:
    end = time.time() + 1
    metadata.values["tags/instance/paddock-lease"] = nonsense
    guard = Guarded(tmp_path, metadata.url, end, end + 100)
    guards.append(guard)
    assert end <= until(lambda: guard.did("off")) < end + LATE_S


def test_unreadable_metadata_is_no_renewal(tmp_path: Path, metadata: Metadata, guards: list[Guarded]) -> None:
    """It goes by the last lease that it knew."""
    end = time.time() + 1
    metadata.lease(end + 2)
    guard = Guarded(tmp_path, metadata.url, end, end + 100)
    guards.append(guard)
    until(lambda: time.time() > end + 0.5)
    metadata.down = True
    assert end + 2 <= until(lambda: guard.did("off")) < end + 2 + LATE_S


def test_a_service_that_is_not_there_is_no_renewal(tmp_path: Path, guards: list[Guarded]) -> None:
    end = time.time() + 1
    guard = Guarded(tmp_path, "http://127.0.0.1:9", end, end + 100)
    guards.append(guard)
    assert end <= until(lambda: guard.did("off")) < end + LATE_S


def test_an_interruption_notice_warns_at_once(tmp_path: Path, metadata: Metadata, guards: list[Guarded]) -> None:
    metadata.values["spot/instance-action"] = '{"action": "terminate"}'
    end = time.time() + 100
    guard = Guarded(tmp_path, metadata.url, end, end)
    guards.append(guard)
    assert until(lambda: guard.did("warn")) < end - 90
    assert guard.did("off") is None


def test_power_off_is_tried_until_the_machine_is_gone(
    tmp_path: Path, metadata: Metadata, guards: list[Guarded]
) -> None:
    guard = Guarded(tmp_path, metadata.url, time.time() - 1, time.time() + 100)
    guards.append(guard)
    until(lambda: guard.log.exists() and guard.log.read_text().count("off") >= 2)
