"""What the listeners need from the rest of the world; functions/ has the real one."""

from __future__ import annotations

from typing import Protocol

from bot.wording import Language
from jobs.data.check import Remote
from jobs.data.dataset import DataSet, FileRef
from jobs.job import Job
from jobs.messages import AnyMessage, Terms
from jobs.model import Model, Usd
from jobs.problem import Problem
from jobs.spec import Limits
from jobs.team import Month


class House(Model):
    """The deployment's own settings that people's commands are read with."""

    defaults: Limits
    terms: Terms
    admins: tuple[str, ...]
    language: Language
    code_hosts: tuple[str, ...] = ()
    """From which own code may be fetched."""


class Desk(Protocol):
    """Reads what is known, and puts messages into mailboxes."""

    @property
    def house(self) -> House: ...

    def send(self, message: AnyMessage) -> None:
        """Raises when the mailbox cannot be reached."""

    def job(self, id: str) -> Job | None: ...

    def recent(self, count: int) -> list[Job]:
        """The live runs, then the newest others."""

    def month(self) -> Month: ...

    def obstacle(self, channel: str) -> str:
        """Slack's last error for posting anywhere, or in this channel; empty if none is known. Never raises."""

    def opened(self, channel: str) -> None:
        """Paddock was invited to a channel: its cards come there."""

    def set_cap(self, cap: Usd) -> None: ...

    def data_sets(self) -> list[DataSet]:
        """What was uploaded, by name."""

    def find_data(self, value: str) -> FileRef | Problem:
        """What a name or an `s3://` place stands for now."""

    def open_data(self, ref: FileRef) -> Remote:
        """A file, to be read in parts."""

    def log(self, job: str, attempt: int, count: int) -> list[str]:
        """The last lines that an attempt printed, oldest first."""

    def place(self, key: str) -> str:
        """Where an object of the deployment's bucket is, as people write it."""

    def link(self, key: str) -> str:
        """A link to it that lasts an hour and needs no account."""
