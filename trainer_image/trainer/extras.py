"""Packages that only one recipe needs, installed beside the trainer's when it is first used, from a hash-locked list.
In the image they are there already: `python -m trainer_image.trainer.extras detect`"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LISTS = Path(__file__).resolve().parents[2] / "requirements"
HOME = Path(sys.prefix) / "paddock-extras"
PATIENCE_S = 900


def ensure(name: str) -> None:
    """Have what `requirements/<name>.txt` lists on the path. Raises RuntimeError if it cannot be installed: another
    time it may."""
    listed = LISTS / f"{name}.txt"
    folder = HOME / f"{name}-{hashlib.sha256(listed.read_bytes()).hexdigest()[:12]}"
    if not folder.is_dir():
        print(f"installing what {name} needs, once …", flush=True)
        HOME.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=HOME))
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--require-hashes",
                   "--disable-pip-version-check", "--target", str(aside), "-r", str(listed)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode:
            shutil.rmtree(aside, ignore_errors=True)
            raise RuntimeError(f"what {name} needs could not be installed: {done.stderr.strip()[-400:]}")
        try:
            os.rename(aside, folder)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)  # another process was first
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


if __name__ == "__main__":
    ensure(sys.argv[1])
