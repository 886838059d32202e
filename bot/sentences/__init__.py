"""Every sentence that people read, in English and Chinese, by what it is about."""

from bot.sentences import data, models, runs

SENTENCES: dict[str, tuple[str, str]] = {**runs.SENTENCES, **data.SENTENCES, **models.SENTENCES}
