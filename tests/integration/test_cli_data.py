"""`paddock data`, `model`, `predict`, `logs` and `clean`, beside a running `make console` and after it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from local.places import ROOT, TRAINER_PYTHON
from tests.integration.test_data import csv_of
from tests.waiting import PATIENCE_S, until


def test_from_a_file_to_an_answer_in_a_terminal(tmp_path: Path) -> None:
    env = {**os.environ, "PADDOCK_HOME": str(tmp_path / "home"), "PADDOCK_TRAINER_PYTHON": str(TRAINER_PYTHON),
           "PYTHONPATH": str(ROOT), "COLUMNS": "200"}  # fmt: skip

    def paddock(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "local.cli", *words]
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    file = tmp_path / "reviews-gb18030.csv"
    file.write_bytes(csv_of().replace("第7次买了，", "第7次,买了，", 1).encode("gb18030"))
    log = tmp_path / "console.log"
    with log.open("wb") as out:
        console = subprocess.Popen([sys.executable, "-m", "local.cli", "console"], cwd=ROOT, env=env, stdout=out, stderr=out,
                                   start_new_session=True)  # fmt: skip
    try:
        slack = until(lambda: re.search(r"The channel: (http://\S+)/", log.read_text()))[1]
        said = paddock("data", "put", "mine", str(file))
        assert "240 rows (GB18030), 239 usable, 2 labels" in said
        assert "1 left out: it has another number of columns" in said
        assert "the same content as before" in paddock("data", "put", "mine", str(file))
        assert "is not a name" in paddock("data", "put", "two words", str(file), code=2)

        def texts() -> str:
            return "\n".join(m["text"] for m in httpx.get(f"{slack}/state", trust_env=False).json()["messages"])

        httpx.post(
            f"{slack}/type",
            json={"text": "/train ernie-cls data=mine epochs=3 batch=16", "user": "U0ADA"},
            trust_env=False,
        )
        job = until(lambda: re.search(r"Starting `([a-z2-7]{8})`", texts()))[1]
        until(lambda: f"`{job}` · attempt 1" in texts(), texts)
        assert f"mine is used by {job}" in paddock("data", "rm", "mine", code=2)
        assert "finished step=42" in paddock("logs", job, "--follow")
        until(lambda: f"`{job}` (ernie-cls): succeeded" in texts(), texts)
        assert "Fetched" in paddock("model", "get", job, str(tmp_path / "model"))
        assert "# text classification with ERNIE" in (tmp_path / "model" / "README.md").read_text()
        assert "is not empty" in paddock("model", "get", job, str(tmp_path / "model"), code=2)
        assert "Nothing is past its time." in paddock("clean")
        shown = paddock("clean", "--older", "0s", "--checkpoints")
        assert job in shown
        assert "--yes" in shown
        assert "Freed" in paddock("clean", "--older", "0s", "--checkpoints", "--yes")
        assert "Nothing is past its time." in paddock("clean", "--older", "0s", "--checkpoints")
    finally:
        console.send_signal(signal.SIGINT)
        console.wait(PATIENCE_S)
    answers = paddock("predict", job, "第31次买了，质量很好，下次还来", "第33单太差了，退货都不理人")
    assert [line.split()[0] for line in answers.splitlines() if "第3" in line] == ["好评", "差评"]
    assert "Deleted mine: 1 versions" in paddock("data", "rm", "mine"), "what was uploaded outlasts a stack"
    assert "There are no data called mine." in paddock("data", "rm", "mine", code=2)
