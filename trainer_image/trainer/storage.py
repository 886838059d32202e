"""Where checkpoints live: an S3 bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

RETRIES = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "max_attempts": 8})


KEEP_TAG = "paddock-keep"


class Storage(Protocol):
    """Objects by key. `put_bytes` is atomic: readers see the old object or the new one."""

    def put_file(self, key: str, path: Path) -> None: ...

    def put_bytes(self, key: str, data: bytes) -> None: ...

    def get_file(self, key: str, path: Path) -> bool:
        """False if there is no such object."""

    def get_bytes(self, key: str) -> bytes | None: ...

    def delete(self, key: str) -> None: ...

    def list(self, prefix: str) -> list[tuple[str, int]]:
        """Keys that begin so, with their sizes in bytes, in the order of the keys."""


class Bucket:
    """See Storage. Credentials come from the instance's role."""

    def __init__(self, name: str, region: str, keep: str = "") -> None:
        """`keep`: how long files are kept, as the tag that the bucket's own rules go by."""
        self._client: Any = boto3.client("s3", region_name=region, config=RETRIES)
        self._name = name
        self._extra = {"Tagging": f"{KEEP_TAG}={keep}"} if keep else None

    def put_file(self, key: str, path: Path) -> None:
        self._client.upload_file(str(path), self._name, key, ExtraArgs=self._extra)

    def put_bytes(self, key: str, data: bytes) -> None:
        self._client.put_object(Bucket=self._name, Key=key, Body=data)

    def get_file(self, key: str, path: Path) -> bool:
        try:
            self._client.download_file(self._name, key, str(path))
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                return False
            raise
        return True

    def get_bytes(self, key: str) -> bytes | None:
        try:
            return bytes(self._client.get_object(Bucket=self._name, Key=key)["Body"].read())
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                return None
            raise

    def delete(self, key: str) -> None:
        self._client.delete_object(Bucket=self._name, Key=key)

    def list(self, prefix: str) -> list[tuple[str, int]]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._name, Prefix=prefix)
        return [(entry["Key"], entry["Size"]) for page in pages for entry in page.get("Contents", [])]


class Folder:
    """See Storage: a folder of this machine, for runs without a bucket and for tests."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put_file(self, key: str, path: Path) -> None:
        self.put_bytes(key, path.read_bytes())

    def put_bytes(self, key: str, data: bytes) -> None:
        target = self._root / key
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(target.name + ".new")
        aside.write_bytes(data)
        aside.replace(target)

    def get_file(self, key: str, path: Path) -> bool:
        data = self.get_bytes(key)
        if data is not None:
            path.write_bytes(data)
        return data is not None

    def get_bytes(self, key: str) -> bytes | None:
        target = self._root / key
        return target.read_bytes() if target.exists() else None

    def delete(self, key: str) -> None:
        (self._root / key).unlink(missing_ok=True)

    def list(self, prefix: str) -> list[tuple[str, int]]:
        found = ((p.relative_to(self._root).as_posix(), p) for p in self._root.rglob("*") if p.is_file())
        return sorted((key, path.stat().st_size) for key, path in found if key.startswith(prefix))
