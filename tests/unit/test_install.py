"""Which Python an environment gets, and what is said when none fits."""

from __future__ import annotations

from local.install import choose, nothing_fits


def test_the_lambda_runtime_s_version_is_preferred() -> None:
    found = {"/usr/bin/python3": (3, 11), "/usr/bin/python3.13": (3, 13)}
    assert choose("paddock", found) == "/usr/bin/python3.13"
    assert choose("trainer", found) == "/usr/bin/python3"


def test_a_machine_without_a_fitting_python_is_told_what_fits() -> None:
    found = {"/usr/bin/python3": (3, 14)}
    assert choose("paddock", found) == "/usr/bin/python3"
    assert choose("trainer", found) is None
    words = nothing_fits("trainer", found)
    assert "3.11 or 3.12" in words
    assert "this machine has 3.14" in words
    assert "nothing was installed" in words
