"""Own code through the deployed stack: the documented example, alone and with Paddle's launcher."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from local.places import ROOT
from local.stack import Stack
from tests.channel import ask, card_says, start, state_is, thread
from tests.integration.test_runs import job_of
from tests.uploads import upload
from tests.waiting import until

EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "own-code.md").read_text(), re.S)[-1]


def packed(**files: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"my-code/{name.replace('_py', '.py')}", text)
    return target.getvalue()


@pytest.mark.parametrize(
    ("command", "steps"),
    [("python train.py", 60_000), ("python -m paddle.distributed.launch --nproc_per_node 2 train.py", 10_000)],
)
def test_the_documented_example_is_interrupted_and_goes_on(
    stack: Stack, tmp_path: Path, command: str, steps: int
) -> None:
    upload(stack, "my-code", "my-code.zip", packed(train_py=EXAMPLE), tmp_path)
    job = start(stack, f'/train script code=my-code run="{command} {steps}"')
    card_says(stack, job, "checkpoint at step")
    card_says(stack, job, f"/{steps}")
    stack.control("ec2", "interrupt", instance=stack.instances()[0], notice_s=20)
    resumed = card_says(stack, job, "resumed from step")
    assert "attempt 2" in resumed
    text = state_is(stack, job, "succeeded")
    assert f"step {steps}/{steps}" in text
    done = job_of(stack, job)
    assert [a.progressed for a in done.attempts] == [True, True]
    assert done.model is not None
    assert "model.pdiparams" in done.model.files
    assert "Holds model" in ask(stack, f"/jobs model {job}")
    assert done.code_version == done.spec.files["code"].sha256


def test_what_fails_says_why_and_secrets_stay_secret(stack: Stack, tmp_path: Path) -> None:
    code = (
        "import json, os\nprint('key', os.environ['WANDB_API_KEY'], flush=True)\n"
        "print(json.dumps({'step': 3, 'metrics': {'bleu': 0.5}}), flush=True)\n"
        "assert not [k for k in os.environ if k.startswith('AWS')], 'no rights of the trainer'\n"
        "raise RuntimeError('the <!channel> disk is on fire')\n"
    )
    upload(stack, "bad-code", "bad.py", code.encode(), tmp_path)
    stack.client("secretsmanager").create_secret(
        Name="paddock/run/wandb", SecretString='{"WANDB_API_KEY": "s3cr3t-key"}'
    )
    job = start(stack, "/train script code=bad-code run='python bad.py' secret=wandb")
    text = state_is(stack, job, "failed")
    assert "RuntimeError: the &lt;!channel&gt; disk is on fire" in text
    assert "exit code 1" in text
    assert "bleu: 0.5" in text
    log = until(lambda: [text] if "RuntimeError" in (text := ask(stack, f"/jobs logs {job}")) else [])[0]
    assert "key •••" in log
    assert "s3cr3t-key" not in log + text + "".join(thread(stack, job))
    missing = start(stack, "/train script code=bad-code run='python bad.py' secret=nope")
    assert "There is no secret `nope`" in state_is(stack, missing, "failed")
    assert job_of(stack, missing).last_attempt == 1


def test_own_code_that_cannot_be_had_is_refused_when_typed(stack: Stack) -> None:
    for words, found in (
        ("code=https://evil.example/a/b@main run=ls", "code may not be fetched from `evil.example`"),
        ("code=nothing-there run=ls", "`code=nothing-there`: "),
        ("run=ls", "`code` is missing"),
        ("code=x", "`run` is missing"),
    ):
        assert found in ask(stack, f"/train script {words}")
