"""Own code: what is read of its output, and what is shown of its logs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.logs import MASK, Masked, lines_that_matter, plain
from trainer_image.trainer.own_code.progress_lines import ProgressLines, Seen

NLP = (
    "[2024-08-31 16:19:13,748] [    INFO] -   Num Epochs = 3",
    "[2024-08-31 16:19:13,748] [    INFO] -   Total optimization steps = 37,800",
    "\x1b[32m[2024-08-31 16:19:16,008] [    INFO]\x1b[0m - loss: 3.25806541, learning_rate: 2.999e-05, global_step: 10, "
    "interval_runtime: 2.2591, interval_samples_per_second: 3.541, interval_steps_per_second: 4.427, progress_or_epoch: 1.0265",
)
OCR = (
    "[2022/02/22 07:58:05] ppocr INFO: train dataloader has 31 iters",
    "[2022/02/22 07:58:05] ppocr INFO: epoch: [3/500], global_step: 70, lr: 0.000780, acc: 0.312500, norm_edit_dis: 0.512, "
    "loss: 15.182331, avg_reader_cost: 0.00022 s, avg_batch_cost: 0.26141 s, avg_samples: 64.0, ips: 244.82 samples/s, eta: 1:02:03",
)
DET = (
    "[07/28 22:27:11] ppdet.engine INFO: Epoch: [148] [ 20/791] learning_rate: 0.000010 loss_xy: 2.089241 loss_wh: 0.264828 "
    "loss: 4.587981 eta: 0:54:16 batch_cost: 1.7235 data_cost: 1.4684 ips: 4.6417 images/s",
)
CLAS = (
    "[2022/08/04 11:03:37] ppcls INFO: [Train][Epoch 2/120][Iter: 10/1252]lr(LinearWarmup): 0.00100000, top1: 0.39063, top5: 0.5, "
    "CELoss: 7.05, loss: 7.05123, batch_cost: 1.80511s, reader_cost: 0.91, ips: 140.50123 samples/s, eta: 3 days, 2:01:02",
)


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        (NLP, Seen(10, 37800, 1, 3, 3.25806541, {}, 3.541)),
        (OCR, Seen(70, 15500, 2, 500, 15.182331, {"acc": 0.3125, "norm_edit_dis": 0.512}, 244.82)),
        (DET, Seen(148 * 791 + 20, None, 148, None, 4.587981, {}, 4.6417)),
        (CLAS, Seen(1262, 150240, 1, 120, 7.05123, {"top1": 0.39063, "top5": 0.5}, 140.50123)),
        (('{"step": 5, "steps": 9, "loss": 0.25, "metrics": {"acc": 1}}',), Seen(5, 9, None, None, 0.25, {"acc": 1.0})),
        (('{"step": true}', '{"message": "hi"}', "step 5", "loss: 3, but no step", "{torn"), None),
    ],
)
def test_progress_of_paddles_own_programs(lines: tuple[str, ...], seen: Seen | None) -> None:
    reads = ProgressLines()
    assert [reads.read(line) for line in lines][-1] == seen


@given(st.text(max_size=120))
def test_any_line_can_be_read(line: str) -> None:
    ProgressLines().read(line)
    ProgressLines().read("{" + line)
    Masked()(plain(line))


def test_secrets_are_masked() -> None:
    mask = Masked(("hunter22", "abc"))
    said = mask(
        "wandb hunter22 login xoxb-123-abc AKIAABCDEFGHIJKLMNOP password=geheim hf_abcdefghijklmnopqrstuvwx abc"
    )
    assert said == f"wandb {MASK} login {MASK} {MASK} password={MASK} {MASK} abc"


def test_the_lines_that_matter() -> None:
    noise = [f"step {i}" for i in range(50)]
    trace = [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "    x = 1 / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert lines_that_matter([*noise, *trace, "LAUNCH INFO terminating", "exit code 1"]) == trace
    long = [trace[0], *(f"  frame {i}" for i in range(40)), "ValueError: bad"]
    assert lines_that_matter([*noise, *long])[-1] == "ValueError: bad"
    assert len(lines_that_matter([*noise, *long])) == 12
    assert "CUDA error: device-side assert" in lines_that_matter([*noise, "CUDA error: device-side assert", "bye"])
    assert lines_that_matter(noise) == noise[-12:]
    assert plain("10%\r50%\r\x1b[32m100%\x1b[0m") == "100%"
