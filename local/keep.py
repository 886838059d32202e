"""What outlasts a local stack: its runs with their checkpoints and models, and uploaded data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from bot.posting import reply_name
from bot.told import Told
from jobs.job import ENDS, Job
from local.deploy import Clients, Deployed
from local.places import KEPT

PREFIXES = ("jobs/", "data/")
KEPT_KEYS = ("JOB#", "MONTH#", "TEAM", "DATA")
_ENDS = {state.value for state in ENDS}


def save(client: Clients, deployed: Deployed, folder: Path = KEPT) -> None:
    """Write the table's items and the jobs' objects to `folder`, whole or not at all. What belongs to the workspace,
    which ends with the stack, is not kept."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    (new / "objects").mkdir(parents=True)
    items = [item for page in client("dynamodb").get_paginator("scan").paginate(TableName=deployed.table)
             for item in page["Items"] if item["pk"]["S"].startswith(KEPT_KEYS)]  # fmt: skip
    (new / "table.json").write_text(json.dumps(items))
    s3 = client("s3")
    for prefix in PREFIXES:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=deployed.bucket, Prefix=prefix):
            for entry in page.get("Contents", []):
                path = new / "objects" / entry["Key"]
                path.parent.mkdir(parents=True, exist_ok=True)
                s3.download_file(deployed.bucket, entry["Key"], str(path))
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def restore(client: Clients, deployed: Deployed, folder: Path = KEPT) -> None:
    """Put what was kept into a new stack. A run that was live when its stack ended is not taken up again; the others
    are listed and can be resumed, and nobody is told of them again."""
    table = folder / "table.json"
    if not table.exists():
        return
    dynamodb = client("dynamodb")
    items = json.loads(table.read_text())
    jobs = [item for item in items if item["sk"]["S"] == "JOB" and item["state"]["S"] in _ENDS]
    told = [item for item in items if item["sk"]["S"] == "TOLD" and item["pk"]["S"].startswith("MONTH#")]
    others = [item for item in items if item["sk"]["S"] not in ("JOB", "TOLD")]
    # What was told comes first: whoever hears of a job looks there.
    for item in [*told, *map(_told_elsewhere, jobs), *others, *jobs]:
        dynamodb.put_item(TableName=deployed.table, Item=item)
    s3 = client("s3")
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            s3.upload_file(str(path), deployed.bucket, str(path.relative_to(folder / "objects")))


def _told_elsewhere(item: dict[str, Any]) -> dict[str, Any]:
    job = Job.model_validate_json(item["doc"]["S"])
    told = Told(elsewhere=True, said=tuple(reply_name(reply) for reply in job.replies))
    return {"pk": item["pk"], "sk": {"S": "TOLD"}, "doc": {"S": told.model_dump_json()}}
