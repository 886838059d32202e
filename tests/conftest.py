"""What several folders of tests share: a deployed local stack, a Slack workspace."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from hypothesis import settings
from slack_sdk import WebClient

from local.places import listening, port_of
from local.slack import Slack
from local.stack import Stack, local_stack
from tests.waiting import until

TOKEN = "xoxb-for-tests"

# The same examples each time, so that a red test is a change's; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The deployed template.yaml with its stand-ins; nothing is kept of it."""
    with local_stack(kept=None) as running:
        yield running


@pytest.fixture
def slack() -> Iterator[tuple[Slack, WebClient]]:
    """The Slack stand-in alone, and a client of it."""
    listens = listening()
    service = Slack("a-signing-secret", TOKEN)
    server = uvicorn.Server(uvicorn.Config(service.app(), log_level="error"))
    thread = threading.Thread(target=server.run, args=([listens],), daemon=True)
    thread.start()
    until(lambda: server.started)
    yield service, WebClient(token=TOKEN, base_url=f"http://127.0.0.1:{port_of(listens)}/api/")
    server.should_exit = True
    thread.join()
