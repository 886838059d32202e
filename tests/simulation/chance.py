"""The faults of a world: how likely each is, and how many were injected."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class Likelihoods:
    """Each is the probability of one fault at one occasion."""

    lost: float = 0.01
    doubled: float = 0.03
    late: float = 0.03
    crash: float = 0.004
    """A function dies between two calls to the outside."""
    throttled: float = 0.02
    ec2_error: float = 0.01
    lost_answer: float = 0.03
    """RunInstances succeeds, but its answer is lost."""
    long_unseen: float = 0.05
    """DescribeInstances does not show a new instance for minutes."""
    omitted: float = 0.002
    """One listing leaves a running instance out."""
    refused_for_certain: float = 0.01
    """RunInstances, or what prepares it, fails so that the same again would fail the same way."""
    not_sent: float = 0.01
    """No connection, no credentials: nothing reached EC2."""
    no_capacity: float = 0.06
    no_quota: float = 0.01
    table_error: float = 0.002
    slack_error: float = 0.02
    schedule_error: float = 0.01
    interruption: float = 0.25
    """Per attempt; half of them come without a notice that is heard."""
    hang: float = 0.04
    silent: float = 0.03
    trainer_crash: float = 0.08
    never_boots: float = 0.02
    market_error: float = 0.01
    no_price: float = 0.02
    """The market shows a price of 0 for a while."""
    slow_report: float = 0.15
    """`finished` takes minutes to the mailbox."""
    slow_event: float = 0.15
    """So does an instance's `terminated`."""
    lost_finished: float = 0.05
    results_error: float = 0.02
    """The bucket cannot be read."""


@dataclass(frozen=True)
class Switches:
    """What keeps the guarantee, each of which can be switched off to see whether the others hold."""

    guard: bool = True
    schedule: bool = True
    step_terminates: bool = True
    sweep: bool = True
    reservation: bool = True
    idempotent_launch: bool = True
    certain_refusals: bool = True
    """What was refused for certain is said to be."""
    results: bool = True
    """The trainer's result is in the bucket."""


@dataclass
class Chance:
    """A seeded die that counts."""

    seed: int
    likelihoods: Likelihoods = field(default_factory=Likelihoods)
    quiet: bool = False
    injected: int = 0
    tell: Callable[[str], None] | None = None
    """Hears of every fault."""

    def __post_init__(self) -> None:
        self.die = random.Random(self.seed)

    def hits(self, name: str) -> bool:
        """Whether the fault `name` happens now."""
        if self.quiet or self.die.random() >= getattr(self.likelihoods, name):
            return False
        self.injected += 1
        if self.tell is not None:
            self.tell(f"fault: {name}")
        return True

    def between(self, low: float, high: float) -> float:
        return self.die.uniform(low, high)


KINDS = tuple(f.name for f in fields(Likelihoods))
