"""The whole product on this machine: three servers, a deployed stack, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import httpx
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from local import account, keep, leftovers
from local.deploy import Deployed, Keys, deploy
from local.places import KEPT, REGION, ROOT, RUNS, listening, port_of

START_S = 180
GOODBYE_S = 10
NOTE = "stack.json"
"""In a stack's folder: how other commands find it."""


class Stack:
    """A running local stack. `folder` holds its logs and its instances."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = Keys.fresh()
        self._sockets = {name: listening() for name in ("account", "ec2", "slack")}
        self.account_port, self.ec2_port, slack_port = map(port_of, self._sockets.values())
        self.account, self.ec2, self.slack = (
            f"http://127.0.0.1:{port}" for port in (self.account_port, self.ec2_port, slack_port)
        )
        self.session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)
        self.http = httpx.Client(timeout=30, trust_env=False)
        self.deployed: Deployed
        self.servers: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, options: dict[str, str], kept: Path | None) -> None:
        """Start the servers, deploy, bring back what was kept."""
        env = account.environment(self.account_port, self.folder, self.ec2_port)
        (self.folder / "tmp").mkdir()
        self._serve("account", ["local.account"], env)
        self._serve("ec2", ["local.ec2", str(self.folder / "instances")],
                    _with_trainer(env))  # fmt: skip
        self._serve("slack", ["local.slack"], env | {
            "PADDOCK_SLACK_SIGNING_SECRET": self.keys.slack_signing_secret,
            "PADDOCK_SLACK_BOT_TOKEN": self.keys.slack_bot_token,
        })  # fmt: skip
        for name, url in (("account", f"{self.account}/_ministack/health"), ("slack", f"{self.slack}/state"),
                          ("ec2", f"{self.ec2}/stand-in/ready")):  # fmt: skip
            self._await(name, url)
        account_ec2 = self.session.client("ec2", endpoint_url=self.account)
        self.deployed = deploy(
            self.client, account_ec2, self.account, self.ec2, self.slack, self.keys, self.folder, options
        )
        if kept is not None:
            keep.restore(self.client, self.deployed, kept)
            note = {"account": self.account, "deployed": self.deployed.model_dump()}
            (self.folder / NOTE).write_text(json.dumps(note))

    def client(self, name: str) -> Any:
        """A boto3 client for the emulated account (EC2: the stand-in)."""
        url = self.ec2 if name in ("ec2", "pricing") else self.account
        return self.session.client(name, endpoint_url=url)  # type: ignore[call-overload]

    def type(self, text: str, user: str = "U0ADA", **more: str) -> None:
        """A person types a command in the channel."""
        self.http.post(f"{self.slack}/type", json={"text": text, "user": user, **more}).raise_for_status()

    def press(self, action: str, value: str, user: str = "U0ADA") -> None:
        """A person presses a button of a card."""
        body = {"action_id": action, "value": value, "user": user}
        self.http.post(f"{self.slack}/press", json=body).raise_for_status()

    def channel(self, since: int = -1, wait_s: float = 0) -> dict[str, Any]:
        """What the channel shows, once it is newer than `since` or after `wait_s`."""
        params = {"since": str(since), "wait": str(wait_s)}
        answer = self.http.get(f"{self.slack}/state", params=params, timeout=wait_s + 10)
        return dict(answer.json())

    def control(self, server: str, what: str, **asked: Any) -> Any:
        """A control of a stand-in (`ec2` or `slack`)."""
        url = self.ec2 if server == "ec2" else self.slack
        answer = self.http.post(f"{url}/stand-in/{what}", json=asked)
        answer.raise_for_status()
        return answer.json()

    def instances(self) -> list[str]:
        """Ids of the instances that have processes."""
        return list(self.control("ec2", "running")["instances"])

    def stop(self, kept: Path | None) -> None:
        """Keep what is to be kept, then end everything."""
        if kept is not None and hasattr(self, "deployed"):
            try:
                keep.save(self.client, self.deployed, kept)
            except Exception as error:  # noqa: BLE001
                print(f"the runs of this stack could not be kept: {error}", file=sys.stderr)
        self.http.close()
        for name in ("ec2", "account", "slack"):
            self.end(name)

    def end(self, name: str) -> None:
        """End a server by closing its lifeline; kill it if it does not go."""
        process = self.servers.pop(name, None)
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _serve(self, name: str, command: list[str], env: dict[str, str]) -> None:
        """Start `python -m MODULE FD …`; the socket is the server's alone."""
        module, *more = command
        with (self.folder / f"{name}.log").open("wb") as log, self._sockets.pop(name) as listens:
            fd = listens.fileno()
            process = subprocess.Popen(
                [sys.executable, "-m", module, str(fd), *more], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=log,
                stderr=log, pass_fds=(fd,),
            )  # fmt: skip
        self.servers[name] = process

    def _await(self, name: str, url: str) -> None:
        @retry(stop=stop_after_delay(START_S), wait=wait_fixed(0.1), reraise=True,
               retry=retry_if_exception_type((httpx.HTTPError, ConnectionError)))  # fmt: skip
        def answered() -> None:
            if self.servers[name].poll() is not None:
                log = (self.folder / f"{name}.log").read_text()[-2000:]
                raise RuntimeError(f"the local {name} server did not start:\n{log}")
            method = "POST" if "/stand-in/" in url else "GET"
            self.http.request(method, url, json={} if method == "POST" else None).raise_for_status()

        answered()


def _with_trainer(env: dict[str, str]) -> dict[str, str]:
    """The stand-in's instances run the trainer, which needs to know where its Python is and how many cores it has."""
    kept = ("PADDOCK_HOME", "PADDOCK_TRAINER_PYTHON", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    return env | {key: os.environ[key] for key in kept if key in os.environ}


@contextmanager
def local_stack(options: dict[str, str] | None = None, kept: Path | None = KEPT) -> Iterator[Stack]:
    """A stack for as long as the `with` block; `kept` None: nothing is brought back or kept."""
    leftovers.clean()
    RUNS.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("%H%M%S-"), dir=RUNS))
    leftovers.write_owner(folder)
    stack = Stack(folder)
    try:
        stack.start(options or {}, kept)
        yield stack
    finally:
        stack.stop(kept)
        leftovers.remove(folder)
