"""The channel's web page in a real browser: type a command, see the card change, press its buttons."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from local.stack import Stack
from tests.waiting import until

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic", "--no-first-run",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
SHOTS = os.environ.get("PADDOCK_SHOTS")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "the browser tests need chromium (Debian: apt-get install chromium)"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, stack: Stack) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    opened.goto(stack.slack)
    expect(opened.locator("#user option")).to_have_count(2)
    yield opened
    context.close()
    assert problems == []


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def type_(page: Page, text: str) -> None:
    page.get_by_label("Command").fill(text)
    page.get_by_role("button", name="Send").click()


def test_a_wrong_command_is_answered_privately(page: Page) -> None:
    type_(page, "/train erny-cls epoch=abc")
    answer = page.locator(".private-message").last
    expect(answer).to_contain_text("Did you mean ernie-cls?")
    expect(answer).to_contain_text("Only visible to you")
    page.get_by_label("You are").select_option("U0LIN")
    expect(page.get_by_text("Did you mean")).to_have_count(0)


def test_a_run_from_command_to_stop(page: Page, stack: Stack) -> None:
    type_(page, "/train ernie-cls 轮数=500 samples=640")
    answer = page.locator(".private-message").last
    expect(answer).to_contain_text("正在启动")
    job = re.search(r"[a-z2-7]{8}", answer.locator("code").first.inner_text())
    assert job
    card = page.locator("article", has=page.locator(".card")).filter(has_text=job.group(0))
    expect(card.locator("h2")).to_contain_text("运行中", timeout=60_000)
    expect(card).to_contain_text(re.compile(r"第 \d+/500 轮 · 第 \d+/10000 步"), timeout=60_000)
    expect(card.locator(".mention")).to_contain_text("@ada")
    shot(page, "running")
    card.get_by_role("button", name="详情").click()
    modal = page.locator("#modal")
    expect(modal).to_contain_text("samples")
    shot(page, "details")
    modal.get_by_role("button", name="关闭").click()
    expect(modal).to_be_hidden()
    card.get_by_role("button", name="停止").click()
    confirm = page.locator("#confirm")
    expect(confirm).to_contain_text("停止训练？")
    confirm.get_by_role("button", name="继续运行").click()
    expect(card.locator("h2")).to_contain_text("运行中")
    card.get_by_role("button", name="停止").click()
    confirm.get_by_role("button", name="停止").click()
    expect(card.locator("h2")).to_contain_text("已停止", timeout=30_000)
    expect(card.get_by_role("button", name="停止")).to_have_count(0)
    expect(page.locator("article.reply").last).to_contain_text(job.group(0))
    shot(page, "stopped")
    until(lambda: not stack.instances())
