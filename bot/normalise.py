"""What people really type, made plain: full-width forms, curly quotes, phone dashes, mentions, odd spaces."""

from __future__ import annotations

import re
import unicodedata

from jobs.model import Model
from jobs.problem import Problem

_QUOTES = {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "«": '"', "»": '"'}
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_CLOSING = {'"': '"', "'": "'"}
_SLACK_LINK = re.compile(r"<(?:https?://|mailto:)[^|>]*\|([^>]*)>|<((?:https?://|mailto:)[^|>]*)>")
_THOUSANDS = re.compile(r"\d{3}(?!\d)", re.ASCII)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


class Word(Model):
    """A word of a command; `quoted` parts are as typed."""

    text: str
    quoted: bool = False


def plain(text: str) -> str:
    """NFKC, and the quotes and dashes that it leaves, as ASCII."""
    mapped = "".join(_QUOTES.get(c, _DASHES.get(c, c)) for c in unicodedata.normalize("NFKC", text))
    return "".join(c for c in mapped if c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cf"))


def words(text: str) -> list[Word] | Problem:
    """A command's words. Splits at white space and commas, not within `1,000`; joins `key = value`; keeps quoted values
    as typed.

    Answers a Problem for an unclosed quote and for digits that NFKC would silently turn into others (`①`, `²`)."""
    for entity, char in _ENTITIES.items():
        text = text.replace(entity, char)
    text = _SLACK_LINK.sub(lambda m: m.group(1) or m.group(2), text)
    found: list[Word] = []
    current, quoted, inside = "", False, ""
    for position, char in enumerate(text):
        as_ascii = _QUOTES.get(char, char)
        if inside:
            if as_ascii == inside:
                inside = ""
            else:
                current += char
            continue
        if as_ascii in _CLOSING and (not current or current.endswith(("=", ":", "＝", "："))):
            inside, quoted = as_ascii, True
            continue
        if unicodedata.category(char) == "No":
            return Problem(code="unclear_digit", facts={"value": char})
        simple = plain(char)
        if simple == "," and current[-1:].isdigit() and _THOUSANDS.match(plain(text[position + 1 : position + 5])):
            current += simple
            continue
        if simple.isspace() or simple in ("", ",", "、", ";"):
            if current or quoted:
                found.append(Word(text=current, quoted=quoted))
            current, quoted = "", False
        else:
            current += simple
    if inside:
        return Problem(code="unclosed_quote", facts={"value": current})
    if current or quoted:
        found.append(Word(text=current, quoted=quoted))
    return _joined(found)


def _joined(found: list[Word]) -> list[Word]:
    """`a = b`, `a= b` and `a =b` as one word."""
    result: list[Word] = []
    for word in found:
        opens = bool(result) and result[-1].text.endswith("=") and not result[-1].quoted
        if result and (opens or (word.text.startswith("=") and not word.quoted)):
            last = result.pop()
            result.append(Word(text=last.text + word.text, quoted=word.quoted or last.quoted))
        else:
            result.append(word)
    return result
