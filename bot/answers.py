"""What a command answers, to the person who typed it and nobody else."""

from __future__ import annotations

import hashlib
from base64 import b32encode

from bot.card_posting import closed_reason
from bot.cards import explain, latest, measured
from bot.data import listing, resolve
from bot.desk import Desk
from bot.grammar import (
    Choose,
    Command,
    Extend,
    Help,
    SetBudget,
    ShowLogs,
    ShowModel,
    Stop,
    Train,
    Wrong,
    parse_budget,
    parse_data,
    parse_jobs,
    parse_train,
)
from bot.leavings import logs, model
from bot.quantities import span
from bot.slack_errors import CHANNEL_CLOSED, TOKEN_DEAD
from bot.wording import Language, language_of, say
from jobs.job import Job
from jobs.messages import ExtendRequested, Person, StopRequested, Submit
from jobs.model import Model
from jobs.money import SYMBOLS, shown
from jobs.problem import Problem
from jobs.recipes import DEFAULT, RECIPES
from jobs.spec import JobSpec
from jobs.team import Month

LISTED = 15
MOST_PROBLEMS = 8
LONGEST_FACT = 120
"""Of a word that somebody typed, as it is quoted back."""


class Request(Model):
    """A command as Slack delivers it. `request` is the same when Slack delivers it again."""

    command: str
    text: str
    person: Person
    channel: str
    request: str
    response_url: str = ""


def job_id(request: str) -> str:
    """The id of the job that a request makes: 8 letters and digits, the same for the same request."""
    return b32encode(hashlib.sha256(request.encode()).digest())[:8].decode().lower()


def answer(request: Request, desk: Desk) -> str:
    """Do what the command asks (one message to one mailbox at most) and say so. Raises what `desk.send` raises."""
    lang = language_of(request.text, desk.house.language)
    parsed: Command
    if request.command == "/train":
        parsed = parse_train(request.text, desk.house.defaults)
    elif request.command == "/jobs":
        parsed = parse_jobs(request.text, desk.house.defaults.currency)
    elif request.command == "/data":
        parsed = parse_data(request.text)
    else:
        parsed = parse_budget(request.text, desk.house.defaults.currency)
    if isinstance(parsed, Wrong):
        return _wrong(parsed, request.command, desk, lang)
    if isinstance(parsed, Choose):
        return _choice(parsed, request.person, desk, lang)
    if isinstance(parsed, Help):
        example = RECIPES[DEFAULT].example
        return _in_currency(say(lang, f"help_{parsed.about}", recipes=", ".join(RECIPES), example=example), desk)
    if isinstance(parsed, Train):
        return _train(parsed, request, desk, lang)
    if isinstance(parsed, Stop):
        return stop(parsed.job, request.person, request.channel, desk, lang)
    if isinstance(parsed, ShowModel | ShowLogs):
        job, tell = desk.job(parsed.job), model if isinstance(parsed, ShowModel) else logs
        return tell(job, desk, lang) if job else sentence(Problem(code="no_job", facts={"job": parsed.job}), lang)
    if isinstance(parsed, Extend):
        return extend(parsed, request, desk, lang)
    if isinstance(parsed, SetBudget):
        if request.person.id not in desk.house.admins:
            return say(lang, "not_admin")
        desk.set_cap(parsed.cap)
        return say(lang, "cap_set", cap=shown(parsed.cap, desk.house.defaults.currency))
    if parsed.kind == "budget":
        return _month(desk.month(), lang)
    if parsed.kind == "data":
        return listing(desk.data_sets(), lang)
    return _list(desk.recent(LISTED), desk, lang)


def stop(id: str, by: Person, channel: str, desk: Desk, lang: Language) -> str:
    """Ask for a run's end. Anybody may: it saves money."""
    job = desk.job(id)
    if job is None:
        return sentence(Problem(code="no_job", facts={"job": id}), lang)
    if job.state.is_end:
        return say(lang, "already_over", job=id)
    desk.send(StopRequested(job=id, by=by, channel=channel))
    return say(lang, "stopping_now", job=id)


def extend(parsed: Extend, request: Request, desk: Desk, lang: Language) -> str:
    """Ask for more budget or time; whether the month has room is decided with the reservation itself."""
    job = desk.job(parsed.job)
    if job is None:
        return sentence(Problem(code="no_job", facts={"job": parsed.job}), lang)
    permitted = request.person.id == job.owner.id or request.person.id in desk.house.admins
    if job.state.is_end:
        return say(lang, "already_over", job=job.id)
    desk.send(
        ExtendRequested(
            job=job.id,
            request=job_id(request.request),
            by=request.person,
            permitted=permitted,
            channel=request.channel,
            budget=parsed.budget,
            time_s=parsed.time_s,
        )
    )
    return say(lang, "extending", job=job.id)


def _train(parsed: Train, request: Request, desk: Desk, lang: Language) -> str:
    spec = parsed.spec
    if spec.resume is not None:
        resumed = resume(spec, parsed.typed, desk.job(spec.resume))
        if isinstance(resumed, Wrong):
            return _wrong(resumed, request.command, desk, lang)
        spec = resumed
    resolved = resolve(spec, desk)
    if isinstance(resolved, list):
        wrong = Wrong(problems=tuple(resolved), example=RECIPES[spec.recipe].example)
        return _wrong(wrong, request.command, desk, lang)
    spec = resolved
    id = job_id(request.request)
    desk.send(
        Submit(job=id, spec=spec, owner=request.person, channel=request.channel, language=lang,
               command=f"{request.command} {request.text.strip()}", response_url=request.response_url,
               terms=desk.house.terms)
    )  # fmt: skip
    limits = spec.limits
    facts = {"budget": shown(limits.budget, limits.currency), "time": span(limits.time_s, lang)}
    code = desk.obstacle(request.channel)
    if code in CHANNEL_CLOSED:
        where = say(lang, f"closed_{closed_reason(code)}", job=id, channel=request.channel)
        return say(lang, "accepted_closed", job=id, **facts) + " " + where
    if code in TOKEN_DEAD:
        return say(lang, "accepted_closed", job=id, **facts) + " " + say(lang, "no_token", job=id, error=code)
    return say(lang, "accepted_outage" if code else "accepted", job=id, **facts)


def resume(spec: JobSpec, typed: frozenset[str], earlier: Job | None) -> JobSpec | Wrong:
    """The run that goes on from `earlier`'s checkpoint: what was not typed is as it was there. Refused is what cannot
    be honoured: another value of a parameter that the checkpoint depends on, or a run with nothing left to do."""
    recipe = RECIPES[spec.recipe]
    facts = {"job": spec.resume or "", "recipe": spec.recipe}
    if earlier is None:
        return Wrong(problems=(Problem(code="no_job", facts=facts),), example=recipe.example)
    if not earlier.state.is_end:
        return Wrong(problems=(Problem(code="still_live", facts=facts),), example=f"/jobs stop {earlier.id}")
    if earlier.checkpoint is None or earlier.spec.recipe != spec.recipe:
        return Wrong(problems=(Problem(code="not_resumable", facts=facts),), example=recipe.example)
    was, params = earlier.spec.params, dict(earlier.spec.params)
    problems: list[Problem] = []
    for param in recipe.params:
        wanted = spec.params[param.name]
        if param.name not in typed or wanted == was[param.name]:
            continue
        params[param.name] = wanted
        if not param.changeable:
            values = {"key": param.name, "value": str(wanted), "was": str(was[param.name])}
            problems.append(Problem(code="kept_on_resume", facts=facts | values))
    example = f"/train {recipe.name} resume={earlier.id}"
    done, epochs = earlier.checkpoint.epoch, int(params.get("epochs") or 0)
    if "epochs" in params and epochs <= done:
        reach = {"epochs": str(epochs), "done": str(done), "step": str(earlier.checkpoint.step), "more": str(done + 1)}
        problems.append(Problem(code="nothing_left", facts=facts | reach))
        example += f" epochs={done + 1}"
    return (
        Wrong(problems=tuple(problems), example=example)
        if problems
        else spec.with_(params=params, files={p: ref for p, ref in earlier.spec.files.items() if params[p] == was[p]})
    )


def _choice(choose: Choose, person: Person, desk: Desk, lang: Language) -> str:
    """The typist's own live runs, each with the command as it works for it."""
    own = [job for job in desk.recent(LISTED) if job.owner.id == person.id and not job.state.is_end]
    if not own:
        return say(lang, "none_of_yours")
    lines = [f"{_line(job, lang)}\n`{_in_currency(choose.command.replace('{id}', job.id), desk)}`" for job in own]
    return "\n".join([say(lang, "which_run"), *lines[:LISTED]])


def _wrong(wrong: Wrong, command: str, desk: Desk, lang: Language) -> str:
    lines = [f"• {sentence(problem, lang)}" for problem in wrong.problems[:MOST_PROBLEMS]]
    more = len(wrong.problems) - len(lines)
    if more > 0:
        lines.append(say(lang, "more_problems", count=str(more)))
    example = say(lang, "example", example=_in_currency(wrong.example, desk))
    return "\n".join([say(lang, f"wrong_{command.removeprefix('/')}"), *lines, example])


def _in_currency(example: str, desk: Desk) -> str:
    """An example that works here: amounts in the deployment's currency."""
    return example.replace("$", SYMBOLS[desk.house.defaults.currency])


def sentence(problem: Problem, lang: Language) -> str:
    """What is wrong, in words."""
    nearest = problem.facts.get("nearest")
    hint = say(lang, "did_you_mean", nearest=nearest) if nearest else ""
    facts = {name: fact if name == "known" else _cut(fact) for name, fact in problem.facts.items()}
    if "reason" in facts:
        facts["reason"] = say(lang, f"left_{facts['reason']}") if facts["reason"] else ""
    return say(lang, problem.code, **{**facts, "hint": hint}).strip()


def _cut(fact: str) -> str:
    return fact if len(fact) <= LONGEST_FACT else fact[: LONGEST_FACT - 1] + "…"


def _list(jobs: list[Job], desk: Desk, lang: Language) -> str:
    if not jobs:
        return say(lang, "no_jobs", example=_in_currency(RECIPES[DEFAULT].example, desk))
    return "\n".join([say(lang, "jobs_title"), *(_line(job, lang) for job in jobs)])


def _line(job: Job, lang: Language) -> str:
    state = say(lang, f"state_{job.state.value}")
    done = f" {job.progress.step * 100 // job.progress.steps} %" if job.progress and job.progress.steps else ""
    attempt = latest(job)
    where = f" · {attempt.pool.instance_type}" if attempt and not job.state.is_end else ""
    money = say(
        lang, "spend_value", spent=shown(job.spent, job.currency), budget=shown(job.spec.limits.budget, job.currency)
    )
    best = "".join(f" · {name} {value}" for name, value in measured(job, lang)[:1])
    return f"`{job.id}` {job.spec.recipe} · *{state}*{done}{best} · <@{job.owner.id}> · {money}{where}"


def _month(month: Month, lang: Language) -> str:
    amounts = {
        "cap": month.cap,
        "spent": month.spent,
        "reserved": month.reserved,
        "free": month.free,
        "forecast": month.forecast,
    }
    facts = {name: shown(amount, month.currency) for name, amount in amounts.items()} | {"month": month.month}
    lines = [say(lang, code, **facts) for code in ("budget_month", "budget_sums", "budget_forecast")]
    if month.people:
        ranked = sorted(month.people.items(), key=lambda item: (-item[1], item[0]))
        people = [f"<@{who}> {shown(amount, month.currency)}" for who, amount in ranked]
        lines.append(say(lang, "budget_people", people="") + ", ".join(people))
    return "\n".join(lines)


def _read_version(job: Job) -> str:
    """Of data at a place that others may change: what the trainer found there."""
    return job.data.sha256 if job.data is not None else "—"


def details(job: Job, lang: Language) -> list[tuple[str, str]]:
    """A run in full, as pairs of name and value, for the Details window."""
    rows = [(key, "—" if value is None else str(value)) for key, value in job.spec.params.items()]
    rows += [(say(lang, "data_version"), f"{ref.name} · {(ref.sha256 or _read_version(job))[:12]}") for ref in
             job.spec.files.values()]  # fmt: skip
    if job.code_version:
        rows.append((say(lang, "code_version"), job.code_version[:12]))
    if job.progress is not None and job.progress.waiting is not None:
        rows.append((say(lang, "waiting"), f"{job.progress.waiting * 100:.1f} %"))
    rows += [("budget", shown(job.spec.limits.budget, job.currency)), ("time", span(job.spec.limits.time_s, lang))]
    for number, attempt in enumerate((a for a in job.attempts if a.started_at), start=1):
        end = attempt.ended_at or job.updated_at
        assert attempt.started_at is not None
        lived = span((end - attempt.started_at).total_seconds(), lang)
        cost = shown(attempt.usd(job.updated_at), job.currency)
        name = say(lang, "attempt", number=str(number))
        rows.append((name, f"{attempt.pool.instance_type} · {attempt.pool.zone} · {lived} · {cost}"))
    rows.append((say(lang, f"state_{job.state.value}"), explain(job.why, lang)))
    return rows
