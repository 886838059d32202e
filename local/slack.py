"""The Slack stand-in: the Web API methods that Paddock calls, a page that shows the channel, and a person's commands
and buttons, signed as Slack signs them. `python -m local.slack PORT`"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import uvicorn
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from local.lifeline import end_with_parent
from local.slack_refused import Refused
from local.workspace import BOT, CHANNEL, OTHERS, PEOPLE, Workspace

PAGE = Path(__file__).parent / "page"
PATIENCE_S = 3.0
"""Slack gives an app three seconds to acknowledge."""


class Slack:
    """`url` is the app's request URL: set once the stack is deployed."""

    def __init__(self, signing_secret: str, token: str) -> None:
        self.workspace = Workspace()
        self.url = ""
        self._sign = SignatureVerifier(signing_secret)
        self._token = token

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", self._page), Route("/page/{name}", self._asset),
                Route("/api/{method}", self._api, methods=["POST"]),
                Route("/upload/{id}", self._upload, methods=["POST"]), Route("/file/{id}", self._file),
                Route("/respond/{channel}/{user}", self._respond, methods=["POST"]),
                Route("/state", self._state), Route("/type", self._type, methods=["POST"]),
                Route("/press", self._press, methods=["POST"]), Route("/close", self._close, methods=["POST"]),
                Route("/stand-in/{what}", self._control, methods=["POST"]),
            ]
        )  # fmt: skip

    # What the app calls

    async def _api(self, request: Request) -> Response:
        if self.workspace.http_status:
            self.workspace.calls.append({"method": request.path_params["method"], "at": time.time()})
            return Response("upstream is down", self.workspace.http_status)
        if request.headers.get("authorization") != f"Bearer {self._token}":
            return JSONResponse({"ok": False, "error": "invalid_auth"})
        asked = await self._arguments(request)
        self.workspace.files.base = str(request.base_url)
        try:
            answer = self.workspace.call(request.path_params["method"], asked)
        except Refused as refused:
            status = 429 if refused.error == "ratelimited" else 200
            headers = {"Retry-After": str(refused.retry_after)} if refused.retry_after else {}
            answer = {"ok": False, "error": refused.error, "detail": refused.detail}
            return JSONResponse(answer, status, headers)
        return JSONResponse({"ok": True, **answer})

    async def _upload(self, request: Request) -> Response:
        """Slack takes the content as the body, or as a form's file (docs.slack.dev, "Working with files")."""
        if "multipart" in request.headers.get("content-type", ""):
            uploads = [value for value in (await request.form()).values() if not isinstance(value, str)]
            content = await uploads[0].read() if uploads else b""
        else:
            content = await request.body()
        known = self.workspace.files.take(request.path_params["id"], content)
        return Response(f"OK - {len(content)}" if known else "not the length that was said", 200 if known else 400)

    async def _file(self, request: Request) -> Response:
        content = self.workspace.files.content.get(request.path_params["id"])
        return Response(status_code=404) if content is None else Response(content, media_type="image/png")

    async def _respond(self, request: Request) -> Response:
        """A command's response_url: it works wherever the command was typed."""
        asked = await request.json()
        self.workspace.ephemeral(request.path_params["channel"], request.path_params["user"], asked["text"])
        return JSONResponse({"ok": True})

    async def _arguments(self, request: Request) -> dict[str, Any]:
        if "json" in request.headers.get("content-type", ""):
            return dict(await request.json())
        asked: dict[str, Any] = dict(await request.form())
        for name in ("blocks", "view"):
            if isinstance(asked.get(name), str):
                asked[name] = json.loads(asked[name])
        return asked

    # What a person does

    async def _type(self, request: Request) -> Response:
        asked = await request.json()
        text, user = str(asked["text"]).strip(), asked.get("user", "U0ADA")
        channel = asked.get("channel", CHANNEL["id"])
        self.workspace.typed(user, text, channel)
        command, _, rest = text.partition(" ")
        if text == "/invite @paddock":
            return JSONResponse({"ok": await self._invite(user, channel)})
        if command not in ("/train", "/jobs", "/budget", "/data"):
            self.workspace.ephemeral(channel, user, "/train · /jobs · /budget · /data")
            return JSONResponse({"ok": True})
        form = {
            "token": "unused", "team_id": "T0PADDOCK", "team_domain": "paddock", "channel_id": channel,
            "channel_name": _name(channel), "user_id": user, "user_name": PEOPLE[user], "command": command,
            "text": rest.strip(), "api_app_id": "A0PADDOCK", "is_enterprise_install": "false",
            "response_url": f"{request.base_url}respond/{channel}/{user}",
            "trigger_id": asked.get("trigger_id") or uuid.uuid4().hex,
        }  # fmt: skip
        answer = await self._send(urlencode(form))
        if answer is None:
            self.workspace.ephemeral(channel, user, f'{command} failed with the error "operation_timeout"')
        elif answer.status_code != 200:
            self.workspace.ephemeral(channel, user, f'{command} failed with the error "dispatch_failed"')
        elif answer.text:
            self.workspace.ephemeral(channel, user, answer.json()["text"])
        return JSONResponse({"ok": answer is not None and answer.status_code == 200})

    async def _invite(self, user: str, channel: str) -> bool:
        """Slack tells the app that it joined (docs.slack.dev, "member_joined_channel")."""
        self.workspace.invite(channel)
        event = {
            "type": "event_callback", "team_id": "T0PADDOCK", "api_app_id": "A0PADDOCK", "event_id": uuid.uuid4().hex,
            "event_time": int(time.time()), "authorizations": [{"user_id": BOT, "is_bot": True}],
            "event": {"type": "member_joined_channel", "user": BOT, "channel": channel, "channel_type": "C",
                      "inviter": user},
        }  # fmt: skip
        answer = await self._send(json.dumps(event), "application/json")
        return answer is not None and answer.status_code == 200

    async def _press(self, request: Request) -> Response:
        asked = await request.json()
        user, channel = asked.get("user", "U0ADA"), asked.get("channel", CHANNEL["id"])
        payload = {
            "type": "block_actions", "user": {"id": user, "name": PEOPLE[user], "team_id": "T0PADDOCK"},
            "api_app_id": "A0PADDOCK", "team": {"id": "T0PADDOCK", "domain": "paddock"},
            "channel": {"id": channel, "name": _name(channel)},
            "container": {"type": "message", "message_ts": asked.get("ts", "")}, "trigger_id": uuid.uuid4().hex,
            "response_url": "http://127.0.0.1/unused",
            "actions": [{"type": "button", "block_id": asked.get("block_id", "job"), "action_id": asked["action_id"],
                         "value": asked["value"], "action_ts": f"{time.time():.6f}"}],
        }  # fmt: skip
        answer = await self._send(urlencode({"payload": json.dumps(payload)}))
        return JSONResponse({"ok": answer is not None and answer.status_code == 200})

    async def _send(self, body: str, kind: str = "application/x-www-form-urlencoded") -> httpx.Response | None:
        """To the app, signed; None if it did not acknowledge in time."""
        timestamp = str(int(time.time()))
        signature = self._sign.generate_signature(timestamp=timestamp, body=body)
        headers = {"Content-Type": kind, "X-Slack-Request-Timestamp": timestamp,
                   "X-Slack-Signature": signature or ""}  # fmt: skip
        async with httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False) as client:
            try:
                return await client.post(self.url, content=body, headers=headers)
            except httpx.HTTPError as error:
                print("no answer:", repr(error), file=sys.stderr)
                return None

    async def _close(self, request: Request) -> Response:
        self.workspace.close_modal()
        return JSONResponse({"ok": True})

    # What shows it

    async def _state(self, request: Request) -> Response:
        since, wait_s = int(request.query_params.get("since", "-1")), float(request.query_params.get("wait", "0"))
        if wait_s:
            return JSONResponse(await run_in_threadpool(self.workspace.wait, since, wait_s))
        return JSONResponse(self.workspace.state())

    async def _page(self, request: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = PAGE / name
        return FileResponse(path) if name in ("page.js", "page.css") else Response(status_code=404)

    async def _control(self, request: Request) -> Response:
        what, asked = request.path_params["what"], await request.json()
        if what == "url":
            self.url = asked["url"]
        elif what == "failing":
            self.workspace.failing = asked
        elif what == "leave":
            self.workspace.members.discard(asked["channel"])
        elif what == "http":
            self.workspace.http_status = asked["status"]
        elif what == "calls":
            return JSONResponse(self.workspace.calls)
        return JSONResponse({"ok": True})


def _name(channel: str) -> str:
    return CHANNEL["name"] if channel == CHANNEL["id"] else OTHERS.get(channel, "directmessage")


def main(fd: int) -> None:
    slack = Slack(os.environ["PADDOCK_SLACK_SIGNING_SECRET"], os.environ["PADDOCK_SLACK_BOT_TOKEN"])
    end_with_parent()
    server = uvicorn.Server(uvicorn.Config(slack.app(), log_level="warning", access_log=False))
    server.run(sockets=[socket.socket(fileno=fd)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
