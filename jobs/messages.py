"""What a job's mailbox receives. Each message may come twice, late, out of order or never."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from jobs.data.dataset import FileRef
from jobs.model import Model, Usd, UtcTime
from jobs.money import PricePoint, Rates
from jobs.problem import Problem
from jobs.spec import JobSpec


class Terms(Model):
    """The deployment's timings, in seconds, as they were when the job was submitted."""

    margin_s: int = 90
    """Kept between the lease's end and the budget's end: shutdown, clock skew (30 s), the guard's period."""
    lease_s: int = 1800
    """The longest lease."""
    warning_s: int = 120
    """How long before its end the trainer is told to save and leave."""
    useful_s: int = 300
    """Less time than this is not worth a launch."""
    capacity_wait_s: int = 3600
    """How long a job waits for capacity."""
    boot_s: int = 1200
    """How long an instance may take until its trainer reports."""
    silent_s: int = 900
    """How long a running trainer may stay silent before its attempt is given up."""
    certain_s: int = 300
    """After this time without a trace there is no instance: DescribeInstances is eventually consistent."""
    grace_s: int = 60
    """What an instance may take from its lease's end to its termination."""


class Person(Model):
    """Somebody in Slack."""

    id: str
    name: str = ""


class Pool(Model):
    """A spot pool: an instance type in an availability zone, and what it costs."""

    instance_type: str
    zone: str
    spot: Usd
    rates: Rates


class Message(Model):
    """`job` is the message group; `kind` tells the messages apart."""

    job: str


class Submit(Message):
    """Somebody asked for a run."""

    kind: Literal["submit"] = "submit"
    spec: JobSpec
    owner: Person
    channel: str
    language: Literal["en", "zh"] = "en"
    command: str
    response_url: str = ""
    """Slack's way to answer the command where it was typed, for half an hour."""
    terms: Terms = Terms()


class StopRequested(Message):
    """Somebody wants the run ended."""

    kind: Literal["stop"] = "stop"
    by: Person
    channel: str = ""


class ExtendRequested(Message):
    """Somebody raises the run's limits. `request` makes a repeated delivery harmless."""

    kind: Literal["extend"] = "extend"
    request: str
    by: Person
    permitted: bool = True
    """Whether this person may raise this run's limits."""
    channel: str = ""
    budget: Usd = Decimal(0)
    time_s: int = 0


class BudgetRefused(Message):
    """The team's month has no room for what `cause` asked: `free` USD are left in `month`."""

    kind: Literal["budget_refused"] = "budget_refused"
    cause: Annotated[Submit | ExtendRequested, Field(discriminator="kind")]
    month: str
    free: Usd
    cap: Usd


class Quoted(Message):
    """The pools that suit the job, at their prices now."""

    kind: Literal["quoted"] = "quoted"
    pools: tuple[Pool, ...]


class Launched(Message):
    """EC2 has the attempt's instance."""

    kind: Literal["launched"] = "launched"
    attempt: int
    instance: str
    at: UtcTime


class LaunchFailed(Message):
    """The attempt was refused for certain, by EC2 or before anything was sent: this try started no instance. `busy`
    may succeed later."""

    kind: Literal["launch_failed"] = "launch_failed"
    attempt: int
    reason: Literal["capacity", "quota", "busy", "invalid"]
    detail: str = ""


class SeenInstance(Model):
    """An instance as EC2 shows it. `ended_at` is the best upper bound known of its end."""

    id: str
    attempt: int
    state: Literal["pending", "running", "stopping", "shutting-down", "stopped", "terminated"]
    instance_type: str
    zone: str
    started_at: UtcTime
    ended_at: UtcTime | None = None


class Renewed(Message):
    """The instance carries this lease now, and its termination schedule is set to it."""

    kind: Literal["renewed"] = "renewed"
    instance: str
    lease_until: UtcTime


class PriceSpan(Model):
    """All there is to know of a pool's spot price from `since` to `until`; the first point is in force at `since`."""

    since: UtcTime
    until: UtcTime
    points: tuple[PricePoint, ...]


class Tick(Message):
    """What is: the job's instances in EC2 (`complete`: the walk over EC2 reached its end), and the pools' prices."""

    kind: Literal["tick"] = "tick"
    instances: tuple[SeenInstance, ...] = ()
    complete: bool = True
    seen_at: UtcTime
    prices: dict[str, PriceSpan] = {}
    """By pool, `type/zone`."""


class InstanceChanged(Message):
    """EventBridge: an instance's state changed, or EC2 will take it back (`interruption`)."""

    kind: Literal["instance"] = "instance"
    instance: str
    attempt: int
    change: Literal["running", "shutting-down", "terminated", "interruption"]
    at: UtcTime


class MonthSpent(Message):
    """The watch saw what the team's month has cost. Not for a job: its group is the month's, `month-2026-12`."""

    kind: Literal["month_spent"] = "month_spent"
    month: str
    seen_at: UtcTime
    """Makes each minute's message another one for SQS, which drops what it has just seen."""


class Report(Message):
    """What the trainer says. `seq` counts up within an attempt."""

    attempt: int
    seq: int
    at: UtcTime


class Started(Report):
    """The trainer runs. `resumed_step` is the optimizer step it starts from."""

    kind: Literal["started"] = "started"
    resumed_step: int = 0
    steps: int = 0
    device: str = ""
    code: str = ""
    """Own code: its commit, or its upload's sha256."""
    schedule: Literal["as_planned", "longer", "new_rate"] = "as_planned"
    """What a run that goes on from another's checkpoint does to the learning rate: nothing; it now falls to 0 at a
    later step, on the line that it would have been on with that many epochs from the start; or it begins anew at this
    step, at the rate that was typed."""


class Progress(Report):
    """Throttled at the source, about one per 5 s."""

    kind: Literal["progress"] = "progress"
    step: int
    steps: int
    epoch: int
    epochs: int
    loss: float | None = None
    metrics: dict[str, float] = {}
    samples_per_s: float | None = None
    waiting: float | None = None
    """The share of the time that training waited for data, 0 to 1."""


class Left(Model):
    """Samples that are not used, for one reason. `first`: the line or file name of the first one."""

    count: int
    first: str


class DataRead(Report):
    """The trainer has read all of the data. `labels`: the most frequent ones, with their numbers of samples; `once`:
    some of those that only one sample has."""

    kind: Literal["data"] = "data"
    name: str
    sha256: str
    encoding: str = ""
    train: int
    valid: int
    labels: dict[str, int] = {}
    label_count: int = 0
    once: tuple[str, ...] = ()
    left_out: dict[str, Left] = {}


class Trained(Model):
    """The model that a run leaves in the bucket: `key` of one archive with everything, `folder` of what is looked at
    alone (its description, its curves). `size` in bytes; `difference`: the largest between what the trained model and
    the exported one, loaded in a new process, answer for the same samples; None for own code's output."""

    key: str
    folder: str
    size: int
    step: int
    difference: float | None = None
    files: tuple[str, ...]


class Checkpoint(Report):
    """A checkpoint is in the bucket, whole."""

    kind: Literal["checkpoint"] = "checkpoint"
    step: int
    epoch: int
    key: str
    sha256: str


class Finished(Report):
    """Training is done."""

    kind: Literal["finished"] = "finished"
    step: int
    metrics: dict[str, float] = {}
    """Of the model that the run leaves: that of its best checkpoint."""
    model: Trained | None = None


class Yielded(Report):
    """The trainer saved and left because it was told to (exit code 75)."""

    kind: Literal["yielded"] = "yielded"
    step: int


class Failed(Report):
    """The trainer could not go on. `final`: the same again would fail the same way."""

    kind: Literal["failed"] = "failed"
    reason: str
    detail: str = ""
    final: bool = False
    problem: Problem | None = None
    """What is wrong with what the person gave, to be said in their language."""


TrainerReport = Annotated[
    Started | DataRead | Progress | Checkpoint | Finished | Yielded | Failed, Field(discriminator="kind")
]
AnyMessage = Annotated[
    Submit | StopRequested | ExtendRequested | BudgetRefused | Quoted | Launched | LaunchFailed | Renewed
    | Tick | InstanceChanged | Started | DataRead | Progress | Checkpoint | Finished | Yielded | Failed,
    Field(discriminator="kind"),
]  # fmt: skip
AnyMail = Annotated[AnyMessage | MonthSpent, Field(discriminator="kind")]
MAIL: TypeAdapter[AnyMail] = TypeAdapter(AnyMail)


class SignedReport(Model):
    """What the trainer puts on the report queue: a report and the attempt's own token."""

    token: str
    report: TrainerReport


class RunSpec(Model):
    """The one JSON document that an instance gets."""

    job: str
    attempt: int
    recipe: str
    params: dict[str, int | float | str | None]
    files: dict[str, FileRef] = {}
    """By parameter: the data that were named."""
    bucket: str
    checkpoints: str
    """Key prefix of this job's checkpoints."""
    result: str
    """Key of this job's result: its `Finished`, there as soon as the work is done."""
    models: str = ""
    """Key prefix of what this job leaves."""
    resume_from: str | None
    """Key prefix of another job's checkpoints, used while this job has none."""
    reports: str
    """URL of the report queue."""
    token: str
    region: str
    deployment: str = "paddock"
    keep: str = ""
    """How long what the run leaves is kept: the tag that the bucket's rules go by."""
    code_version: str = ""
    """Own code: what an earlier attempt found."""
    spent: Usd = Decimal(0)
    """What the run had cost when this attempt was launched."""
    hourly: Usd | None = None
    """What this attempt costs an hour, at the price of its launch."""
