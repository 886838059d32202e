"""What happens on the simulated machines: the guard, by its real rule, and the trainer, which may fail in every way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.messages import Checkpoint, Failed, Finished, Progress, Started, Yielded
from tests.simulation.outside import Machine
from trainer_image.host.lease_guard import verdict

if TYPE_CHECKING:
    from tests.simulation.world import World

GUARD_PERIOD_S = 5


@dataclass
class Work:
    """What a job's training truly needs (seconds) and has saved."""

    needs_s: float
    saved_s: float = 0.0
    step: int = 0
    attempts_before_done: int | None = None
    """How many attempts had been launched when the work was done; None: it is not done."""
    launches_after_done: int = 0


@dataclass
class Trainer:
    """The process on one machine."""

    machine: Machine
    began: float = 0.0
    done_s: float = 0.0
    seq: int = 0
    told: bool = False
    over: bool = False
    stuck: bool = False
    mute: bool = False


class Host:
    """Every machine of a world. `work` is what each job truly needs and has saved."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.work: dict[str, Work] = {}

    def launched(self, machine: Machine) -> None:
        """A second instance of an attempt is another fault than a new attempt at work that is done."""
        work = self.work[machine.job]
        if work.attempts_before_done is not None and machine.attempt > work.attempts_before_done:
            work.launches_after_done += 1

    def boot(self, machine: Machine) -> None:
        self._world.note(f"{machine.job}: {machine.id} starts in {machine.pool}, lease {machine.lease:%H:%M:%S}")
        self._world.alive[machine.id] = machine
        trainer = Trainer(machine)
        if self._world.switches.guard:
            self._world.later(40, lambda: self._guard(trainer))
        if not self._world.chance.hits("never_boots"):
            self._world.later(self._world.chance.between(90, 300), lambda: self._begin(trainer))
        if self._world.chance.hits("interruption"):
            noticed = self._world.chance.die.random() < 0.5
            self._world.later(self._world.chance.between(60, 5000), lambda: self._interrupt(trainer, noticed))

    def _guard(self, trainer: Trainer) -> None:
        """The host's guard, by its own rule and its own clock; it looks again when something can be due."""
        machine = trainer.machine
        if not machine.alive:
            return
        clock = self._world.now().timestamp() + machine.skew_s
        lease, deadline = machine.lease.timestamp(), machine.deadline.timestamp()
        due = verdict(clock, lease, deadline, machine.warning_s, False)
        if due == "off":
            self._world.ec2.power_off(machine.id, self._world.chance.between(1, 25), user=True)
            return
        if due == "warn" and not trainer.told:
            self._tell_to_leave(trainer)
        end = min(lease, deadline)
        wait = end - machine.warning_s - clock if due == "run" else end - clock
        self._world.later(max(GUARD_PERIOD_S, min(wait, 300)), lambda: self._guard(trainer))

    def _interrupt(self, trainer: Trainer, noticed: bool) -> None:
        machine = trainer.machine
        if not machine.alive:
            return
        if noticed:
            self._world.machine_changed(machine, "interruption", self._world.now())
            self._tell_to_leave(trainer)
        self._world.later(120 if noticed else 0, lambda: self._world.ec2.power_off(machine.id, 0, user=False))

    def _tell_to_leave(self, trainer: Trainer) -> None:
        trainer.told = True
        if not trainer.stuck:
            self._world.later(self._world.chance.between(1, 20), lambda: self._leave(trainer))

    def _leave(self, trainer: Trainer) -> None:
        if trainer.over or not trainer.machine.alive or not trainer.began:
            return
        self._progress(trainer)
        self._save(trainer)
        self._report(trainer, Yielded, step=self.work[trainer.machine.job].step)
        self._exit(trainer)

    def _begin(self, trainer: Trainer) -> None:
        if not trainer.machine.alive or trainer.told:
            return
        work = self.work[trainer.machine.job]
        trainer.began, trainer.done_s = self._world.clock, work.saved_s
        self._report(trainer, Started, steps=100, resumed_step=work.step)
        if self._world.chance.hits("hang"):
            self._world.later(self._world.chance.between(0, 1500), lambda: setattr(trainer, "stuck", True))
        if self._world.chance.hits("silent"):
            trainer.mute = True
        if self._world.chance.hits("trainer_crash"):
            self._world.later(self._world.chance.between(1, 2500), lambda: self._crash(trainer))
        self._world.later(self._world.chance.between(120, 240), lambda: self._train(trainer))

    def _train(self, trainer: Trainer) -> None:
        if trainer.over or trainer.stuck or not trainer.machine.alive:
            return
        work = self.work[trainer.machine.job]
        self._progress(trainer)
        if trainer.done_s >= work.needs_s:
            self._save(trainer)
            self._finish(trainer, work)
            self._exit(trainer)
            return
        self._report(trainer, Progress, step=int(trainer.done_s), steps=int(work.needs_s), epoch=0, epochs=1)
        self._save(trainer)
        self._world.later(min(240.0, work.needs_s - trainer.done_s + 1), lambda: self._train(trainer))

    def _finish(self, trainer: Trainer, work: Work) -> None:
        """The result goes into the bucket first; then the report is sent, to be late or lost."""
        machine = trainer.machine
        if work.attempts_before_done is None:
            work.attempts_before_done = machine.attempt
        trainer.seq += 1
        report = Finished(
            job=machine.job, attempt=machine.attempt, seq=trainer.seq, at=self._world.now(), step=work.step
        )
        self._world.results.finished[machine.job] = report
        if not trainer.mute and not self._world.chance.hits("lost_finished"):
            wait = self._world.chance.between(10, 400) if self._world.chance.hits("slow_report") else 0.0
            self._world.later(wait, lambda: self._world.send(report))

    def _progress(self, trainer: Trainer) -> None:
        work = self.work[trainer.machine.job]
        trainer.done_s = min(work.needs_s, max(trainer.done_s, work.saved_s) + self._world.clock - trainer.began)
        trainer.began = self._world.clock

    def _save(self, trainer: Trainer) -> None:
        work = self.work[trainer.machine.job]
        if trainer.done_s > work.saved_s:
            work.saved_s, work.step = trainer.done_s, work.step + 1
            self._report(trainer, Checkpoint, step=work.step, epoch=0, key="k", sha256="0")

    def _crash(self, trainer: Trainer) -> None:
        if trainer.over or not trainer.machine.alive:
            return
        if self._world.chance.die.random() < 0.5:
            self._report(trainer, Failed, reason="RuntimeError")
        self._exit(trainer)

    def _exit(self, trainer: Trainer) -> None:
        """The container is gone: the host powers off."""
        trainer.over = True
        self._world.later(
            self._world.chance.between(1, 10), lambda: self._world.ec2.power_off(trainer.machine.id, 0, user=True)
        )

    def _report(self, trainer: Trainer, kind: Any, **facts: Any) -> None:
        trainer.seq += 1
        if trainer.mute:
            return
        machine = trainer.machine
        self._world.send(kind(job=machine.job, attempt=machine.attempt, seq=trainer.seq, at=self._world.now(), **facts))
