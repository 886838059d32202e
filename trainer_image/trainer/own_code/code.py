"""Getting a team's code: an uploaded archive, or a commit of a repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from jobs.data.archive import is_archive
from jobs.problem import Problem
from trainer_image.trainer.data.store import open_archive, unpack
from trainer_image.trainer.setting import Refused, Setting

GIT_PATIENCE_S, PIP_PATIENCE_S = 300, 1200


def bring(setting: Setting, folder: Path) -> str:
    """Put the code into `folder`; answers its version: a commit id, or the upload's sha256.

    Raises Refused if it cannot be had."""
    fetched = setting.fetched("code")
    if fetched is None:
        return _cloned(str(setting.params["code"]), setting.spec.code_version, folder)
    if is_archive(fetched.path.name):
        unpack(open_archive(fetched), folder)
        _lift(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(fetched.path, folder / fetched.ref.file)
    return fetched.sha256


def install(wanted: str | None, code: Path, target: Path) -> None:
    """Install what `requirements=` names, a file of the code or packages, beside what is there. Raises Refused."""
    if not wanted:
        return
    file = code / wanted
    what = ["-r", str(file)] if file.is_file() else wanted.replace(",", " ").split()
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--target",
        str(target),
        *what,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_PATIENCE_S, check=False, cwd=code)
    if done.returncode:
        detail = " ".join(done.stderr.strip().splitlines()[-3:])[-400:]
        raise Refused(Problem(code="requirements_failed", facts={"value": wanted, "detail": detail}))


def _cloned(address: str, known: str, folder: Path) -> str:
    """The commit that `address@ref` names; on a later attempt the very commit of the first one."""
    url, at, ref = address.rpartition("@")
    if not at or "/" in url.rsplit("://", 1)[-1].split("/", 1)[0]:
        url, ref = address, "HEAD"
    wanted = known or ref
    folder.mkdir(parents=True, exist_ok=True)
    steps = (["init", "-q"], ["remote", "add", "origin", url], ["fetch", "-q", "--depth", "1", "origin", wanted],
             ["checkout", "-q", "FETCH_HEAD"])  # fmt: skip
    for step in steps:
        done = _git(folder, *step)
        if done.returncode:
            detail = " ".join(done.stderr.strip().splitlines()[-2:])[-300:]
            raise Refused(Problem(code="code_not_found", facts={"value": address, "detail": detail}))
    return _git(folder, "rev-parse", "HEAD").stdout.strip()


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"GIT_TERMINAL_PROMPT": "0", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=GIT_PATIENCE_S,
                          check=False)  # fmt: skip


def _lift(folder: Path) -> None:
    """An archive with one folder in it: what is in that folder is the code."""
    inside = list(folder.iterdir())
    while len(inside) == 1 and inside[0].is_dir():
        only = inside[0].rename(folder / ".lifted")
        for path in only.iterdir():
            path.rename(folder / path.name)
        only.rmdir()
        inside = list(folder.iterdir())
