"""The card of a job: a pure function of the job. `text` alone says everything that the blocks say: screen readers and
notifications read only it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from bot.quantities import bar, span
from bot.wording import Language, escape, say, short
from jobs.job import Attempt, Job, State, Why
from jobs.logs import Masked
from jobs.model import Model
from jobs.money import seconds, shown, stored
from jobs.recipes import RECIPES

HEARTBEAT_S = 180
HEADER_LIMIT, FIELD_LIMIT, SECTION_LIMIT, UPDATE_TEXT_LIMIT = 150, 2000, 3000, 4000
COMMAND_SHOWN, DETAIL_SHOWN, GO_ON_SHOWN = 300, 1200, 400
"""What is longer in a command or an error is shortened before it is sent."""

OWN_METRICS = 4
"""Of own code, that are shown."""

_SIGNS = {
    State.QUEUED: "⏳", State.LAUNCHING: "🚀", State.RUNNING: "🟢", State.INTERRUPTED: "🟡", State.STOPPING: "🟠",
    State.SUCCEEDED: "✅", State.FAILED: "❌", State.STOPPED: "⏹️", State.OUT_OF_TIME: "⌛", State.OUT_OF_BUDGET: "💰",
    State.NO_CAPACITY: "🚫", State.REFUSED: "🚫",
}  # fmt: skip


class Card(Model):
    """A Slack message: `blocks` for the eye, `text` for everything else."""

    text: str
    blocks: list[dict[str, Any]]


def card(job: Job) -> Card:
    """The card of `job` as of its last save."""
    lang = job.language
    state = say(lang, f"state_{job.state.value}")
    title = f"{_SIGNS[job.state]} {job.spec.recipe} · {state}"
    who = say(lang, "by", user=job.owner.id)
    command = escape(Masked()(short(job.command, COMMAND_SHOWN)))
    why = reason(job)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": short(title, HEADER_LIMIT), "emoji": True}},
        section(f"{who} · `{command}`\n{why}"),
    ]
    lines = [f"{title} {who}", f"`{command}`", why]
    progress = _progress(job)
    if progress:
        blocks.append(section(progress))
        lines.append(progress.replace("\n", " "))
    facts = _facts(job)
    if facts:
        blocks.append({"type": "section", "fields": [_mrkdwn(f"*{name}*\n{value}") for name, value in facts]})
        lines += [f"{name}: {value}" for name, value in facts]
    buttons = _buttons(job)
    blocks.append({"type": "actions", "block_id": "job", "elements": buttons})
    context = _context(job)
    blocks.append({"type": "context", "elements": [_mrkdwn(context)]})
    lines.append(context)
    return Card(text=short("\n".join(lines), UPDATE_TEXT_LIMIT), blocks=blocks)


def with_note(shape: Card, note: str) -> Card:
    """The card with a line above it."""
    return Card(text=short(f"{note}\n{shape.text}", UPDATE_TEXT_LIMIT), blocks=[section(note), *shape.blocks])


def reason(job: Job) -> str:
    """Why the job is where it is, and what happens next, in its language."""
    current = job.current
    if job.state is State.RUNNING and current is not None and current.trainer_at is not None:
        quiet = job.updated_at - current.trainer_at
        if quiet >= timedelta(seconds=HEARTBEAT_S):
            return say(job.language, "no_heartbeat", time=span(quiet.total_seconds(), job.language))
    return explain(job.why, job.language)


def explain(why: Why, language: Language) -> str:
    """A reason in words; spans of time are shown in the language's units."""
    facts = {name: short(fact, DETAIL_SHOWN) for name, fact in why.facts.items()}
    if "time_s" in facts:
        facts["time"] = span(float(facts["time_s"]), language)
    if why.code.startswith("data_") and facts.get("reason"):
        facts["reason"] = say(language, f"left_{facts['reason']}")
    return say(language, why.code, **facts).strip()


def resume_command(job: Job) -> str:
    """The command that goes on from this job's checkpoint: what is not typed is as it was."""
    words = [w for w in job.command.split() if not w.startswith(("resume=", "from=", "续训="))]
    command = " ".join([*words, f"resume={job.id}"])
    return command if len(command) <= GO_ON_SHOWN else f"/train {job.spec.recipe} resume={job.id}"


def _progress(job: Job) -> str:
    p = job.progress
    if p is None or not (p.steps or p.step):
        return ""
    if not p.steps:
        return say(job.language, "only_step", step=str(p.step))
    if not p.epochs:
        where = say(job.language, "steps", step=str(p.step), steps=str(p.steps))
        return f"`{bar(p.step / p.steps)}`\n{where}"
    epoch = min(p.epoch + 1, p.epochs)
    counts = {"epoch": epoch, "epochs": p.epochs, "step": p.step, "steps": p.steps}
    where = say(job.language, "epoch_step", **{name: str(count) for name, count in counts.items()})
    return f"`{bar(p.step / p.steps)}`\n{where}"


def _facts(job: Job) -> list[tuple[str, str]]:
    lang = job.language
    facts: list[tuple[str, str]] = []
    p = job.progress
    if p is not None and p.loss is not None:
        facts.append((say(lang, "loss"), f"{p.loss:.4f}"))
    facts += measured(job, lang)
    if p is not None and p.samples_per_s and job.state is State.RUNNING:
        facts.append((say(lang, "speed"), say(lang, "speed_value", rate=f"{p.samples_per_s:,.0f}")))
    attempt = latest(job)
    if attempt is not None:
        where = say(
            lang,
            "price_value",
            type=attempt.pool.instance_type,
            zone=attempt.pool.zone,
            price=shown(attempt.price, job.currency),
        )
        facts.append((say(lang, "instance"), where))
    elapsed = _elapsed(job)
    if elapsed is not None:
        limit = span(job.spec.limits.time_s, lang)
        facts.append((say(lang, "elapsed"), say(lang, "limit_of", value=span(elapsed, lang), limit=limit)))
    left = eta_s(job)
    if left is not None:
        facts.append((say(lang, "eta"), span(left, lang)))
    facts.append((say(lang, "spend"), _spend(job)))
    return facts


def measured(job: Job, lang: Language) -> list[tuple[str, str]]:
    """What evaluation measured, the recipe's main metric first, as names and values."""
    recipe = RECIPES[job.spec.recipe]
    known = [m for m in recipe.metrics if m.name in job.metrics]
    if not recipe.metrics:
        return [(escape(name), f"{value:.4g}") for name, value in list(job.metrics.items())[:OWN_METRICS]]
    return [(m.title[lang == "zh"], m.shown(job.metrics[m.name])) for m in known]


def _spend(job: Job) -> str:
    lang = job.language
    budget = job.spec.limits.budget
    value = say(lang, "spend_value", spent=spent_so_far(job), budget=shown(budget, job.currency))
    more = projected(job)
    if more is not None:
        value += " · " + say(lang, "projected", projected=shown(more, job.currency))
    on_demand = sum((a.on_demand_usd(job.updated_at) for a in job.attempts), Decimal(0))
    if on_demand > job.spent:
        value += "\n" + say(lang, "on_demand", amount=shown(stored(on_demand), job.currency))
    return value


def spent_so_far(job: Job) -> str:
    """The spend; after the end and before its prices are final, what it can be at most."""
    spent = shown(job.spent, job.currency)
    return say(job.language, "at_most", spent=spent) if job.state.is_end and not job.settled else spent


def projected(job: Job) -> Decimal | None:
    """What the run will have cost at its end (USD) at today's price, if it goes on as it does."""
    left, attempt = eta_s(job), job.current
    if left is None or attempt is None:
        return None
    price = attempt.price if attempt.prices else attempt.pool.rates.on_demand
    return stored(job.spent + (price + attempt.pool.rates.fixed) * Decimal(round(left)) / 3600)


def latest(job: Job) -> Attempt | None:
    """The newest attempt that is not a stray."""
    return next((a for a in reversed(job.attempts) if not a.stray), None)


def eta_s(job: Job) -> float | None:
    """Seconds of training that are left, from the trainer's own speed."""
    p = job.progress
    if job.state is not State.RUNNING or p is None or not p.samples_per_s:
        return None
    batch = job.spec.params.get("batch")
    return (p.steps - p.step) * float(batch) / p.samples_per_s if batch else None


def _elapsed(job: Job) -> float | None:
    if job.first_launch_at is None:
        return None
    return float(seconds((job.ended_at or job.updated_at) - job.first_launch_at))


def _buttons(job: Job) -> list[dict[str, Any]]:
    lang = job.language
    details = {"type": "button", "action_id": "details", "value": job.id, "text": plain_text(say(lang, "details"))}
    if job.state.is_end or job.state is State.STOPPING:
        return [details]
    words = {name: plain_text(say(lang, name)) for name in ("stop", "stop_title", "stop_text", "stop_yes", "stop_no")}
    confirm = {"title": "stop_title", "text": "stop_text", "confirm": "stop_yes", "deny": "stop_no"}
    stop = {
        "type": "button",
        "action_id": "stop",
        "style": "danger",
        "value": job.id,
        "text": words["stop"],
        "confirm": {part: words[name] for part, name in confirm.items()},
    }
    return [stop, details]


def _context(job: Job) -> str:
    lang = job.language
    origin = _origin(job)
    number = str(max(1, sum(1 for a in job.attempts if a.started_at is not None and not a.stray)))
    if job.checkpoint is None:
        return say(lang, "context_none", job=job.id, attempt=number) + origin
    text = say(lang, "context", job=job.id, attempt=number, step=str(job.checkpoint.step)) + origin
    if job.state.is_end and job.state is not State.SUCCEEDED:
        text += "\n" + say(lang, "go_on", command=resume_command(job))
    return text


def _origin(job: Job) -> str:
    """For a run that goes on from another: from where, and what happens to the learning rate."""
    if job.spec.resume is None:
        return ""
    if job.origin is None:
        return "\n" + say(job.language, "goes_on_from", job=job.spec.resume)
    facts = {"job": job.spec.resume, "step": str(job.origin.step)}
    changed = {"epochs": str(job.spec.params.get("epochs", "")), "lr": str(job.spec.params.get("lr", ""))}
    where = say(job.language, "went_on_from", **facts)
    return f"\n{where} {say(job.language, f'schedule_{job.origin.schedule}', **changed)}"


def section(text: str) -> dict[str, Any]:
    """A section block."""
    return {"type": "section", "text": _mrkdwn(text, SECTION_LIMIT)}


def _mrkdwn(text: str, limit: int = FIELD_LIMIT) -> dict[str, str]:
    return {"type": "mrkdwn", "text": short(text, limit)}


def plain_text(text: str) -> dict[str, Any]:
    """A plain_text object."""
    return {"type": "plain_text", "text": text, "emoji": True}
