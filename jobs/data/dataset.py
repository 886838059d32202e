"""Data that were uploaded: one name, many versions. A version is its content's sha256, and a run uses one version."""

from __future__ import annotations

import re

from jobs.model import Model, UtcTime

NAME = re.compile(r"(?!s3:)\w[\w.-]{0,63}")
"""Letters of any script, digits, `_`, `.` and `-`."""
PLACE = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\s<>|\"']{1,900}")
ADDRESS = re.compile(r"https://([a-z0-9.-]+)(?::\d+)?/[\w./~-]{1,300}(?:@[\w./-]{1,200})?", re.ASCII)
"""A repository, and after `@` a branch, a tag or a commit."""
PREFIX = "data/"


class FileRef(Model):
    """One version of a file in a bucket. `sha256` is empty for a place that somebody else may change: then the trainer
    says what it found there. `size` in bytes."""

    name: str
    """As it was typed."""
    bucket: str
    key: str
    size: int
    sha256: str = ""

    @property
    def file(self) -> str:
        """The file's own name."""
        return self.key.rsplit("/", 1)[-1]


class Version(Model):
    """What `paddock data put` found in a file when it was uploaded. `kind` says what it is to people."""

    sha256: str
    key: str
    size: int
    at: UtcTime
    by: str
    kind: str
    rows: int = 0
    labels: dict[str, int] = {}
    """The most frequent ones."""
    label_count: int = 0

    @property
    def file(self) -> str:
        return self.key.rsplit("/", 1)[-1]


class DataSet(Model):
    """A name and its versions, oldest first: never none."""

    name: str
    versions: tuple[Version, ...]

    @property
    def newest(self) -> Version:
        return self.versions[-1]

    def ref(self, bucket: str) -> FileRef:
        """The newest version, to be used by a run."""
        version = self.newest
        return FileRef(name=self.name, bucket=bucket, key=version.key, size=version.size, sha256=version.sha256)


def key_of(name: str, sha256: str, file: str) -> str:
    """Where a version is kept in the deployment's bucket."""
    return f"{PREFIX}{name}/{sha256}/{file}"
