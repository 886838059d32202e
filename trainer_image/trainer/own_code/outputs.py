"""What own code leaves in its output folder."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from jobs.messages import Trained
from trainer_image.trainer.setting import Setting

ABOUT, ARCHIVE = "about.json", "model.zip"


def store(setting: Setting, folder: Path, step: int, version: str) -> Trained | None:
    """The folder as one archive in the bucket, with a word on where it comes from. None if there is nothing in it."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if not files:
        return None
    spec = setting.spec
    about = {
        "recipe": spec.recipe, "run": spec.job, "parameters": setting.params, "code_version": version, "step": step,
        "data": {name: ref.model_dump() for name, ref in spec.files.items()},
        "exported_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }  # fmt: skip
    archive = setting.scratch / ARCHIVE
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in files:
            packed.write(folder / name, name)
        if ABOUT not in files:
            packed.writestr(ABOUT, json.dumps(about, ensure_ascii=False, indent=1))
    setting.storage.put_file(f"{spec.models}/{ARCHIVE}", archive)
    return Trained(key=f"{spec.models}/{ARCHIVE}", folder=spec.models, size=archive.stat().st_size, step=step,
                   files=tuple(files))  # fmt: skip
