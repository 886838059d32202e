"""`script` without the stack around it: its user, its checkpoints, its exit codes. In the trainer's own Python."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from local.places import ROOT, TRAINER_PYTHON
from tests.trainer.attempts import uploaded

RUN = """if True:
    import json, sys, tempfile
    from pathlib import Path
    from jobs.messages import RunSpec
    from jobs.recipes import RECIPES
    from trainer_image.trainer.recipes import script
    from trainer_image.trainer.reports import Reporter
    from trainer_image.trainer.setting import Setting
    from trainer_image.trainer.storage import Folder
    root, asked = Path(sys.argv[1]), json.loads(sys.argv[2])
    params = {p.name: p.default for p in RECIPES["script"].params} | asked["params"]
    spec = RunSpec(job="abcdefgh", attempt=1, recipe="script", params=params, bucket="own", checkpoints="jobs/a/checkpoints",
                   result="jobs/a/result.json", models="jobs/a/model", files=asked["files"], reports="-", resume_from=None,
                   token="t" * 16, region="us-east-1")
    class Kept:
        bodies = []
        def send(self, body): self.bodies.append(json.loads(body)["report"])
    with tempfile.TemporaryDirectory() as scratch:
        setting = Setting(spec, RECIPES["script"], params, Path(scratch), Folder(root / "own"), Reporter(spec, Kept()),
                          lambda: False, lambda name: Folder(root / name))
        code = script.run(setting)
    print("RESULT " + json.dumps([code, Kept.bodies]))
"""


def run(root: Path, source: str, env: dict[str, str] | None = None, **params: Any) -> tuple[int, list[dict[str, Any]]]:
    """One attempt at `python main.py`; its exit code and its reports."""
    files = {"code": uploaded(root, "main.py", source.encode())}
    asked = {"params": {"code": "mine", "run": "python main.py", **params}, "files": files}
    done = subprocess.run([str(TRAINER_PYTHON), "-c", RUN, str(root), json.dumps(asked)], cwd=ROOT, capture_output=True, text=True,
                          timeout=100, check=False, env={**os.environ, **(env or {})})  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    code, reports = json.loads(line.removeprefix("RESULT "))
    return code, reports


WRITES = """
import json, os, pathlib, sys
kept, out = pathlib.Path(os.environ["PADDOCK_CHECKPOINTS"]), pathlib.Path(os.environ["PADDOCK_OUTPUT"])
before = (kept / "sub" / "state").read_text() if os.environ["PADDOCK_RESUME"] else "nothing"
(kept / "sub").mkdir(exist_ok=True)
(kept / "sub" / "state").write_text(before + "+")
(out / "said.json").write_text(json.dumps([before, os.getuid(), sorted(k for k in os.environ if "AWS" in k)]))
print(json.dumps({"step": 7, "steps": 9}))
sys.exit(%d)
"""


def test_checkpoints_are_there_again_and_exit_codes_mean_what_they_say(tmp_path: Path) -> None:
    code, reports = run(tmp_path, WRITES % 75)
    assert (code, reports[-1]["kind"]) == (75, "yielded")
    assert [r["step"] for r in reports if r["kind"] == "checkpoint"] == [7]
    code, reports = run(tmp_path, WRITES % 77)
    assert code == 77
    assert (reports[0]["resumed_step"], reports[-1]["reason"], reports[-1]["final"]) == (7, "out of memory", False)
    code, reports = run(tmp_path, WRITES % 3)
    assert (code, reports[-1]["reason"], reports[-1]["final"]) == (1, "exit code 3", True)
    code, reports = run(tmp_path, WRITES % 0)
    assert (code, reports[-1]["kind"]) == (0, "finished")
    with zipfile.ZipFile(tmp_path / "own" / reports[-1]["model"]["key"]) as packed:
        before, _, aws = json.loads(packed.read("said.json"))
        assert {"said.json", "about.json"} == set(packed.namelist())
    assert before == "nothing+++"
    assert aws == []
    code, reports = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (code, reports[-1]["reason"], reports[-1]["final"]) == (1, "signal 9", False), (
        "tried again: it may be memory"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in the container, to become another user")
def test_it_runs_unprivileged(tmp_path: Path) -> None:
    import pwd

    shell = 'id -u > "$PADDOCK_OUTPUT/user"; env > "$PADDOCK_OUTPUT/env"; echo kept > "$PADDOCK_CHECKPOINTS/state"'
    env = {"PADDOCK_SCRIPT_USER": "nobody", "AWS_ACCESS_KEY_ID": "AKIA"}
    code, reports = run(tmp_path, shell, env, run="sh main.py")
    assert code == 0, reports[-1]
    with zipfile.ZipFile(tmp_path / "own" / reports[-1]["model"]["key"]) as packed:
        assert int(packed.read("user")) == pwd.getpwnam("nobody").pw_uid
        assert b"AWS" not in packed.read("env")


def test_packages_that_cannot_be_installed_are_named(tmp_path: Path) -> None:
    files = {"code": uploaded(tmp_path, "main.py", b"print(1)")}
    asked = {
        "params": {"code": "mine", "run": "python main.py", "requirements": "no-such-package-at-all==9"},
        "files": files,
    }
    done = subprocess.run([str(TRAINER_PYTHON), "-c", RUN, str(tmp_path), json.dumps(asked)], cwd=ROOT, capture_output=True, text=True,
                          timeout=100, check=False, env={**os.environ, "PIP_NO_INDEX": "1"})  # fmt: skip
    assert "requirements_failed" in done.stderr
    assert "no-such-package-at-all" in done.stderr
