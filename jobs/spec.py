"""What was asked for: a recipe, its parameters, its limits. Everything that a person types is judged here."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

from pydantic import model_validator

from jobs.data.dataset import ADDRESS, NAME, PLACE, FileRef
from jobs.model import Model, Usd
from jobs.money import SYMBOLS, Currency
from jobs.problem import Problem
from jobs.recipe import Param, Value
from jobs.recipes import RECIPES

LOWEST_BUDGET, HIGHEST_BUDGET = Decimal("0.01"), Decimal(10_000)
LOWEST_TIME_S, HIGHEST_TIME_S = 30, 14 * 24 * 3600

LIMIT_ALIASES = {
    "budget": ("budget", "预算"),
    "time": ("time", "时长", "时间"),
    "resume": ("resume", "from", "续训"),
    "keep": ("keep", "保留"),
}
Keep = Literal["7d", "30d", "90d", "365d", "forever"]
KEEPS: tuple[Keep, ...] = get_args(Keep)
"""How long a run's checkpoints and model are kept. Each is a rule of the bucket's own (template.yaml)."""
_UNITS = {
    1: ("s", "sec", "secs", "second", "seconds", "秒", "秒钟"),
    60: ("m", "min", "mins", "minute", "minutes", "分", "分钟"),
    3600: ("h", "hr", "hrs", "hour", "hours", "时", "小时", "个小时", "钟头", "个钟头"),
    86_400: ("d", "day", "days", "天", "日"),
}
_UNIT_S = {unit: seconds for seconds, units in _UNITS.items() for unit in units}
_LONGEST_FIRST = "|".join(sorted(_UNIT_S, key=len, reverse=True))
_TIME = re.compile(rf"(\d+(?:\.\d+)?)({_LONGEST_FIRST})(?![a-z])")


class Limits(Model):
    """The most a run may cost (in `currency`) and last (seconds from its first launch)."""

    budget: Usd
    time_s: int
    currency: Currency = "USD"


class JobSpec(Model):
    """A checked request. `params` holds every parameter of the recipe.

    Raises pydantic's ValidationError for an unknown recipe, a missing, unknown or out-of-bounds parameter."""

    recipe: str
    params: dict[str, Value | None]
    limits: Limits
    resume: str | None = None
    """The id of the job whose last checkpoint this run starts from."""
    keep: Keep = "90d"
    """How long its checkpoints and model are kept, from when each was written."""
    files: dict[str, FileRef] = {}
    """By parameter: the very version of the data that was named."""

    @model_validator(mode="before")
    @classmethod
    def _older(cls, raw: Any) -> Any:
        """A run that was stored before its recipe had a parameter is as if it had been left out."""
        recipe = RECIPES.get(raw.get("recipe", "")) if isinstance(raw, dict) else None
        if recipe is None or not isinstance(raw.get("params"), dict):
            return raw
        return {**raw, "params": {p.name: p.default for p in recipe.params} | raw["params"]}

    @model_validator(mode="after")
    def _params_fit(self) -> JobSpec:
        recipe = RECIPES.get(self.recipe)
        if recipe is None:
            raise ValueError(f"unknown recipe {self.recipe!r}")
        if set(self.params) != {p.name for p in recipe.params}:
            raise ValueError(f"parameters {sorted(self.params)} are not those of {self.recipe}")
        for param in recipe.params:
            value = self.params[param.name]
            if value is None and param.required:
                raise ValueError(f"{param.name} is missing")
            if value is not None and isinstance(read_value(param, str(value)), Problem):
                raise ValueError(f"{param.name}={value!r} is out of bounds")
        if not LOWEST_BUDGET <= self.limits.budget <= HIGHEST_BUDGET:
            raise ValueError("budget out of bounds")
        if not LOWEST_TIME_S <= self.limits.time_s <= HIGHEST_TIME_S:
            raise ValueError("time out of bounds")
        return self


def read_value(param: Param, text: str) -> Value | Problem:
    """`text` as a value of `param`, or what is wrong with it."""
    facts = {"key": param.name, "value": text, "example": param.example}
    if not text:
        return Problem(code="empty_value", facts=facts)
    if param.kind == "data":
        if text in param.choices or (PLACE if text.startswith("s3:") else NAME).fullmatch(text):
            return text
        return Problem(code="not_data", facts=facts | {"choices": ", ".join(param.choices)})
    if param.kind == "code":
        text = f"https://{text}" if "/" in text and "://" not in text else text  # as browsers do
        fits = (ADDRESS if "://" in text else NAME).fullmatch(text)
        return text if fits else Problem(code="not_code", facts=facts)
    if param.kind == "text":
        if len(text) > param.longest:
            return Problem(code="too_long", facts=facts | {"bound": str(param.longest), "length": str(len(text))})
        return text if re.fullmatch(param.form, text, re.ASCII) else Problem(code="not_a_name", facts=facts)
    if param.kind == "choice":
        if text.lower() in param.choices:
            return text.lower()
        return Problem(code="not_a_choice", facts=facts | {"choices": ", ".join(param.choices)})
    number = _number(text)
    if number is None:
        return Problem(code="not_a_number", facts=facts)
    if param.kind == "int" and number != number.to_integral_value():
        return Problem(code="not_whole", facts=facts)
    if param.low is not None and number < param.low:
        return Problem(code="too_low", facts=facts | {"bound": f"{param.low:f}"})
    if param.high is not None and number > param.high:
        return Problem(code="too_high", facts=facts | {"bound": f"{param.high:f}"})
    return int(number) if param.kind == "int" else float(number)


_DOLLARS, _YUAN = r"us\s*\$|\$|usd|(?:us\s*)?dollars?|bucks?|美元|美金|美刀|刀", r"[¥￥]|cny|rmb|yuan|人民币|元|块钱|块"
_OTHERS = r"[€£₩₹]|eur|gbp|jpy|euros?|pounds?|欧元|日元|英镑|港币|港元|hkd"
_CURRENCIES: dict[Currency, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "USD": (re.compile(rf"(?i)^(?:{_DOLLARS})|(?:{_DOLLARS})$"), re.compile(rf"(?i){_YUAN}|{_OTHERS}")),
    "CNY": (re.compile(rf"(?i)^(?:{_YUAN})|(?<!美)(?:{_YUAN})$"), re.compile(rf"(?i){_DOLLARS}|{_OTHERS}")),
}
"""By currency: what may stand before or after an amount, and what means another currency."""
CURRENCY_WORD = re.compile(rf"(?i){_DOLLARS}|{_YUAN}|{_OTHERS}")
TIME_WORD = re.compile(rf"(?i)\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?)?(?:{_LONGEST_FIRST})")


def read_budget(
    text: str, currency: Currency, low: Decimal = LOWEST_BUDGET, high: Decimal = HIGHEST_BUDGET
) -> Decimal | Problem:
    """An amount in the deployment's currency: `$5`, `5.50`, `$1,000`, `5 dollars`; in China `¥30`, `30元`; or what is
    wrong.

    An amount in another currency is refused, never converted."""
    symbol = SYMBOLS[currency]
    facts = {"key": "budget", "value": text, "example": f"budget={symbol}5", "currency": currency}
    own, foreign = _CURRENCIES[currency]
    plain = own.sub("", text.strip()).strip()
    if foreign.search(plain):
        return Problem(code="other_currency", facts=facts)
    amount = _number(plain)
    if amount is None:
        return Problem(code="not_money", facts=facts)
    if amount < low:
        return Problem(code="too_low", facts=facts | {"bound": f"{symbol}{low:f}"})
    if amount > high:
        return Problem(code="too_high", facts=facts | {"bound": f"{symbol}{high:f}"})
    if amount != amount.quantize(Decimal("0.0001")):
        return Problem(code="not_money", facts=facts)
    return amount


def read_time(text: str, low_s: int = LOWEST_TIME_S) -> int | Problem:
    """A time span in seconds: `90s`, `30m`, `1h30m`, `2 hours`, `2小时`; or what is wrong with it."""
    facts = {"key": "time", "value": text, "example": "time=2h"}
    plain = "".join(text.lower().split())
    if _number(plain) is not None:
        return Problem(code="no_unit", facts=facts)
    parts = _TIME.findall(plain)
    if not parts or "".join(number + unit for number, unit in parts) != plain:
        return Problem(code="not_a_time", facts=facts)
    total = int(sum(Decimal(number) * _UNIT_S[unit] for number, unit in parts))
    if total < low_s:
        return Problem(code="too_low", facts=facts | {"bound": f"{low_s}s"})
    if total > HIGHEST_TIME_S:
        return Problem(code="too_high", facts=facts | {"bound": f"{HIGHEST_TIME_S // 86400}d"})
    return total


def read_keep(text: str) -> Keep | Problem:
    """One of KEEPS; `1y` and words for always are understood."""
    plain = {"1y": "365d", "1年": "365d", "always": "forever", "永久": "forever", "一直": "forever"}.get(
        text.lower(), text.lower()
    )
    plain = plain.replace("天", "d")
    found = next((keep for keep in KEEPS if keep == plain), None)
    if found is not None:
        return found
    facts = {"key": "keep", "value": text, "choices": ", ".join(KEEPS), "example": KEEPS[1]}
    return Problem(code="not_a_choice", facts=facts)


def _number(text: str) -> Decimal | None:
    """A plain number, or one with commas between thousands: `1,000`, `5,000.00`."""
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", text, re.ASCII):
        text = text.replace(",", "")
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", text, re.ASCII):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
