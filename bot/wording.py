"""Every sentence that people read, in English and Chinese. `say` fills in the facts, escaped for Slack."""

from __future__ import annotations

from typing import Literal

from bot.sentences import SENTENCES

Language = Literal["en", "zh"]


def escape(text: str) -> str:
    """Slack's control characters made harmless: a log line may hold `<!channel>`.
    (docs.slack.dev, "Formatting message text": escape &, < and >.)"""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def say(language: Language, code: str, **facts: str) -> str:
    """The sentence `code` with its facts. Raises KeyError for a code without a sentence."""
    return SENTENCES[code][0 if language == "en" else 1].format_map(_Facts({k: escape(v) for k, v in facts.items()}))


def short(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


class _Facts(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


def language_of(text: str, default: Language) -> Language:
    """Chinese if the command holds Chinese characters, else the deployment's language."""
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else default
