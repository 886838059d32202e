"""The curves of a run that succeeded, as a picture in its thread."""

from __future__ import annotations

from collections.abc import Callable

from slack_sdk import WebClient

from bot.card_posting import place
from bot.cards import measured
from bot.told import Save, Told
from bot.wording import say, short
from jobs.job import Job, State
from jobs.recipes import RECIPES

NAME = "curves"
ALT_LIMIT = 1000
"""Of a file's alt text (docs.slack.dev, files.getUploadURLExternal)."""
Picture = Callable[[str], bytes | None]
"""An object of the bucket by its key; None if it is not there. Raises what the bucket raises."""


def no_picture(_: str) -> bytes | None:
    return None


def show_curves(job: Job, told: Told, client: WebClient, picture: Picture, save: Save) -> Told:
    """Once, after the end. Tried one time: a picture that Slack does not take harms nothing."""
    channel, ts = place(job, told)
    if job.state is not State.SUCCEEDED or job.model is None or NAME in told.said or "end" not in told.said or not ts:
        return told
    failed = ""
    try:
        content = picture(f"{job.model.folder}/curves.png")
        if content is not None:
            main = RECIPES[job.spec.recipe].metrics[0].title[job.language == "zh"]
            client.files_upload_v2(
                channel=channel, thread_ts=ts, content=content, filename=f"{job.id}.png", alt_txt=_alt(job),
                title=say(job.language, "curves_title", metric=main, job=job.id),
            )  # fmt: skip
    except Exception as error:  # noqa: BLE001  (whatever it is: the picture is a courtesy)
        failed = type(error).__name__
    told = told.with_(said=(*told.said, NAME), failed=told.failed | {NAME: failed} if failed else told.failed)
    save(told)
    return told


def _alt(job: Job) -> str:
    p = job.progress
    loss = f"{p.loss:.4f}" if p is not None and p.loss is not None else "—"
    metrics = ", ".join(f"{name} {value}" for name, value in measured(job, job.language)) or "—"
    steps = str(p.steps if p is not None else "—")
    text = say(job.language, "curves_alt", job=job.id, steps=steps, loss=loss, metrics=metrics)
    return short(text, ALT_LIMIT)
