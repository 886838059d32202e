"""What a run leaves: its model, its logs."""

from __future__ import annotations

from bot.cards import measured
from bot.desk import Desk
from bot.quantities import size
from bot.wording import Language, escape, say, short
from jobs.job import Job
from jobs.logs import Masked, plain

FILES_SHOWN = 12
LINES_SHOWN, LOG_SHOWN = 30, 2500
"""Lines and characters of a log in an answer."""
LINE_SHOWN = 300


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
    lines.append(say(lang, "model_get_own" if left.difference is None else "model_get", **facts))
    return "\n".join(lines)


def logs(job: Job, desk: Desk, lang: Language) -> str:
    """The last lines of its newest attempt that has printed any: secrets masked, whole lines, nothing in them can
    mention, link or format."""
    for number in range(job.last_attempt, max(0, job.last_attempt - 3), -1):
        lines = desk.log(job.id, number, LINES_SHOWN)
        if lines:
            title = say(lang, "logs_title", job=job.id, attempt=str(number))
            return f"{title}\n```\n{_fenced(lines)}\n```\n{say(lang, 'logs_more', job=job.id)}"
    return say(lang, "logs_none", job=job.id)


def _fenced(lines: list[str]) -> str:
    """The last whole lines that fit; a line alone that does not fit is cut, never inside a character."""
    mask = Masked()
    kept: list[str] = []
    room = LOG_SHOWN
    for line in reversed(lines):
        shown = escape(short(mask(plain(line)).replace("```", "'''"), LINE_SHOWN))
        if len(shown) + 1 > room:
            break
        room -= len(shown) + 1
        kept.insert(0, shown)
    return "\n".join(kept)
