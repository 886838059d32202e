"""The team's month: what is held, what is said of it, what happens at its end."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from slack_sdk import WebClient

from bot.month_posting import tell_month
from bot.told import Told
from jobs.job import Job, State
from jobs.lifecycle import step
from jobs.messages import InstanceChanged, Launched, Quoted, StopRequested
from jobs.team import Ledger, MonthAlerts, entries, month_report, with_month_alert
from local.slack import Slack
from tests.samples import ADA, NOW, POOL, after, must, running, seen, submit, tick

MIDNIGHT = datetime(2027, 1, 1, tzinfo=timezone.utc)


def report(job: Job, cap: str, now: datetime = NOW, committed: str = "5") -> object:
    return month_report(Ledger(month="2026-12", committed=Decimal(committed)), Decimal(cap), [job], now, "USD")


def test_a_live_run_holds_its_budget_and_an_ended_one_what_it_spent() -> None:
    job = running()
    assert job.committed == {"2026-12": Decimal(5)}
    stopping, _ = step(job, StopRequested(job="abcdefgh", by=ADA), after(600))
    gone = InstanceChanged(job="abcdefgh", instance="i-1", attempt=1, change="terminated", at=after(610))
    over, _ = step(stopping, gone, after(611))
    assert must(over).committed == {"2026-12": must(over).spent}
    [moved] = entries(job, must(over))
    assert moved.committed == must(over).spent - 5
    assert moved.settled == must(over).spent


def test_the_ledger_moves_only_when_something_is_held_or_let_go() -> None:
    job = running()
    later, _ = step(job, tick(after(200), seen()), after(200))
    assert must(later).spent != job.spent
    assert entries(job, must(later)) == []


def test_a_run_that_may_reach_the_next_month_holds_both() -> None:
    start = MIDNIGHT - timedelta(minutes=30)
    job, _ = step(None, submit(budget="5", time_s=3600), start)
    assert must(job).committed == {"2026-12": Decimal(5), "2027-01": Decimal(5)}


def test_the_month_s_end_splits_the_spend() -> None:
    start = MIDNIGHT - timedelta(minutes=30)
    job, _ = step(None, submit(budget="5", time_s=7200), start)
    job, _ = step(job, Quoted(job="abcdefgh", pools=(POOL,)), start)
    job, _ = step(job, Launched(job="abcdefgh", attempt=1, instance="i-1", at=start), start)
    running_then = seen().with_(started_at=start)
    job, _ = step(job, tick(MIDNIGHT + timedelta(minutes=1), running_then), MIDNIGHT + timedelta(minutes=1))
    held = must(job).committed
    december = (Decimal("0.16") + POOL.rates.fixed) / 2
    assert december <= held["2026-12"] < december + Decimal("0.0001")
    assert held["2027-01"] == Decimal(5) - held["2026-12"]
    gone_at = MIDNIGHT + timedelta(minutes=10)
    job, _ = step(job, StopRequested(job="abcdefgh", by=ADA), gone_at)
    gone = InstanceChanged(job="abcdefgh", instance="i-1", attempt=1, change="terminated", at=gone_at)
    job, _ = step(job, gone, gone_at)
    assert must(job).state is State.STOPPED
    assert set(must(job).committed) == {"2026-12", "2027-01"}
    assert abs(sum(must(job).committed.values()) - must(job).spent) <= Decimal("0.0001")


def test_the_report_adds_live_runs() -> None:
    job, _ = step(running(), tick(after(3000), seen(), price="0.526"), after(3000))
    month = month_report(
        Ledger(month="2026-12", committed=Decimal(7), settled=Decimal(2), people={"U0LIN": Decimal(2)}), Decimal(100),
        [must(job)], after(3000), "USD",
    )  # fmt: skip
    assert month.spent == Decimal(2) + must(job).spent
    assert month.people == {"U0LIN": Decimal(2), "U0ADA": must(job).spent}
    assert month.free == Decimal(93)
    assert month.reserved == Decimal(7) - month.spent
    assert month.forecast > month.spent


def spending(amount: str) -> tuple[Job, object]:
    job = running().with_(spent=Decimal(amount))
    ledger = Ledger(month="2026-12", committed=Decimal(5), settled=Decimal(amount))
    return job, month_report(ledger, Decimal(10), [], NOW, "USD")


def test_each_share_of_the_month_once() -> None:
    known = MonthAlerts(month="2026-12")
    for amount in ("1", "5", "5.5", "6", "8", "9", "9.96", "10"):
        job, month = spending(amount)
        known = with_month_alert(known, month, [job], NOW)  # type: ignore[arg-type]
    assert [a.percent for a in known.alerts] == [50, 80, 100]
    assert known.alerts[0].job == "abcdefgh"


def test_the_month_s_alerts_go_to_the_budget_channel_and_the_spender_s_thread(slack: tuple[Slack, WebClient]) -> None:
    service, client = slack
    thread = client.chat_postMessage(channel="C0PADDOCK", text="card")["ts"]
    job, month = spending("8")
    known = with_month_alert(MonthAlerts(month="2026-12"), month, [job], NOW)  # type: ignore[arg-type]
    told = Told()
    for _ in range(3):
        told = tell_month(known, told, client, "C0PADDOCK", "zh", lambda _: job, lambda _: None, lambda _: str(thread))
    texts = [m["text"] for m in service.workspace.messages[1:]]
    assert len(texts) == 2
    assert "80%" in texts[0]
    assert texts[1].startswith("<@U0ADA> 80 %")
