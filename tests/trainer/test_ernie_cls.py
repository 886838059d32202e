"""`ernie-cls` with real Paddle on real text, run by the trainer's own Python."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from local.places import ROOT, TRAINER_PYTHON
from tests.trainer.attempts import attempt, attempts, exactly_resumed, uploaded

PARAMS: dict[str, Any] = {"epochs": 2, "samples": 640, "max_len": 32, "dropout": 0.1, "seed": 3}
REVIEWS = [
    (f"第{i}次买了，质量很好，下次还来", "好评") if i % 3 else (f"第{i}单太差了，退货都不理人", "差评")
    for i in range(240)
]


def csv_of(rows: list[tuple[str, str]]) -> str:
    return "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """With dropout, AdamW and a decaying learning rate: 40 steps, or 17 and 23 in a new process."""
    root = tmp_path_factory.mktemp("straight")
    return root, exactly_resumed(root, "ernie-cls", PARAMS, leave_after=17)


def test_a_resumed_run_is_bit_for_bit_the_same(trained: tuple[Path, dict[str, Any]]) -> None:
    straight = trained[1]
    assert straight["step"] == 40
    assert {"started", "progress", "checkpoint", "finished"} == set(straight["kinds"])
    assert straight["data"] is None, "nothing is said about data that the recipe ships"
    assert 0 <= straight["waiting"] < 1


def test_a_run_leaves_a_model_that_is_the_trained_one(trained: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    root, straight = trained
    model = straight["model"]
    assert model["difference"] < 1e-5
    with zipfile.ZipFile(root / "own" / model["key"]) as packed:
        packed.extractall(tmp_path)
    names = set(model["files"])
    assert {"README.md", "about.json", "curves.png", "labels.txt", "vocab.txt", "model.pdiparams"} <= names
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["metrics"] == straight["finished"]
    assert (about["recipe"], about["seed"], about["step"]) == ("ernie-cls", 3, model["step"])
    assert float(about["cost_usd_estimate"]) >= 0.5, "what earlier attempts cost is in it"
    assert len(about["code_version"]) == 12
    assert "Validation accuracy" in (tmp_path / "README.md").read_text()
    checkpoint = sum(p.stat().st_size for p in (root / "own/jobs/straight/checkpoints").glob("step-000000040*"))
    assert (tmp_path / "model.pdiparams").stat().st_size < checkpoint / 2, "no optimizer state goes along"
    said = subprocess.run([str(TRAINER_PYTHON), "-m", "trainer_image.trainer.predict", str(tmp_path), "很好，下次还来"],
                          cwd=ROOT, capture_output=True, text=True, timeout=100, check=True)  # fmt: skip
    [answer] = json.loads(said.stdout)
    assert {label["label"] for label in answer["labels"]} == {"good", "bad"}
    assert sum(label["share"] for label in answer["labels"]) == pytest.approx(1, abs=1e-3)


def test_a_resumed_run_honours_more_epochs_and_another_rate(
    trained: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """40 steps were done. More epochs: the rate is where a run of 60 steps would be. Another rate: it begins there.
    Both fall to 0 at the last step, and an interruption on the way changes nothing."""
    root = tmp_path / "copy"
    shutil.copytree(trained[0], root)
    longer = PARAMS | {"epochs": 3}
    asked = {"recipe": "ernie-cls", "job": "longer", "params": longer, "resume_from": "straight"}
    other = {**asked, "job": "other", "params": longer | {"lr": 1e-5}}
    first, again, third, fourth = attempts(root, asked | {"leave_after": 10}, asked, other | {"leave_after": 10}, other)
    assert (first["began"], first["step"], first["schedule"]) == (40, 50, "longer")
    assert first["rate"] == pytest.approx(2e-3 * 10 / 60)
    assert (again["began"], again["step"], again["schedule"]) == (50, 60, "as_planned")
    assert again["rate"] == pytest.approx(0.0)
    assert (third["began"], third["step"], third["schedule"]) == (40, 50, "new_rate")
    assert third["plan"]["falls_from"] == 40
    assert third["rate"] == pytest.approx(1e-5 / 2)
    assert fourth["rate"] == pytest.approx(0.0)


def test_own_data_static_graph_and_class_weights(tmp_path: Path) -> None:
    """GB18030 with a damaged row; the same losses from a static graph; a changed file is not gone on from."""
    rows = csv_of(REVIEWS).replace("第7次买了，", "第7次,买了，", 1)
    files = {"data": uploaded(tmp_path, "reviews.csv", rows.encode("gb18030"))}
    params = {"epochs": 2, "max_len": 24, "batch": 16, "class_weights": "balanced"}
    asked = {"recipe": "ernie-cls", "params": params, "files": files}
    dynamic, static = attempts(
        tmp_path, asked | {"job": "dynamic"}, asked | {"job": "static", "params": params | {"graph": "static"}}
    )
    data = dynamic["data"]
    assert (data["encoding"], data["label_count"], data["name"]) == ("GB18030", 2, "mine")
    assert data["labels"] == {"好评": 159, "差评": 80}
    assert data["left_out"] == {"columns": {"count": 1, "first": "9"}}
    assert data["train"] + data["valid"] == 239
    assert data["sha256"] == files["data"]["sha256"]
    assert dynamic["finished"]["accuracy"] > data["labels"]["好评"] / 239 + 0.1, "the majority's share"
    assert dynamic["finished"]["macro_f1"] > 0.9
    assert [loss for _, loss in static["losses"]] == pytest.approx([loss for _, loss in dynamic["losses"]], rel=1e-4)
    assert static["model"]["difference"] < 1e-5


def test_several_labels_for_a_text(tmp_path: Path) -> None:
    rows = [{"text": f"{a}{b}的第{i}个", "labels": [n for n, w in (("快", a), ("好", b)) if w == n] or ["无"]}
            for i in range(90) for a, b in [(("快", "慢")[i % 2], ("好", "差")[i % 3 // 2])]]  # fmt: skip
    files = {"data": uploaded(tmp_path, "m.jsonl", "\n".join(json.dumps(row) for row in rows).encode())}
    done = attempt(
        tmp_path, recipe="ernie-cls", job="many", params={"epochs": 12, "batch": 8, "max_len": 16}, files=files
    )
    assert done["data"]["label_count"] == 3
    assert done["finished"]["macro_f1"] > 0.8
    assert done["model"]["difference"] < 1e-5


def test_data_that_cannot_be_trained_on_are_refused_with_a_reason(tmp_path: Path) -> None:
    torn = csv_of(
        [(text.replace("，", ",") if i % 10 == 0 else text, label) for i, (text, label) in enumerate(REVIEWS)]
    )
    files = {"data": uploaded(tmp_path, "torn.csv", torn.encode())}
    done = attempt(tmp_path, recipe="ernie-cls", job="torn", params={}, files=files)
    assert done["refused"]["code"] == "data_too_many_left_out"
    assert done["refused"]["facts"]["row"] == "2"
    assert done["refused"]["facts"]["reason"] == "columns"


def test_a_model_from_a_local_folder(tmp_path: Path) -> None:
    """The code path that loads a hub's model by name, and the one for `start=`."""
    made = (
        "import sys; from pathlib import Path; from trainer_image.trainer.recipes.ernie_cls import _model\n"
        "from trainer_image.trainer.data import reviews, texts\n"
        "train = [texts.Text(t, (l,)) for t, l in reviews.load(640, 3).train]\n"
        "params = {'model': 'tiny', 'max_len': 32, 'dropout': 0.0}\n"
        "model, tokenizer = _model(params, texts.TextSet(train, [], ('bad', 'good'), False, ''), Path(sys.argv[1]))\n"
        "model.save_pretrained(sys.argv[1]); tokenizer.save_pretrained(sys.argv[1])"
    )
    folder = tmp_path / "model"
    folder.mkdir()
    subprocess.run(
        [str(TRAINER_PYTHON), "-c", made, str(folder)], cwd=ROOT, check=True, capture_output=True, timeout=100
    )
    params = PARAMS | {"model": str(folder), "epochs": 1, "lr": 1e-3}
    packed = shutil.make_archive(str(tmp_path / "our-ernie"), "zip", folder)
    files = {"start": uploaded(tmp_path, "our-ernie.zip", Path(packed).read_bytes())}
    asked = {"recipe": "ernie-cls", "params": params}
    done, started = attempts(
        tmp_path,
        asked | {"job": "local"},
        asked | {"job": "upload", "params": params | {"model": "tiny"}, "files": files},
    )
    assert (done["code"], done["step"]) == (0, 20)
    assert done["finished"]["accuracy"] > 0.4
    assert started["losses"] == done["losses"], "an uploaded model is the same start"


def test_the_reviews_do_not_leak() -> None:
    """Repeats are dropped before the split: no text is in both parts. Uses the trainer's copy of the texts."""
    code = (
        "from trainer_image.trainer.data import reviews as r; import json;"
        "d = r.load(8000, 1); t = {x for x, _ in d.train}; v = {x for x, _ in d.valid};"
        "w = r.vocabulary(x for x, _ in d.train); c = {c for x in t for c in x.lower()};"
        "print(json.dumps([len(t), len(v), len(t & v), d.majority, len(w), all(x in c for x in w[5:])]))"
    )
    done = subprocess.run(
        [str(TRAINER_PYTHON), "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    train, valid, both, majority, words, from_training = json.loads(done.stdout)
    assert (train, valid, both) == (8000, 2000, 0)
    assert 0.5 <= majority <= 0.55
    assert words > 1000
    assert from_training
