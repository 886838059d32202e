"""Values that many tests start from."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from jobs.job import Job
from jobs.lifecycle import step
from jobs.messages import (
    Checkpoint,
    InstanceChanged,
    Launched,
    Person,
    Pool,
    PriceSpan,
    Quoted,
    SeenInstance,
    Started,
    Submit,
    Terms,
    Tick,
)
from jobs.money import PricePoint, Rates
from jobs.recipes.ernie_cls import RECIPE as ERNIE_CLS
from jobs.spec import JobSpec, Limits

NOW = datetime(2026, 12, 10, 12, 0, tzinfo=timezone.utc)
RATES = Rates(on_demand=Decimal("0.526"), volume=Decimal("0.012"), address=Decimal("0.005"))
POOL = Pool(instance_type="g4dn.xlarge", zone="us-east-1a", spot=Decimal("0.16"), rates=RATES)
POOL_NAME = "g4dn.xlarge/us-east-1a"
ID = "abcdefgh"
ADA = Person(id="U0ADA", name="ada")


def after(seconds: float) -> datetime:
    """That long after NOW."""
    return NOW + timedelta(seconds=seconds)


def spec(budget: str = "5", time_s: int = 3600) -> JobSpec:
    params = {p.name: p.default for p in ERNIE_CLS.params}
    return JobSpec(recipe="ernie-cls", params=params, limits=Limits(budget=Decimal(budget), time_s=time_s))


def submit(budget: str = "5", time_s: int = 3600, id: str = "abcdefgh", terms: Terms | None = None) -> Submit:
    return Submit(
        job=id,
        spec=spec(budget, time_s),
        owner=ADA,
        channel="C0PADDOCK",
        command="/train ernie-cls epochs=3",
        terms=terms or Terms(),
    )


def must(job: Job | None) -> Job:
    assert job is not None
    return job


def queued(budget: str = "5", time_s: int = 3600) -> Job:
    return must(step(None, submit(budget, time_s), NOW)[0])


def launching(budget: str = "5", time_s: int = 3600) -> Job:
    return must(step(queued(budget, time_s), Quoted(job="abcdefgh", pools=(POOL,)), NOW)[0])


def booting(budget: str = "5", time_s: int = 3600) -> Job:
    launched = Launched(job="abcdefgh", attempt=1, instance="i-1", at=NOW)
    return must(step(launching(budget, time_s), launched, NOW)[0])


def running(budget: str = "5", time_s: int = 3600) -> Job:
    started = Started(job="abcdefgh", attempt=1, seq=1, at=after(100), steps=750, device="CPU")
    return must(step(booting(budget, time_s), started, after(100))[0])


def seen(state: str = "running", id: str = "i-1", attempt: int = 1, ended: datetime | None = None) -> SeenInstance:
    return SeenInstance.model_validate(
        {
            "id": id,
            "attempt": attempt,
            "state": state,
            "instance_type": "g4dn.xlarge",
            "zone": "us-east-1a",
            "started_at": NOW,
            "ended_at": ended,
        }
    )


def tick(at: datetime, *instances: SeenInstance, price: str = "0.16", complete: bool = True) -> Tick:
    span = PriceSpan(since=NOW, until=at, points=(PricePoint(at=NOW, usd_per_hour=Decimal(price)),))
    return Tick(job="abcdefgh", instances=instances, seen_at=at, complete=complete, prices={POOL_NAME: span})


def gone(at: float) -> InstanceChanged:
    return InstanceChanged(job=ID, instance="i-1", attempt=1, change="terminated", at=after(at))


def saved(at: float, number: int = 1, step_: int = 100) -> Checkpoint:
    return Checkpoint(job=ID, attempt=number, seq=5, at=after(at), step=step_, epoch=0, key="k", sha256="0")
