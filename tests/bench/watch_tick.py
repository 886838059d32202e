"""What a tick of the watch costs at 10, 1,000 and 10,000 live jobs: the real watch and the real adapters, over clients
that answer from memory and count. Compared with what a watcher without batching would do: one DescribeInstances and
one DescribeSpotPriceHistory per job."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from functions.aws.instances import Home, Instances
from functions.aws.prices import Prices
from functions.aws.queue import Queue
from functions.aws.table import Table
from functions.watch import watch
from jobs.job import Job
from jobs.lifecycle import step
from jobs.messages import Launched, Quoted, Started
from tests.samples import NOW, POOL, after, must, submit

SIZES = (10, 1_000, 10_000)
PAGE_BYTES = 1_000_000
"""A DynamoDB query answers at most 1 MB a page."""


class Pages:
    def __init__(self, pages: list[dict[str, Any]], counted: Counter[str], name: str) -> None:
        self._pages, self._counted, self._name = pages, counted, name

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        for page in self._pages:
            self._counted[self._name] += 1
            yield page


class Memory:
    """EC2, DynamoDB, SQS and the Price List as one client that counts calls."""

    def __init__(self, jobs: list[Job]) -> None:
        self.calls: Counter[str] = Counter()
        self._notes: dict[str, Any] = {}
        self._instances = [_instance(job) for job in jobs]
        self._items = [{"doc": {"S": job.model_dump_json()}} for job in jobs]

    def get_paginator(self, name: str) -> Pages:
        if name == "describe_instances":
            pages = [{"Reservations": [{"Instances": self._instances[i : i + 1000]}]}
                     for i in range(0, len(self._instances), 1000)]  # fmt: skip
        elif name == "describe_spot_price_history":
            entry = {"InstanceType": "g4dn.xlarge", "AvailabilityZone": "us-east-1a", "SpotPrice": "0.16",
                     "Timestamp": NOW - timedelta(hours=1)}  # fmt: skip
            pages = [{"SpotPriceHistory": [entry]}]
        else:
            per_page = max(1, PAGE_BYTES // max(len(self._items[0]["doc"]["S"]), 1))
            pages = [{"Items": self._items[i : i + per_page]} for i in range(0, len(self._items), per_page)]
        return Pages(pages, self.calls, name)

    def get_item(self, **asked: Any) -> dict[str, Any]:
        self.calls["get_item"] += 1
        item = self._notes.get(asked["Key"]["pk"]["S"])
        return {"Item": item} if item else {}

    def put_item(self, **asked: Any) -> None:
        self.calls["put_item"] += 1
        self._notes[asked["Item"]["pk"]["S"]] = asked["Item"]

    def send_message_batch(self, **asked: Any) -> dict[str, Any]:
        self.calls["send_message_batch"] += 1
        return {}


def _instance(job: Job) -> dict[str, Any]:
    tags = {"paddock-job": job.id, "paddock-attempt": "1", "paddock-lease": str(int(after(1800).timestamp()))}
    return {
        "InstanceId": f"i-{job.id}", "State": {"Name": "running"}, "InstanceType": "g4dn.xlarge", "LaunchTime": NOW,
        "Placement": {"AvailabilityZone": "us-east-1a"}, "Tags": [{"Key": k, "Value": v} for k, v in tags.items()],
    }  # fmt: skip


def live_jobs(count: int) -> list[Job]:
    """Running jobs, ten minutes after their launch."""
    jobs = []
    for number in range(count):
        id = f"j{number:07d}"
        job = must(step(None, submit(id=id), NOW)[0])
        job = must(step(job, Quoted(job=id, pools=(POOL,)), NOW)[0])
        job = must(step(job, Launched(job=id, attempt=1, instance=f"i-{id}", at=NOW), NOW)[0])
        jobs.append(must(step(job, Started(job=id, attempt=1, seq=1, at=after(100), steps=9), after(100))[0]))
    return jobs


def measure(count: int) -> dict[str, float]:
    """The fastest of three ticks after a first one, which fills the price cache."""
    client: Any = Memory(live_jobs(count))
    table = Table(client, "t", Decimal(100))
    prices = Prices(client, client, table, "us-east-1", 100, Decimal("0.08"), Decimal("0.005"), 300)
    home = Home(deployment="paddock", launch_template="t", image="i", bucket="b", reports_url="r", region="us-east-1")
    instances = Instances(client, client, prices, home, "k" * 32)
    mailbox = Queue(client, "q")
    watch(table, instances, prices, mailbox, after(600))
    times = []
    for round_ in range(1, 4):
        client.calls.clear()
        began = time.perf_counter()
        watch(table, instances, prices, mailbox, after(600 + 60 * round_))
        times.append(time.perf_counter() - began)
    took = min(times)
    ec2 = client.calls["describe_instances"] + client.calls["describe_spot_price_history"]
    return {
        "live_jobs": count,
        "ms": round(took * 1000, 1),
        "us_per_job": round(took * 1e6 / count, 1),
        "ec2_calls": ec2,
        "ec2_calls_per_100_jobs": round(ec2 * 100 / count, 2),
        "ec2_calls_without_batching": 2 * count,
        "table_query_pages": client.calls["query"],
        "table_reads": client.calls["get_item"],
        "table_writes": client.calls["put_item"],
        "queue_calls": client.calls["send_message_batch"],
    }


def main() -> None:
    logging.disable(logging.CRITICAL)
    rows = [measure(count) for count in SIZES]
    names = list(rows[0])
    print("A tick of the watch\n")
    for name in names:
        print(f"  {name:28}" + "".join(f"{row[name]:>14,}" for row in rows))
    growth = rows[-1]["us_per_job"] / rows[1]["us_per_job"]
    print(f"\n  per job, 10,000 against 1,000: {growth:.2f} x (1.00 is linear)")
    batching = rows[-1]["ec2_calls_without_batching"] / rows[-1]["ec2_calls"]
    print(f"  EC2 calls without batching against ours, at 10,000: {batching:,.0f} x")
    print(json.dumps({"watch_tick": rows, "measured_at": datetime.now(timezone.utc).isoformat()}))


if __name__ == "__main__":
    main()
