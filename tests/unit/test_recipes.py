"""What every recipe is, whatever it trains."""

from __future__ import annotations

import importlib.util
import re
from typing import get_args

import pytest

from bot.cards import measured
from bot.grammar import Train, Wrong, parse_train
from bot.sentences import SENTENCES
from jobs.problem import Code
from jobs.recipe import Metric
from jobs.recipes import RECIPES
from jobs.spec import JobSpec
from local.places import ROOT
from tests.samples import running, spec
from tests.unit.test_grammar import DEFAULTS


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_two_files_whose_example_works(name: str) -> None:
    module = name.replace("-", "_")
    assert (ROOT / "jobs" / "recipes" / f"{module}.py").exists()
    assert (ROOT / "trainer_image" / "trainer" / "recipes" / f"{module}.py").exists()
    recipe = RECIPES[name]
    assert isinstance(parse_train(recipe.example.removeprefix("/train "), DEFAULTS), Train)
    for param in recipe.params:
        typed = f"{name} {param.name}={param.example}"
        parsed = parse_train(typed, DEFAULTS)
        codes = [p.code for p in parsed.problems] if isinstance(parsed, Wrong) else []
        assert set(codes) <= {"missing"}, (typed, parsed)
    words = [alias for param in recipe.params for alias in (param.name, *param.aliases)]
    assert len(words) == len(set(words))


def test_only_recipes_know_their_metrics() -> None:
    """Neither the bot nor the jobs know the word; only files below jobs/recipes/ do."""
    for folder in ("bot", "jobs"):
        for path in (ROOT / folder).rglob("*.py"):
            if (ROOT / "jobs" / "recipes") not in path.parents:
                assert not re.search("accuracy|准确率", path.read_text()), path


def test_metrics_are_shown_as_their_recipe_says() -> None:
    assert Metric(name="a", title=("A", "甲")).shown(0.78549) == "78.5 %"
    assert Metric(name="p", title=("P", "乙"), form="number", digits=2, better="lower").shown(12.3456) == "12.35"
    assert Metric(name="p", title=("P", "乙"), better="lower").score(0.25) == -0.25
    job = running().with_(metrics={"macro_f1": 0.5, "accuracy": 0.75, "unknown": 1.0})
    assert measured(job, "en") == [("Validation accuracy", "75.0 %"), ("Macro F1", "50.0 %")]
    assert measured(job, "zh")[0] == ("验证准确率", "75.0 %")
    own = job.with_(spec=job.spec.with_(recipe="script"), metrics={"<!here>": 0.123456})
    assert measured(own, "en") == [("&lt;!here&gt;", "0.1235")]


def test_a_run_of_before_a_parameter_was_there_is_still_read() -> None:
    stored = spec().model_dump(mode="json")
    del stored["params"]["graph"]
    del stored["keep"]
    read = JobSpec.model_validate(stored)
    assert read.params["graph"] == "dynamic"
    assert read == spec()


@pytest.mark.parametrize(
    ("text", "keep"),
    [("", "90d"), ("keep=7d", "7d"), ("保留=30天", "30d"), ("keep=1y", "365d"), ("keep=永久", "forever")],
)
def test_how_long_things_are_kept(text: str, keep: str) -> None:
    parsed = parse_train(f"ernie-cls {text}", DEFAULTS)
    assert isinstance(parsed, Train)
    assert parsed.spec.keep == keep
    template = (ROOT / "template.yaml").read_text()
    assert keep == "forever" or f"Value: {keep} }}], ExpirationInDays: {keep.removesuffix('d')}" in template


def test_every_problem_has_its_sentence() -> None:
    assert set(get_args(Code)) <= set(SENTENCES)
    reasons = {
        "columns",
        "characters",
        "json",
        "no_text",
        "no_label",
        "two_labels",
        "repeat",
        "broken",
        "missing",
        "no_boxes",
        "long",
    }
    assert {f"left_{reason}" for reason in reasons} <= set(SENTENCES)


def test_every_sentence_is_used() -> None:
    """A sentence that nobody says is deleted. Those named by a state, a reason or a field of a message are built."""
    text = "\n".join(p.read_text() for folder in ("bot", "jobs", "local", "trainer_image") for p in (ROOT / folder).rglob("*.py")
                     if "sentences" not in p.parts)  # fmt: skip
    built = (
        "no_capacity_",
        "no_quota_",
        "data_no_",
        "state_",
        "left_",
        "help_",
        "wrong_",
        "alert_",
        "closed_",
        "schedule_",
    )
    said = set(re.findall(r"""["']([a-z_0-9]+)["']""", text))
    assert [code for code in SENTENCES if code not in said and not code.startswith(built)] == []


def test_keep_is_one_of_a_few() -> None:
    parsed = parse_train("ernie-cls keep=2w", DEFAULTS)
    assert isinstance(parsed, Wrong)
    assert parsed.problems[0].code == "not_a_choice"


def test_the_recipe_page_names_them_all() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text()
    assert all(f"`{name}`" in page for name in RECIPES)
    assert importlib.util.find_spec("jobs.recipes.lines") is None, "the page's example is nobody else's file"


@pytest.mark.parametrize(
    "address",
    ["https://github.com/team/repo", "https://github.com/team/repo@v1.2", "https://gitee.com/a/b.git@0a1b2c3",
     "<https://github.com/team/repo@main|github.com/team/repo@main>", "<https://github.com/team/repo@main>"],
)  # fmt: skip
def test_repositories_as_people_and_slack_write_them(address: str) -> None:
    parsed = parse_train(f'script code={address} run="python a.py --x=1 b c"', DEFAULTS)
    assert isinstance(parsed, Train), parsed
    assert str(parsed.spec.params["code"]).startswith("https://gite") or "github.com/team/repo" in str(
        parsed.spec.params["code"]
    )
    assert parsed.spec.params["run"] == "python a.py --x=1 b c"


@pytest.mark.parametrize(
    "address", ["ftp://x/y", "https://", "file:///etc/passwd", "git@github.com:a/b", "https://a b/c"]
)
def test_what_is_no_address(address: str) -> None:
    assert isinstance(parse_train(f'script code="{address}" run=ls', DEFAULTS), Wrong)
