"""What Slack already has of a job or a month. Written only by functions/notify.py."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ConfigDict

from jobs.model import Model, UtcTime


class Away(Model):
    """A card in the owner's direct messages, because its channel does not take it."""

    code: str
    """Slack's reason."""
    channel: str = ""
    """The direct message's own id; empty until it took the card."""
    ts: str = ""
    tried_at: UtcTime
    """When the job's channel was last tried."""


class Told(Model):
    """What was sent. What was told once is not told twice."""

    # Kept in the table across deployments, so fields of older ones may be in it.
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 0
    elsewhere: bool = False
    """The run was told of in another workspace: nothing of it is told here but answers to what is asked here."""
    ts: str = ""
    """The card in the job's channel; empty if there is none."""
    generation: int = 0
    """Counts the cards of this job: a lost card is posted anew."""
    digest: str = ""
    state: str = ""
    updated_at: UtcTime | None = None
    posted_at: UtcTime | None = None
    """When a card was last posted, or tried in vain."""
    lost: str = ""
    """Why the card cannot be updated any more."""
    away: Away | None = None
    said: tuple[str, ...] = ()
    """Names of the messages that were sent, or never will be."""
    failed: dict[str, str] = {}
    """Messages that Slack never takes, and its reason."""
    retry_at: UtcTime | None = None
    """When the one pending retry is due."""
    tries: int = 0
    """Retries in a row."""
    failing_since: UtcTime | None = None


Save = Callable[[Told], None]
