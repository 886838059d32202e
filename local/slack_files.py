"""Files in the Slack stand-in: uploaded in the three steps that Slack has now (docs.slack.dev,
"files.getUploadURLExternal", "files.completeUploadExternal")."""

from __future__ import annotations

import json
import uuid
from typing import Any

from local.slack_refused import Refused

ALT = 1000


class Files:
    """`content` by id, once it was uploaded."""

    def __init__(self) -> None:
        self._begun: dict[str, dict[str, Any]] = {}
        self.content: dict[str, bytes] = {}
        self.base = ""
        """The stand-in's own address, once known."""

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Where to send the content."""
        if not asked.get("filename") or int(asked.get("length") or 0) <= 0:
            raise Refused("invalid_arguments", "filename and length")
        if len(asked.get("alt_txt") or "") > ALT:
            raise Refused("alt_txt_too_large")
        id = f"F{uuid.uuid4().hex[:10].upper()}"
        self._begun[id] = {"name": asked["filename"], "length": int(asked["length"]), "alt": asked.get("alt_txt") or ""}
        return {"upload_url": f"{self.base}upload/{id}", "file_id": id}

    def take(self, id: str, content: bytes) -> bool:
        """The content; whether it is as long as was said."""
        if id not in self._begun or len(content) != self._begun[id]["length"]:
            return False
        self.content[id] = content
        return True

    def complete(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        """The files as messages show them."""
        files = asked["files"]
        wanted = json.loads(files) if isinstance(files, str) else files
        if any(file["id"] not in self.content for file in wanted):
            raise Refused("file_not_found")
        return [{"id": f["id"], "title": f.get("title") or self._begun[f["id"]]["name"],
                 "alt": self._begun[f["id"]]["alt"]} for f in wanted]  # fmt: skip
