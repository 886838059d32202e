"""docs/recipes.md: a recipe is two new files. In a copy of the repository they are added, nothing else is touched, and
the recipe is trained through the deployed stack."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from local.places import ROOT, TRAINER_PYTHON
from tests.waiting import PATIENCE_S

COPIED = ("jobs", "bot", "functions", "local", "trainer_image", "requirements")


def test_the_documented_recipe_is_trained(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    for folder in COPIED:
        shutil.copytree(ROOT / folder, repository / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "template.yaml", repository)
    page = (ROOT / "docs" / "recipes.md").read_text()
    files = re.findall(r"`((?:jobs|trainer_image)/\S+\.py)`:\n\n```python\n(.*?)```", page, re.S)
    assert len(files) == 2
    for name, text in files:
        assert not (repository / name).exists()
        (repository / name).write_text(text)
    env = {**os.environ, "PADDOCK_HOME": str(tmp_path / "home"), "PADDOCK_TRAINER_PYTHON": str(TRAINER_PYTHON),
           "PYTHONPATH": str(repository)}  # fmt: skip
    command = [sys.executable, "-m", "local.cli", "run", "/train lines epochs=20"]
    done = subprocess.run(
        command, cwd=repository, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    error = re.findall(r"Mean error: (\d+\.\d+)", done.stdout)
    assert error, done.stdout
    assert float(error[-1]) < 0.5, "always answering the mean has about 1"
