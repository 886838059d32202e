"""From the text of a command to what it asks for, or to everything that is wrong with it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from bot.normalise import Word, words
from jobs.model import Model, Usd
from jobs.money import SYMBOLS, Currency
from jobs.problem import Problem, nearest
from jobs.recipe import Recipe, Value
from jobs.recipes import DEFAULT, RECIPES
from jobs.spec import (
    CURRENCY_WORD,
    LIMIT_ALIASES,
    TIME_WORD,
    JobSpec,
    Limits,
    read_budget,
    read_keep,
    read_time,
    read_value,
)

DEFAULT_KEEP = "90d"
JOB_ID = re.compile(r"[a-z2-7]{8}")
_UNSAID = ("", "last", "latest", "最近", "上一个")


class Train(Model):
    """A run to be submitted. `typed` names the parameters that were given; the others are the recipe's defaults."""

    kind: Literal["train"] = "train"
    spec: JobSpec
    typed: frozenset[str]


class ListJobs(Model):
    kind: Literal["list"] = "list"


class Stop(Model):
    kind: Literal["stop"] = "stop"
    job: str


class ShowModel(Model):
    kind: Literal["model"] = "model"
    job: str


class ShowLogs(Model):
    kind: Literal["logs"] = "logs"
    job: str


class Extend(Model):
    kind: Literal["extend"] = "extend"
    job: str
    budget: Usd = Decimal(0)
    time_s: int = 0


class Choose(Model):
    """Which run is meant was not said, or as `last`: `command` works once the id is in it, at `{id}`."""

    kind: Literal["choose"] = "choose"
    command: str


class ShowBudget(Model):
    kind: Literal["budget"] = "budget"


class SetBudget(Model):
    kind: Literal["set_budget"] = "set_budget"
    cap: Usd


class ListData(Model):
    kind: Literal["data"] = "data"


class Help(Model):
    kind: Literal["help"] = "help"
    about: Literal["train", "jobs", "budget", "data"]


class Wrong(Model):
    """Nothing was done; these are the reasons, in the order typed. `example` is a command that works."""

    kind: Literal["wrong"] = "wrong"
    problems: tuple[Problem, ...]
    example: str


Command = (
    Train | ListJobs | Stop | ShowModel | ShowLogs | Extend | Choose | ShowBudget | SetBudget | ListData | Help | Wrong
)


def parse_train(text: str, defaults: Limits) -> Train | Help | Wrong:
    """`<recipe> key=value …`; limits that are not given are the deployment's `defaults`."""
    read = words(text)
    example = RECIPES[DEFAULT].example
    if isinstance(read, Problem):
        return Wrong(problems=(read,), example=example)
    if not read or read[0].text.lower() in ("help", "帮助", "?"):
        return Help(about="train")
    first, rest = read[0].text.lower().replace("_", "-"), read[1:]
    recipe = RECIPES.get(first)
    problems: list[Problem] = []
    if recipe is None:
        facts = {"value": read[0].text.lower(), "known": ", ".join(RECIPES)}
        meant = nearest(first, RECIPES)
        if "=" in first or ":" in first:
            meant, rest = DEFAULT, read
            problems.append(Problem(code="no_recipe", facts=facts | {"example": meant}))
        else:
            problems.append(Problem(code="unknown_recipe", facts=facts | {"nearest": meant or ""}))
        if meant is None:
            return Wrong(problems=tuple(problems), example=example)
        recipe = RECIPES[meant]
    pairs, wrong = _pairs(rest, recipe)
    problems += wrong
    values: dict[str, Value | Decimal] = {}
    for key, text_value in pairs:
        result = _read(key, text_value, recipe, values, defaults.currency)
        if isinstance(result, Problem):
            problems.append(result)
        else:
            values[str(_key(key, recipe))] = result
    if "resume" not in values:
        problems += [
            Problem(code="missing", facts={"key": p.name, "example": p.example})
            for p in recipe.params
            if p.required and p.name not in values and p.name not in {problem.facts.get("key") for problem in problems}
        ]
    if problems:
        return Wrong(problems=tuple(problems), example=recipe.example)
    limits = defaults.with_(budget=values.pop("budget", defaults.budget), time_s=values.pop("time", defaults.time_s))
    resume = values.pop("resume", None)
    keep = values.pop("keep", DEFAULT_KEEP)
    params = {p.name: values.get(p.name, p.default) for p in recipe.params}
    return Train(
        spec=JobSpec(recipe=recipe.name, params=params, limits=limits, resume=resume, keep=keep),
        typed=frozenset(values),
    )


def _read(
    key: str, text: str, recipe: Recipe, known: dict[str, Value | Decimal], currency: Currency
) -> Value | Decimal | Problem:
    """One `key=value` of a /train command. `known`: what was read before it."""
    name = _key(key, recipe)
    if name is None:
        names = [*(p.name for p in recipe.params), *LIMIT_ALIASES]
        facts = {"key": key, "nearest": nearest(key, names) or "", "known": ", ".join(names)}
        return Problem(code="unknown_key", facts=facts)
    if name in known:
        return Problem(code="duplicate_key", facts={"key": name})
    if name == "budget":
        return read_budget(text, currency)
    if name == "time":
        return read_time(text)
    if name == "keep":
        return read_keep(text)
    if name == "resume":
        job = text.lower()
        return job if JOB_ID.fullmatch(job) else Problem(code="no_job", facts={"job": text})
    param = recipe.param(name)
    assert param is not None
    return read_value(param, text)


def parse_jobs(text: str, currency: Currency) -> Command:
    """``, `stop <id>`, `extend <id> budget=+$2 time=+1h`."""
    read = words(text)
    example = "/jobs stop k3m7q2xa"
    if isinstance(read, Problem):
        return Wrong(problems=(read,), example=example)
    if not read or read[0].text.lower() in ("list", "列表"):
        return ListJobs()
    verb = read[0].text.lower()
    if verb in ("help", "帮助", "?"):
        return Help(about="jobs")
    if verb in ("stop", "停止", "cancel", "kill"):
        job = read[1].text.lower() if len(read) > 1 else ""
        if job in _UNSAID:
            return Choose(command="/jobs stop {id}")
        if not JOB_ID.fullmatch(job):
            return Wrong(problems=(Problem(code="no_job", facts={"job": job}),), example=example)
        return Stop(job=job)
    if verb in ("model", "模型", "logs", "log", "日志"):
        job = read[1].text.lower() if len(read) > 1 else ""
        shown: type[ShowModel] | type[ShowLogs] = ShowModel if verb in ("model", "模型") else ShowLogs
        if not JOB_ID.fullmatch(job):
            return Wrong(problems=(Problem(code="no_job", facts={"job": job}),), example=f"/jobs {verb} k3m7q2xa")
        return shown(job=job)
    if verb in ("extend", "延长", "追加"):
        return _extend(read[1:], currency)
    known = ["stop", "extend", "model", "logs", "list", "help"]
    facts = {"value": verb, "nearest": nearest(verb, known) or "", "known": ", ".join(known)}
    return Wrong(problems=(Problem(code="unknown_word", facts=facts),), example=example)


def _extend(rest: list[Word], currency: Currency) -> Command:
    example = "/jobs extend k3m7q2xa budget=+$2 time=+1h"
    job = rest[0].text.lower() if rest else ""
    if job in _UNSAID or "=" in job:
        changes_typed = [word.text for word in rest if "=" in word.text] or [example.partition("xa ")[2]]
        return Choose(command=" ".join(["/jobs extend {id}", *changes_typed]))
    if not JOB_ID.fullmatch(job):
        return Wrong(problems=(Problem(code="no_job", facts={"job": job}),), example=example)
    problems: list[Problem] = []
    changes: dict[str, Decimal | int] = {}
    pairs, wrong = _pairs(rest[1:], None)
    problems += wrong
    for key, value in pairs:
        name = _key(key, None)
        more = value.removeprefix("+")
        if name == "budget":
            amount = read_budget(more, currency)
            if isinstance(amount, Problem):
                problems.append(amount)
            else:
                changes["budget"] = amount
        elif name == "time":
            span = read_time(more, low_s=1)
            if isinstance(span, Problem):
                problems.append(span)
            else:
                changes["time_s"] = span
        else:
            facts = {"key": key, "nearest": nearest(key, ["budget", "time"]) or "", "known": "budget, time"}
            problems.append(Problem(code="unknown_key", facts=facts))
    if not problems and not changes:
        problems.append(
            Problem(
                code="empty_value", facts={"key": "budget", "value": "", "example": f"budget=+{SYMBOLS[currency]}2"}
            )
        )
    if problems:
        return Wrong(problems=tuple(problems), example=example)
    return Extend(job=job, **changes)


def parse_budget(text: str, currency: Currency) -> Command:
    """``, `set $500`."""
    read = words(text)
    example = "/budget set $500"
    if isinstance(read, Problem):
        return Wrong(problems=(read,), example=example)
    if not read:
        return ShowBudget()
    verb = read[0].text.lower()
    if verb in ("help", "帮助", "?"):
        return Help(about="budget")
    if verb in ("set", "设置", "设为"):
        asked = " ".join(word.text for word in read[1:])
        cap = read_budget(asked, currency, low=Decimal(0), high=Decimal(1_000_000))
        return Wrong(problems=(cap,), example=example) if isinstance(cap, Problem) else SetBudget(cap=cap)
    facts = {"value": verb, "nearest": nearest(verb, ["set", "help"]) or "", "known": "set, help"}
    return Wrong(problems=(Problem(code="unknown_word", facts=facts),), example=example)


def parse_data(text: str) -> ListData | Help | Wrong:
    """`` or `list`."""
    read = words(text)
    if isinstance(read, Problem):
        return Wrong(problems=(read,), example="/data")
    if not read or read[0].text.lower() in ("list", "ls", "列表"):
        return ListData()
    verb = read[0].text.lower()
    if verb in ("help", "帮助", "?"):
        return Help(about="data")
    facts = {"value": verb, "nearest": nearest(verb, ["list", "help"]) or "", "known": "list, help"}
    return Wrong(problems=(Problem(code="unknown_word", facts=facts),), example="/data")


def _pairs(rest: list[Word], recipe: Recipe | None) -> tuple[list[tuple[str, str]], list[Problem]]:
    """The `key=value` pairs; also `key:value`, `--key value` and `-key=value`, which phones and habit make, and amounts
    and spans of several words: `budget=5 dollars`, `time=1 h 30 m`."""
    pairs: list[tuple[str, str]] = []
    problems: list[Problem] = []
    waiting = iter(rest)
    for word in waiting:
        text = word.text.lstrip("-") if not word.quoted or "=" in word.text else word.text
        key, sign, value = text.partition("=")
        if not sign and ":" in text and _key(text.partition(":")[0], recipe):
            key, sign, value = text.partition(":")
        if not sign and _key(key, recipe) and word.text.startswith("-"):
            following = next(waiting, None)
            sign, value = "=", following.text if following else ""
        if not sign and pairs and _goes_on(pairs[-1], word.text):
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {word.text}".strip())
            continue
        if not sign or not key:
            facts = {
                "value": word.text,
                "nearest": nearest(text, [p.name for p in recipe.params] if recipe else []) or "",
            }
            problems.append(Problem(code="not_a_pair", facts=facts))
            continue
        pairs.append((key if _key(key, recipe) is None else str(_key(key, recipe)), value))
    return pairs, problems


def _goes_on(pair: tuple[str, str], word: str) -> bool:
    """Whether a word belongs to the amount or span before it."""
    key, value = pair
    if key == "time":
        return TIME_WORD.fullmatch(word) is not None
    if key == "budget":
        has_number = any(char.isdigit() for char in value)
        return CURRENCY_WORD.fullmatch(word) is not None or (not has_number and word[:1].isdigit())
    return False


def _key(key: str, recipe: Recipe | None) -> str | None:
    lower = key.lower().replace("-", "_")
    for name, aliases in LIMIT_ALIASES.items():
        if lower in aliases:
            return name
    param = recipe.param(lower) if recipe else None
    return param.name if param else None
