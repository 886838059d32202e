"""Cards: within Slack's limits, whole in `text`, harmless, in both languages."""

from __future__ import annotations

import json
import string
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import wording
from bot.cards import card, explain, resume_command
from bot.quantities import bar, span
from jobs.job import Job, State, Why
from jobs.lifecycle import step
from jobs.messages import Checkpoint, Failed, Progress
from local.workspace import Workspace
from tests.samples import after, booting, launching, must, queued, running, seen, tick

PROGRESS = Progress(
    job="abcdefgh", attempt=1, seq=2, at=after(160), step=390, steps=750, epoch=1, epochs=3, loss=0.4321,
    metrics={"accuracy": 0.785}, samples_per_s=720.0,
)  # fmt: skip


def training() -> Job:
    job, _ = step(running(), PROGRESS, after(160))
    job, _ = step(job, tick(after(170), seen()), after(170))
    saved = Checkpoint(job="abcdefgh", attempt=1, seq=3, at=after(170), step=375, epoch=1, key="k", sha256="0")
    return must(step(job, saved, after(171))[0])


def test_everything_is_on_the_card_and_in_its_text() -> None:
    shape = card(training())
    drawn = json.dumps(shape.blocks, ensure_ascii=False)
    for part in ("ernie-cls", "running", "<@U0ADA>", "epoch 2/3", "step 390/750", "52 %", "0.4321", "78.5 %", "720",
                 "g4dn.xlarge", "us-east-1a", "$0.16/h", "of $5.00", "projected", "step 375", "abcdefgh"):  # fmt: skip
        assert part in drawn
        assert part in shape.text
    assert {e["action_id"] for b in shape.blocks if b["type"] == "actions" for e in b["elements"]} == {
        "stop",
        "details",
    }


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_state_has_a_card_that_slack_takes(state: State, language: str) -> None:
    job = training().with_(state=state, language=language)
    shape = card(job)
    Workspace().post({"channel": "C0PADDOCK", "text": shape.text, "blocks": shape.blocks})
    assert len(shape.text) <= 4000
    assert (wording.SENTENCES[f"state_{state.value}"][language == "zh"]) in shape.text


@pytest.mark.parametrize("job", [queued(), launching(), booting(), running()], ids=lambda j: j.state.value)
def test_early_cards(job: Job) -> None:
    Workspace().post({"channel": "C0PADDOCK", "text": card(job).text, "blocks": card(job).blocks})


@given(st.text(max_size=3000), st.text(max_size=3000))
def test_whatever_a_trainer_says_stays_text(reason: str, detail: str) -> None:
    noisy = f"{reason} <!channel> <@U1> {detail}"
    failed = Failed(job="abcdefgh", attempt=1, seq=3, at=after(200), reason=noisy[:2000], detail=detail, final=True)
    shape = card(must(step(running(), failed, after(200))[0]))
    assert "<!" not in shape.text.replace("<@U0ADA>", "")
    Workspace().post({"channel": "C0PADDOCK", "text": shape.text, "blocks": shape.blocks})


def test_no_heartbeat_is_said() -> None:
    job, _ = step(running(), tick(after(100 + 200), seen()), after(100 + 200))
    assert "No heartbeat" in card(must(job)).text


def test_the_command_that_goes_on() -> None:
    job = running().with_(command="/train ernie-cls epochs=3 resume=zzzzzzzz")
    assert resume_command(job) == "/train ernie-cls epochs=3 resume=abcdefgh"


def test_both_languages_use_the_same_facts() -> None:
    for code, (english, chinese) in wording.SENTENCES.items():
        names = [{f for _, f, _, _ in string.Formatter().parse(text) if f} for text in (english, chinese)]
        assert names[0] == names[1], code


def test_a_reason_shows_spans_of_time() -> None:
    assert "2h" in explain(Why(code="out_of_time", facts={"time_s": "7200"}), "en")
    assert "2小时" in explain(Why(code="out_of_time", facts={"time_s": "7200"}), "zh")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.6, "1m"), (65, "1m 05s"), (3600, "1h"), (7500, "2h 05m"), (180_000, "2d 2h")]
)
def test_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_bar() -> None:
    assert bar(0.52) == "██████████░░░░░░░░░░ 52 %"
    assert bar(7) == "█" * 20 + " 100 %"


def test_spend_is_at_most_before_it_is_settled() -> None:
    job = training().with_(state=State.STOPPED, ended_at=after(180))
    assert "at most $" in card(job).text
    assert Decimal(0) < job.spent
