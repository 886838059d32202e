"""The channel's web page in a real browser: type a command, see the card change, press its buttons."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from local.stack import Stack
from tests.browser import chromium
from tests.waiting import PATIENCE_S, until

expect.set_options(timeout=PATIENCE_S * 1000)
SHOTS = os.environ.get("PADDOCK_SHOTS")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium.browser()
    if path is None:
        pytest.skip(chromium.NO_BROWSER)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
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
    expect(card.locator("h2")).to_contain_text("运行中")
    expect(card).to_contain_text(re.compile(r"第 \d+/500 轮 · 第 \d+/10000 步"))
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
    expect(card.locator("h2")).to_contain_text("已停止")
    expect(card.get_by_role("button", name="停止")).to_have_count(0)
    expect(page.locator("article.reply").last).to_contain_text(job.group(0))
    shot(page, "stopped")
    until(lambda: not stack.instances())


def test_a_card_whose_channel_paddock_is_not_in(page: Page, stack: Stack) -> None:
    """It is in the direct messages, and comes home with an invitation."""
    place = page.get_by_label("Where")
    place.select_option("C0LOUNGE")
    type_(page, "/train ernie-cls 轮数=500 samples=640")
    expect(page.locator(".private-message").last).to_contain_text("/invite @paddock")
    expect(page.locator(".private-message .mention").last).to_contain_text("#lounge")
    shot(page, "not-in-channel")
    place.select_option("D0ADA")
    expect(page.locator(".card h2").last).to_contain_text("运行中")
    shot(page, "direct-message")
    place.select_option("C0LOUNGE")
    type_(page, "/invite @paddock")
    card = page.locator("article", has=page.locator(".card")).last
    expect(card.locator("h2")).to_contain_text("运行中")
    card.get_by_role("button", name="停止").click()
    page.locator("#confirm").get_by_role("button", name="停止").click()
    expect(card.locator("h2")).to_contain_text("已停止")
    stack.control("slack", "leave", channel="C0LOUNGE")


@pytest.mark.skipif(not chromium.has_chinese_font(), reason=chromium.NO_FONT)
def test_chinese_is_drawn(page: Page) -> None:
    """Without a font every character is the same empty box."""
    draw = """text => {
        const canvas = document.createElement("canvas");
        const pen = canvas.getContext("2d");
        pen.font = getComputedStyle(document.body).font;
        pen.fillText(text, 10, 50);
        return canvas.toDataURL();
    }"""
    assert len({page.evaluate(draw, character) for character in "训练花费"}) == 4
