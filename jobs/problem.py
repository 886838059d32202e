"""What is wrong with something that was typed or brought, as a code and its facts; bot/wording.py has the sentences."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

from jobs.model import Model

Code = Literal[
    # of a command
    "unknown_recipe", "no_recipe", "unknown_key", "duplicate_key", "not_a_pair", "not_a_number", "not_whole",
    "too_low", "too_high", "not_a_choice", "not_money", "not_a_time", "empty_value", "other_currency",
    "unclear_digit", "unclosed_quote", "no_job", "unknown_word", "not_yours", "not_admin", "not_resumable",
    "too_long", "not_a_name", "no_unit", "kept_on_resume", "nothing_left", "still_live", "not_data", "not_code",
    "missing",
    # of own code
    "host_not_allowed", "code_not_found", "requirements_failed", "no_such_secret", "no_model", "checkpoint_gone",
    # of data
    "no_data", "no_such_data", "bucket_not_allowed", "data_gone", "data_unreadable",
    "data_empty", "data_binary", "data_no_such_column", "data_no_text_column", "data_no_label_column",
    "data_same_column", "data_nothing_usable", "data_too_many_left_out", "data_one_label", "data_many_labels",
    "data_few_rows", "data_bad_archive", "data_not_archive", "data_no_images", "data_one_class", "data_few_images",
    "data_no_class_folder", "data_images_missing", "data_no_lines", "data_no_boxes",
]  # fmt: skip


class Problem(Model):
    """Why something cannot be taken. `code` names the sentence, `facts` fill it."""

    code: Code
    facts: dict[str, str] = {}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely meant, or None."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return found[0] if found else None
