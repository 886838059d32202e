"""What is in a zip or tar, from its names alone, so that a large one need not be read."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from typing import Protocol

ZIP, TAR = (".zip",), (".tar", ".tar.gz", ".tgz", ".tar.bz2")
UTF8_FLAG = 0x800
"""Bit 11: the name is in UTF-8 (APPNOTE.TXT of the zip format, 4.4.4)."""
_IGNORED = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
LARGEST_MEMBER = 4 << 20
MOST_OF_A_TAR = 8 << 20
"""Bytes: a tar has no list of its names, so only the first part is looked at."""


class BadArchive(Exception):
    """It cannot be read as what its name says."""


class TooLarge(Exception):
    """A member is too large to be read while a person waits."""


class Ranged(Protocol):
    @property
    def size(self) -> int: ...

    def read_range(self, start: int, length: int) -> bytes: ...


class Seekable(io.RawIOBase):
    """A remote file as one that can be read from anywhere. `block`: the least that is fetched at once, bytes."""

    def __init__(self, remote: Ranged, block: int = 1 << 18) -> None:
        self._remote, self._block, self._at = remote, block, 0
        self._start, self._data = 0, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._remote.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = self._remote.size - self._at
        wanted = max(0, left if size is None or size < 0 else min(size, left))
        begin = self._at - self._start
        if begin < 0 or begin + wanted > len(self._data):
            self._start, begin = self._at, 0
            self._data = self._remote.read_range(self._at, max(wanted, min(self._block, left))) if wanted else b""
        part = self._data[begin : begin + wanted]
        self._at += len(part)
        return part

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def names_of(file: str, remote: Ranged) -> list[str]:
    """The names of the files in an archive; of a tar those in its first part. Raises BadArchive, OSError."""
    try:
        if file.lower().endswith(ZIP):
            with zipfile.ZipFile(Seekable(remote)) as packed:
                return [name_of(info) for info in packed.infolist() if is_kept(info.filename)]
        head = io.BytesIO(remote.read_range(0, MOST_OF_A_TAR))
        found: list[str] = []
        try:
            with tarfile.open(fileobj=head, mode="r|*") as unrolled:
                found += [member.name.removeprefix("./") for member in unrolled if member.isfile()]
        except (tarfile.ReadError, EOFError):
            if not found or remote.size <= MOST_OF_A_TAR:
                raise
        return [name for name in found if is_kept(name)]
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, ValueError) as error:
        raise BadArchive(str(error)) from error


def reader(file: str, remote: Ranged) -> Callable[[str], bytes]:
    """What reads one member of it by its name. Raises BadArchive, TooLarge, OSError, KeyError."""

    def read(name: str) -> bytes:
        try:
            if file.lower().endswith(ZIP):
                with zipfile.ZipFile(Seekable(remote)) as packed:
                    member = next(info for info in packed.infolist() if name_of(info) == name)
                    if member.file_size > LARGEST_MEMBER:
                        raise TooLarge(name)
                    return packed.read(member)
            with tarfile.open(fileobj=io.BytesIO(remote.read_range(0, MOST_OF_A_TAR)), mode="r|*") as unrolled:
                for entry in unrolled:
                    content = unrolled.extractfile(entry) if entry.name.removeprefix("./") == name else None
                    if content is not None:
                        return content.read()
            raise KeyError(name)
        except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError) as error:
            raise BadArchive(str(error)) from error

    return read


def is_archive(file: str) -> bool:
    """Whether the file's name says so."""
    return file.lower().endswith((*ZIP, *TAR))


def is_kept(name: str) -> bool:
    """Whether it is a file that somebody meant to pack."""
    base = name.rsplit("/", 1)[-1]
    return bool(base) and not base.startswith("._") and not any(part in name for part in _IGNORED)


def name_of(info: zipfile.ZipInfo) -> str:
    """The member's name. Zips made on Chinese Windows hold names in GBK without saying so."""
    if info.flag_bits & UTF8_FLAG:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("gb18030")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return info.filename
