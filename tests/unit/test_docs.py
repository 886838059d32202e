"""What docs/slack.md promises has a test, and no error that has a rule of its own is missing there."""

from __future__ import annotations

import re

from bot.slack_errors import CHANNEL_CLOSED, HEALS, TOKEN_DEAD
from local.places import ROOT

PAGE = (ROOT / "docs" / "slack.md").read_text()


def test_each_row_names_tests_that_exist() -> None:
    source = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    rows = [
        line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line and "Slack says" not in line
    ]
    assert len(rows) >= 12
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert [name for name in named if f"def {name}(" not in source] == []


def test_each_error_with_a_rule_is_in_a_row() -> None:
    assert [code for code in CHANNEL_CLOSED | HEALS | TOKEN_DEAD if f"`{code}`" not in PAGE] == []
