"""What outlasts a local stack: its runs and their checkpoints, so that a next run can go on from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from jobs.job import ENDS
from local.deploy import Clients, Deployed
from local.places import KEPT

PREFIX = "jobs/"
_ENDS = {state.value for state in ENDS}


def save(client: Clients, deployed: Deployed, folder: Path = KEPT) -> None:
    """Write the table's items and the jobs' objects to `folder`, whole or not at all."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    (new / "objects").mkdir(parents=True)
    items = [item for page in client("dynamodb").get_paginator("scan").paginate(TableName=deployed.table)
             for item in page["Items"] if not item["pk"]["S"].startswith("PRICE#")]  # fmt: skip
    (new / "table.json").write_text(json.dumps(items))
    s3 = client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=deployed.bucket, Prefix=PREFIX):
        for entry in page.get("Contents", []):
            path = new / "objects" / entry["Key"]
            path.parent.mkdir(parents=True, exist_ok=True)
            s3.download_file(deployed.bucket, entry["Key"], str(path))
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def restore(client: Clients, deployed: Deployed, folder: Path = KEPT) -> None:
    """Put what was kept into a new stack. A run that was live when its stack ended is not taken up again."""
    table = folder / "table.json"
    if not table.exists():
        return
    dynamodb = client("dynamodb")
    for item in json.loads(table.read_text()):
        if item["sk"]["S"] != "JOB" or item["state"]["S"] in _ENDS:
            dynamodb.put_item(TableName=deployed.table, Item=item)
    s3 = client("s3")
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            s3.upload_file(str(path), deployed.bucket, str(path.relative_to(folder / "objects")))
