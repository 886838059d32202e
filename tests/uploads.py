"""Uploading to a local stack as `paddock data put` does."""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from pathlib import Path

from functions.aws.data import Data
from jobs.data.dataset import DataSet, Version, key_of
from local.stack import Stack


def data_of(stack: Stack) -> Data:
    """The stack's data."""
    deployed = stack.deployed
    return Data(stack.client("dynamodb"), deployed.table, stack.client("s3"), deployed.bucket, ())


def upload(stack: Stack, name: str, file: str, content: bytes, folder: Path) -> DataSet:
    """A version of `name` with this content."""
    path = folder / file
    path.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    now = datetime.now(timezone.utc)
    version = Version(sha256=sha256, key=key_of(name, sha256, file), size=len(content), at=now, by="ada", kind="file")
    return data_of(stack).put(name, version, path)
