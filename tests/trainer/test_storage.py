"""Files for the trainer: fetched once, checked, and read below a prefix as they are needed; own code by commit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from local.places import ROOT, TRAINER_PYTHON


def in_trainer(code: str, *words: str) -> list[object]:
    """What a snippet prints, as JSON, in the trainer's own Python."""
    done = subprocess.run(
        [str(TRAINER_PYTHON), "-c", code, *words], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_a_prefix_is_read_as_needed_and_kept_while_there_is_room(tmp_path: Path) -> None:
    for label in ("cat", "dog"):
        for i in range(3):
            path = tmp_path / "own" / "photos" / label / f"{i}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{label}{i}".encode())
    code = """if True:
        import json, shutil, sys
        from pathlib import Path
        from trainer_image.trainer.data import store
        from trainer_image.trainer.storage import Folder
        root = Path(sys.argv[1])
        made = store.PrefixStore(Folder(root / "own"), "photos/", root / "cache")
        names, version = made.names(), made.version
        first = made.read("cat/1.jpg").decode()
        (root / "own/photos/cat/1.jpg").write_bytes(b"changed")
        again = made.read("cat/1.jpg").decode()
        store.KEPT_FREE = 1.0
        made.read("dog/0.jpg")
        kept = sorted(p.name for p in (root / "cache").rglob("*.jpg"))
        print(json.dumps([names, first, again, kept, version != store.PrefixStore(Folder(root / "own"), "photos/", root / "c2").version]))
    """
    names, first, again, kept, changed = in_trainer(code, str(tmp_path))
    assert names == [f"{label}/{i}.jpg" for label in ("cat", "dog") for i in range(3)]
    assert (first, again, kept, changed) == ("cat1", "cat1", ["1.jpg"], True)


def test_a_file_that_is_not_the_version_asked_for_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.csv").write_bytes(b"text,label")
    code = """if True:
        import json, sys
        from pathlib import Path
        from jobs.data.dataset import FileRef
        from trainer_image.trainer.data.fetch import fetch
        from trainer_image.trainer.storage import Folder
        root = Path(sys.argv[1])
        said = []
        for key, sha in (("a.csv", ""), ("a.csv", "0" * 64), ("b.csv", "")):
            try:
                said.append(fetch(FileRef(name="n", bucket="own", key=key, size=1, sha256=sha), Folder(root / "own"), root).sha256[:8])
            except (ValueError, FileNotFoundError) as error:
                said.append(type(error).__name__)
        print(json.dumps(said))
    """
    assert in_trainer(code, str(tmp_path))[1:] == ["ValueError", "FileNotFoundError"]


@pytest.mark.parametrize("ref", ["@v1", "@main", ""])
def test_code_of_a_repository_is_a_commit_and_stays_it(tmp_path: Path, ref: str) -> None:
    """Later attempts use the first one's commit, whatever the branch is by then."""
    work = tmp_path / "work"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(work)]
    subprocess.run(["git", "init", "-q", "-b", "main", str(work)], check=True)
    subprocess.run([*git, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    (work / "train.py").write_text("print(1)")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    code = """if True:
        import json, sys
        from pathlib import Path
        from trainer_image.trainer.own_code.code import _cloned
        version = _cloned(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
        print(json.dumps([version, (Path(sys.argv[3]) / "train.py").read_text()]))
    """
    first = in_trainer(code, f"file://{work}{ref}", "", str(tmp_path / "one"))
    (work / "train.py").write_text("print(2)")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    again = in_trainer(code, f"file://{work}{ref}", str(first[0]), str(tmp_path / "two"))
    assert first == again
    assert first[1] == "print(1)"
