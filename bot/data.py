"""What a command's data are: which version a name stands for, whether the recipe can use it, and the list of all."""

from __future__ import annotations

from bot.desk import Desk
from bot.quantities import size
from bot.wording import Language, say
from jobs.data.check import check
from jobs.data.dataset import ADDRESS, DataSet, FileRef
from jobs.messages import DataRead, Left
from jobs.problem import Problem
from jobs.recipes import RECIPES
from jobs.spec import JobSpec

LISTED = 20
LABELS_SHOWN = 6
UNBALANCED = 10
"""Times as many samples of the most frequent label as of the rarest: worth a word."""


def resolve(spec: JobSpec, desk: Desk) -> JobSpec | list[Problem]:
    """The spec with the version of all data that it names, or what is wrong with them. What `spec.files` already holds
    is kept: a run that goes on from a checkpoint goes on with the data of that checkpoint."""
    files: dict[str, FileRef] = {}
    problems: list[Problem] = []
    for param in RECIPES[spec.recipe].params:
        value = spec.params[param.name]
        if param.kind not in ("data", "code") or value is None or value in param.choices:
            continue
        address = ADDRESS.fullmatch(str(value)) if param.kind == "code" else None
        if address is not None:
            problems += _host(param.name, address[1], desk)
            continue
        ref = spec.files.get(param.name) or desk.find_data(str(value))
        found = [ref] if isinstance(ref, Problem) else check(param, spec.params, desk.open_data(ref))
        if isinstance(ref, Problem):
            choices = ", ".join(param.choices)
            found = [ref.with_(facts={"key": param.name, "choices": choices} | ref.facts)]
        else:
            files[param.name] = ref
        problems += found
    if problems:
        return problems
    resolved: JobSpec = spec.with_(files=files)
    return resolved


def _host(key: str, host: str, desk: Desk) -> list[Problem]:
    allowed = desk.house.code_hosts
    facts = {"key": key, "value": host, "known": ", ".join(allowed)}
    return [] if host in allowed else [Problem(code="host_not_allowed", facts=facts)]


def listing(sets: list[DataSet], lang: Language) -> str:
    """Every set: name, size, rows, labels, who and when."""
    if not sets:
        return say(lang, "data_none")
    lines = [_line(found, lang) for found in sets[:LISTED]]
    if len(sets) > LISTED:
        lines.append(say(lang, "more_data", count=str(len(sets) - LISTED)))
    return "\n".join([say(lang, "data_title"), *lines, say(lang, "data_hint", name=sets[0].name)])


def found(data: DataRead, lang: Language) -> str:
    """What the trainer found in the data: how many samples for what, and what it left out and why."""
    labels = ", ".join(f"{label} {count:,}" for label, count in list(data.labels.items())[:LABELS_SHOWN])
    more = ", …" if data.label_count > min(LABELS_SHOWN, len(data.labels)) else ""
    facts = {"name": data.name, "version": data.sha256[:8], "encoding": data.encoding, "train": f"{data.train:,}",
             "valid": f"{data.valid:,}", "count": str(data.label_count), "labels": labels + more}  # fmt: skip
    lines = [say(lang, "data_found" if data.labels else "data_found_lines", **facts)]
    parts = [_left(reason, left, lang) for reason, left in data.left_out.items()]
    if parts:
        lines.append(say(lang, "data_left", parts=("; " if lang == "en" else "；").join(parts)))
    if data.once:
        lines.append(say(lang, "data_once", labels=", ".join(data.once)))
    counts = list(data.labels.items())
    if len(counts) > 1 and len(counts) == data.label_count and counts[0][1] >= UNBALANCED * counts[-1][1]:
        times = str(counts[0][1] // max(1, counts[-1][1]))
        lines.append(say(lang, "data_unbalanced", most=counts[0][0], least=counts[-1][0], times=times))
    return "\n".join(lines)


def _left(reason: str, left: Left, lang: Language) -> str:
    facts = {"count": f"{left.count:,}", "row": left.first, "reason": say(lang, f"left_{reason}")}
    return say(lang, "data_left_part" if left.first.isdigit() else "data_left_part_file", **facts)


def _line(found: DataSet, lang: Language) -> str:
    newest = found.newest
    facts = {
        "name": found.name, "file": newest.file, "size": size(newest.size), "by": newest.by,
        "at": f"<!date^{int(newest.at.timestamp())}^{{date_num}} {{time}}|{newest.at:%Y-%m-%d %H:%M} UTC>",
        "version": newest.sha256[:8], "rows": f"{newest.rows:,}",
    }  # fmt: skip
    at = facts.pop("at")
    line = say(lang, "data_line_rows" if newest.rows else "data_line", **facts) + f" · {at}"
    if newest.labels:
        shown = ", ".join(f"{label} {count:,}" for label, count in list(newest.labels.items())[:LABELS_SHOWN])
        more = newest.label_count - min(LABELS_SHOWN, len(newest.labels))
        line += "\n   " + say(
            lang, "data_labels", count=str(newest.label_count), labels=shown + (", …" if more > 0 else "")
        )
    return line
