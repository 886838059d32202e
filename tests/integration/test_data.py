"""Own data through the deployed stack: named, judged before a launch, trained on, and the model taken away."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import httpx

from local.stack import Stack
from tests.channel import ask, card, start, state_is, thread
from tests.integration.test_runs import job_of
from tests.uploads import data_of, upload
from tests.waiting import until

ROWS = [
    (f"第{i}次买了，质量很好，下次还来", "好评") if i % 3 else (f"第{i}单太差了，退货都不理人", "差评")
    for i in range(240)
]


def csv_of(header: str = "text,label") -> str:
    return f"{header}\n" + "".join(f"{text},{label}\n" for text, label in ROWS)


def test_own_texts_from_upload_to_model(stack: Stack, tmp_path: Path) -> None:
    """GB18030 with one damaged row: trained on the rest, the row is named in the thread; the model can be fetched by its
    link alone."""
    damaged = csv_of().replace("第7次买了，", "第7次,买了，", 1).encode("gb18030")
    version = upload(stack, "评论", "reviews-gb18030.csv", damaged, tmp_path).newest
    assert "`评论` · reviews-gb18030.csv" in ask(stack, "/data")
    job = start(stack, "/train ernie-cls data=评论 轮数=3 batch=16")
    state_is(stack, job, "已成功")
    done = job_of(stack, job)
    assert done.metrics["accuracy"] > 159 / 239, "always saying the more frequent label"
    assert done.data is not None
    assert done.data.sha256 == version.sha256 == done.spec.files["data"].sha256
    said = until(lambda: [reply for reply in thread(stack, job) if "GB18030" in reply])[0]
    assert "训练 215，验证 24" in said
    assert "首先是第 9 行" in said
    files = until(
        lambda: [m["files"] for m in stack.channel()["messages"] if m.get("files") and job in str(m["files"])]
    )[0]
    picture = stack.http.get(f"{stack.slack}/file/{files[0]['id']}").content
    assert picture.startswith(b"\x89PNG")
    assert "验证准确率" in files[0]["alt"]
    answer = ask(stack, f"/jobs model {job}")
    link = answer.split("<", 1)[1].split("|", 1)[0].replace("&amp;", "&")
    with zipfile.ZipFile(io.BytesIO(httpx.get(link, trust_env=False).content)) as packed:
        assert {"model.pdiparams", "labels.txt", "vocab.txt", "about.json", "README.md"} <= set(packed.namelist())
        assert packed.read("labels.txt").decode() == "好评\n差评"
    log = until(lambda: [text] if "finished step=" in (text := ask(stack, f"/jobs logs {job}")) else [])[0]
    assert f"[{job}/1]" in log


def test_wrong_data_are_heard_of_before_any_launch(stack: Stack, tmp_path: Path) -> None:
    upload(stack, "broken", "b.csv", csv_of("文本,备注").encode("utf-16"), tmp_path)
    before = len([m for m in stack.channel()["messages"] if m["blocks"]])
    free = ask(stack, "/budget")
    for words, found in (
        ("data=broken", "`b.csv`: which column holds the labels? Its columns: 文本, 备注."),
        ("data=broken label_column=备住", "您是不是想用 `备注`？"),
        ("data=brokn", "Did you mean `broken`?"),
        ("data=s3://elsewhere/x.csv", "Paddock may not read the bucket `elsewhere`"),
        ("data=broken label_column=文本", "不能同时是文本和标签"),
    ):
        answer = ask(stack, f"/train ernie-cls {words}")
        assert found in answer, answer
        assert answer.startswith(("That was not started: nothing is queued", "未启动：没有排队，也没有花费"))
    assert ask(stack, "/train image-cls data=broken").count("is no archive") == 1
    assert ask(stack, "/budget") == free
    assert len([m for m in stack.channel()["messages"] if m["blocks"]]) == before
    upload(stack, "broken", "b.csv", csv_of("文本,标签").encode("utf-16"), tmp_path)
    job = start(stack, "/train ernie-cls data=broken epochs=1")
    state_is(stack, job, "succeeded")
    assert any("UTF-16" in reply for reply in thread(stack, job))


def test_a_fault_beyond_the_first_part_stops_it_in_words(stack: Stack, tmp_path: Path) -> None:
    """The first megabyte is fine, the rest is not: the trainer stops before it trains, and says where."""
    good = csv_of() * 90
    assert len(good.encode()) > 1 << 20
    upload(stack, "long", "long.csv", (good + "torn,a,b\n" * 3000).encode(), tmp_path)
    job = start(stack, "/train ernie-cls data=long")
    text = state_is(stack, job, "failed")
    line = good.count("\n") + 1
    assert f"3000 of {240 * 90 + 3000 + 89} rows cannot be used" in text
    assert f"First in line {line}: it has another number of columns" in text
    assert job_of(stack, job).last_attempt == 1, "the same again would fail the same way"


def test_a_run_keeps_the_version_it_began_with(stack: Stack, tmp_path: Path) -> None:
    first = upload(stack, "moving", "m.csv", csv_of().encode(), tmp_path).newest
    job = start(stack, "/train ernie-cls data=moving epochs=1")
    state_is(stack, job, "succeeded")
    assert len(upload(stack, "moving", "m.csv", csv_of().replace("很好", "不错").encode(), tmp_path).versions) == 2
    again = start(stack, f"/train ernie-cls epochs=2 resume={job}")
    state_is(stack, again, "succeeded")
    assert job_of(stack, again).spec.files["data"].sha256 == first.sha256
    assert data_of(stack).remove("moving") is not None
    answer = ask(stack, f"/train ernie-cls epochs=3 resume={job}")
    assert "could not be read" in answer or "is not there" in answer
    assert "moving" not in ask(stack, "/data")
    assert card(stack, again)
