"""Bringing a file to the local disk, once, and making sure that it is what it should be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from jobs.data.dataset import FileRef
from trainer_image.trainer.checkpoints import sha256
from trainer_image.trainer.storage import Storage

NVME = Path("/opt/dlami/nvme")
"""The instance's own disk, where it has one (Deep Learning AMI release notes): far faster than its volume."""


class Fetched(NamedTuple):
    """A file on the local disk, and its version."""

    ref: FileRef
    path: Path
    sha256: str


def local_folder(scratch: Path) -> Path:
    """Where data are kept while the instance lives."""
    return Path(os.environ.get("PADDOCK_CACHE", NVME / "paddock" if NVME.is_dir() else scratch / "data"))


def fetch(ref: FileRef, storage: Storage, scratch: Path) -> Fetched:
    """Raises FileNotFoundError if it is gone, ValueError if it is not the version that was asked for."""
    folder = local_folder(scratch) / (ref.sha256 or "unversioned")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ref.file
    if ref.sha256 and path.exists() and sha256(path) == ref.sha256:
        return Fetched(ref, path, ref.sha256)
    aside = path.with_name(path.name + ".new")
    if not storage.get_file(ref.key, aside):
        raise FileNotFoundError(f"{ref.name}: s3://{ref.bucket}/{ref.key} is not there")
    found = sha256(aside)
    if ref.sha256 and found != ref.sha256:
        aside.unlink()
        raise ValueError(f"{ref.name}: the file in the bucket is not version {ref.sha256[:8]}")
    aside.replace(path)
    return Fetched(ref, path, found)
