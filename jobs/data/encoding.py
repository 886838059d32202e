"""From bytes to text. The encodings are told apart by rules, not by guessing: short Chinese texts mislead detectors."""

from __future__ import annotations

import codecs
import re

from jobs.model import Model

DAMAGED = "\ufffd"
"""Stands where bytes could not be read (U+FFFD)."""
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
NAMES = {"utf-8-sig": "UTF-8 (BOM)", "utf-8": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16",
         "utf-16-be": "UTF-16", "gb18030": "GB18030"}  # fmt: skip
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
ONE_SIDE = 0.8
"""Of the zero bytes of a UTF-16 text: spaces and line ends are ASCII, whose other byte is 0 (as is one of 一's). Other
texts have none."""


class Decoded(Model):
    """A text, and what its bytes were in."""

    text: str
    encoding: str
    damaged: int
    """Places that could not be read; each is U+FFFD in the text."""

    @property
    def name(self) -> str:
        """As people know it."""
        return NAMES[self.encoding]


def decode(data: bytes, whole: bool = True) -> Decoded:
    """UTF-8 with and without BOM, UTF-16 (Excel's "Unicode text"), GB18030 (which holds GBK and GB2312). `whole`: false
    for the first part of a file, which may end within a character."""
    encoding = _encoding(data, whole)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text = decoder.decode(data, final=whole).removeprefix("\ufeff")
    return Decoded(text=text, encoding=encoding, damaged=text.count(DAMAGED))


def is_binary(data: bytes) -> bool:
    """Whether this is no text at all: an archive, an image, a workbook."""
    known = (b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"%PDF", b"\xd0\xcf\x11\xe0", b"BZh", b"Rar!")
    if data.startswith(known):
        return True
    return _encoding(data, False) in ("utf-8", "gb18030") and data.count(0) > len(data) // 100


def _encoding(data: bytes, whole: bool) -> str:
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return encoding
    sample = data[:65536]
    zeros, odd = sample.count(0), sample[1::2].count(0)
    if zeros > len(sample) // 500 and not ONE_SIDE > odd / zeros > 1 - ONE_SIDE:
        return "utf-16-le" if odd / zeros >= ONE_SIDE else "utf-16-be"
    if _reads(data, "utf-8", whole):
        return "utf-8"
    faults = data.decode("utf-8", "replace").count(DAMAGED)
    if len(_MULTIBYTE.findall(data)) > 10 * faults:
        return "utf-8"
    if _reads(data, "gb18030", whole):
        return "gb18030"
    return "gb18030" if data.decode("gb18030", "replace").count(DAMAGED) < faults else "utf-8"


def _reads(data: bytes, encoding: str, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True
