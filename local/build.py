"""The functions' package: what `template.yaml` calls `.build/functions/`. `python -m local.build` makes it."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from local.places import ROOT

FOLDER = ROOT / ".build" / "functions"
PACKAGES = ("jobs", "bot", "functions")
HOST = Path("trainer_image") / "host"


def build(folder: Path = FOLDER) -> Path:
    """Copy the functions' code, and the list of what it needs for `sam build`."""
    shutil.rmtree(folder, ignore_errors=True)
    for package in (*map(Path, PACKAGES), HOST):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    shutil.copy(ROOT / "requirements" / "functions.txt", folder / "requirements.txt")
    return folder


def archive(target: Path) -> Path:
    """The package as one zip file, without dependencies: the emulated account has them in its own environment."""
    folder = build(target.parent / "functions")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "requirements.txt":
                file.write(path, path.relative_to(folder))
    return target


if __name__ == "__main__":
    print(build())
