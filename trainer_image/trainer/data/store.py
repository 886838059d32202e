"""Many files by name: in an archive on the local disk, or below a prefix of a bucket that may be larger than the disk.
Used by several data workers at once."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from functools import cached_property
from pathlib import Path
from typing import Protocol

from jobs.data.archive import ZIP, is_kept, name_of
from jobs.data.dataset import FileRef
from trainer_image.trainer.data.fetch import Fetched
from trainer_image.trainer.storage import Storage

KEPT_FREE = 0.1
"""The share of the disk that is left free: what does not fit is read from the bucket each time."""


class Store(Protocol):
    def names(self) -> list[str]:
        """Of all files, in a fixed order."""

    def read(self, name: str) -> bytes:
        """Raises KeyError if there is no such file, OSError if it cannot be read."""


class ZipStore:
    """Members of a zip, read where they are. Each process opens it for itself."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with zipfile.ZipFile(path) as packed:
            self._infos = {name_of(info): info for info in packed.infolist() if is_kept(info.filename)}
        self._opened: dict[int, zipfile.ZipFile] = {}

    def names(self) -> list[str]:
        return sorted(self._infos)

    def read(self, name: str) -> bytes:
        me = os.getpid()
        if me not in self._opened:
            self._opened = {me: zipfile.ZipFile(self._path)}
        try:
            return self._opened[me].read(self._infos[name])
        except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
            raise OSError(f"{name}: {error}") from error


class FolderStore:
    """Files below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _names(self) -> list[str]:
        found = (p.relative_to(self._root).as_posix() for p in self._root.rglob("*") if p.is_file())
        return sorted(name for name in found if is_kept(name))

    def names(self) -> list[str]:
        return self._names

    def read(self, name: str) -> bytes:
        return (self._root / name).read_bytes()


class PrefixStore:
    """Objects below a prefix, each fetched when it is first needed and kept while the disk has room."""

    def __init__(self, storage: Storage, prefix: str, cache: Path) -> None:
        self._storage, self._prefix, self._cache = storage, prefix, cache
        self._sizes = {key.removeprefix(prefix): size for key, size in storage.list(prefix)}
        cache.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        return sorted(name for name in self._sizes if is_kept(name))

    def read(self, name: str) -> bytes:
        path = self._cache / name
        if path.exists():
            return path.read_bytes()
        data = self._storage.get_bytes(self._prefix + name)
        if data is None:
            raise KeyError(name)
        disk = shutil.disk_usage(self._cache)
        if disk.free - len(data) > KEPT_FREE * disk.total:
            path.parent.mkdir(parents=True, exist_ok=True)
            aside = path.with_name(f"{path.name}.{os.getpid()}.new")
            aside.write_bytes(data)
            aside.replace(path)
        return data

    @property
    def version(self) -> str:
        """Changes when an object below the prefix is added, removed or gets another size."""
        import hashlib

        return hashlib.sha256(repr(sorted(self._sizes.items())).encode()).hexdigest()


def open_archive(fetched: Fetched) -> Store:
    """A zip is read where it is; a tar is unrolled beside it, once."""
    if fetched.path.name.lower().endswith(ZIP):
        return ZipStore(fetched.path)
    folder = fetched.path.with_name(fetched.path.name + ".files")
    if not folder.exists():
        aside = folder.with_name(folder.name + ".new")
        shutil.rmtree(aside, ignore_errors=True)
        with tarfile.open(fetched.path) as unrolled:
            unrolled.extractall(aside, filter="data")
        aside.rename(folder)
    return FolderStore(folder)


def unpack(store: Store, folder: Path) -> None:
    """Every file of an archive below a folder; a name that would lead out of it is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in store.names():
        path = (folder / name).resolve()
        if folder.resolve() in path.parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(store.read(name))


def is_prefix(ref: FileRef) -> bool:
    """Whether a place is all that begins with it, not one file."""
    return ref.key.endswith("/")
