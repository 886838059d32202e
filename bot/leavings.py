"""What a run leaves: its model, its logs."""

from __future__ import annotations

from bot.cards import measured
from bot.desk import Desk
from bot.quantities import size
from bot.wording import Language, escape, say
from jobs.job import Job

FILES_SHOWN = 12


def model(job: Job, desk: Desk, lang: Language) -> str:
    """What is there, its size, where it is, and a link that lasts an hour."""
    left = job.model
    if left is None:
        return say(lang, "model_none" if job.state.is_end else "model_not_yet", job=job.id)
    files = [name for name in left.files if "/" not in name]
    shown = ", ".join(files[:FILES_SHOWN]) + (", …" if len(files) > FILES_SHOWN else "")
    facts = {"job": job.id, "recipe": job.spec.recipe, "size": size(left.size), "step": str(left.step), "files": shown,
             "place": desk.place(left.key)}  # fmt: skip
    lines = [say(lang, "model_title", **facts)]
    scores = " · ".join(f"{name} {value}" for name, value in measured(job, lang))
    lines += [scores] if scores else []
    lines.append(say(lang, "model_files", **facts))
    if left.difference is not None:
        lines.append(say(lang, "model_difference", difference=f"{left.difference:.1g}"))
    lines.append(say(lang, "model_place", **facts))
    lines.append(f"<{escape(desk.link(left.key))}|{say(lang, 'model_link')}>")
    lines.append(say(lang, "model_get", **facts))
    return "\n".join(lines)
