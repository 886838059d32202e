"""What is in an archive, by its names: classes, lists, boxes; read where it is, in parts."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from jobs.data import archive, boxes, images, lines
from jobs.data.check import check
from jobs.problem import Problem
from jobs.recipes import RECIPES


class Remote:
    """A file that counts what is read of it."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.size, self.fetched = file, len(data), 0
        self._data = data

    def read_range(self, start: int, length: int) -> bytes:
        part = self._data[start : start + length]
        self.fetched += len(part)
        return part


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return target.getvalue()


def tarred(files: dict[str, bytes], mode: str) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as packed:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return target.getvalue()


PHOTOS = {f"{kind}/{i}.jpg": bytes(20_000) for kind in ("猫", "dog") for i in range(30)}
LISTED = {f"images/{i}.jpg": b"x" for i in range(40)}


def problem(recipe: str, file: str, data: bytes) -> str:
    param = RECIPES[recipe].param("data")
    assert param is not None
    found = check(param, {p.name: p.default for p in RECIPES[recipe].params}, Remote(file, data))
    return found[0].code if found else ""


def nothing(_: str) -> bytes:
    raise AssertionError("no member needs to be read")


def test_a_large_zip_is_looked_at_by_its_end_alone() -> None:
    remote = Remote("photos.zip", zipped(PHOTOS))
    assert sorted(archive.names_of("photos.zip", remote)) == sorted(PHOTOS)
    assert remote.fetched < remote.size / 2


@pytest.mark.parametrize(("file", "mode"), [("p.tar", "w"), ("p.tar.gz", "w:gz"), ("p.tgz", "w:gz")])
def test_tars_are_read_too(file: str, mode: str) -> None:
    assert problem("image-cls", file, tarred(PHOTOS, mode)) == ""


def test_names_from_a_chinese_windows() -> None:
    """A zip that holds GBK without saying so."""
    data = zipped({f"AAAA/{i}.jpg": b"x" for i in range(3)}).replace(b"AAAA", "猫狗".encode("gbk"))
    assert archive.names_of("a.zip", Remote("a.zip", data))[0] == "猫狗/0.jpg"


@pytest.mark.parametrize(
    ("names", "labels"),
    [(["cat/1.jpg", "dog/2.png"], {"cat", "dog"}), (["top/cat/1.jpg", "top/dog/2.png"], {"cat", "dog"}),
     (["a/train/cat/1.jpg", "a/val/dog/2.png"], {"cat", "dog"}), (["a/b/cat/x/1.jpg", "a/b/dog/y/2.gif"], {"cat", "dog"})],
)  # fmt: skip
def test_a_folder_for_each_class(names: list[str], labels: set[str]) -> None:
    found = images.arrange(names, nothing, whole=False)
    assert not isinstance(found, Problem)
    assert {image.label for image in found} == labels
    assert {image.split for image in found} <= {"", "train", "val"}


def test_a_list_of_paths() -> None:
    rows = "图片,标签,划分\n" + "\n".join(
        f"images\\{i}.jpg,{'ok' if i % 2 else 'bad'},{'验证' if i < 4 else ''}" for i in range(40)
    )
    found = images.arrange([*LISTED, "labels.csv"], lambda _: rows.encode("gb18030"), whole=True)
    assert not isinstance(found, Problem)
    assert len(found) == 40
    assert found[0] == images.Image("images/0.jpg", "bad", "验证")
    missing = rows.replace("images\\1", "images\\x1")
    assert images.arrange([*LISTED, "labels.csv"], lambda _: missing.encode(), whole=True).code == "data_images_missing"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("recipe", "file", "files", "code"),
    [
        ("image-cls", "p.zip", PHOTOS, ""),
        ("image-cls", "p.zip", {"a.txt": b"hello"}, "data_no_images"),
        ("image-cls", "p.zip", {"readme.md": b"hello"}, "data_no_images"),
        ("image-cls", "p.zip", {f"cats/{i}.jpg": b"x" for i in range(30)}, "data_one_class"),
        ("image-cls", "p.zip", {f"{i}.jpg": b"x" for i in range(30)}, "data_no_class_folder"),
        ("image-cls", "p.zip", {"a/1.jpg": b"x", "b/1.jpg": b"x"}, "data_few_images"),
        ("image-cls", "photos.csv", {}, "data_not_archive"),
        ("ocr-rec", "l.zip", {**LISTED, "rec_gt.txt": "\n".join(f"images/{i}.jpg\t文字{i}" for i in range(40)).encode()}, ""),
        ("ocr-rec", "l.zip", LISTED, "data_no_lines"),
        ("ocr-rec", "l.zip", {**LISTED, "rec_gt.txt": "\n".join(f"x/{i}a.jpg\t字" for i in range(40)).encode()}, "data_images_missing"),
        ("detect", "s.zip", {**LISTED, "notes.json": b"{}"}, "data_no_boxes"),
        ("detect", "s.zip", LISTED, "data_no_boxes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_heard_before_a_launch(recipe: str, file: str, files: dict[str, bytes], code: str) -> None:
    assert problem(recipe, file, zipped(files)) == code


def test_what_is_no_archive() -> None:
    assert problem("image-cls", "p.zip", b"PK\x03\x04 torn") == "data_bad_archive"
    assert problem("image-cls", "p.tar.gz", b"\x1f\x8b torn") == "data_bad_archive"


def test_paddleocrs_lists() -> None:
    listed = {
        "rec/rec_gt_train.txt": "images/1.jpg\t你好\r\nimages/2.jpg\tok ok\n",
        "rec/rec_gt_test.txt": "./images/3.jpg\t再见\n",
    }
    names = [*listed, *(f"rec/images/{i}.jpg" for i in (1, 2, 3))]
    found = lines.arrange(names, lambda name: listed[name].encode(), whole=False)
    assert found == [lines.Line("rec/images/3.jpg", "再见", "valid"), lines.Line("rec/images/1.jpg", "你好"),
                     lines.Line("rec/images/2.jpg", "ok ok")]  # fmt: skip


COCO = {
    "images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "gone.jpg"}], "categories": [{"id": 7, "name": "车"}],
    "annotations": [{"image_id": 1, "category_id": 7, "bbox": [1, 2, 10, 20]}, {"image_id": 1, "category_id": 7, "bbox": [1, 1, 0, 5]},
                    {"image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "iscrowd": 1}],
}  # fmt: skip
VOC = "<annotation><filename>2.jpg</filename><object><name>人</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>9</ymax></bndbox></object></annotation>"


def test_coco_and_voc() -> None:
    read: Callable[[str], bytes] = lambda _: json.dumps(COCO).encode()  # noqa: E731
    found = boxes.arrange(["images/1.jpg", "annotations/instances_val2017.json"], read, whole=False)
    assert found == [boxes.Scene("images/1.jpg", (boxes.Box("车", 1, 2, 11, 22),), "valid"),
                     boxes.Scene("gone.jpg", (), "valid", "missing")]  # fmt: skip
    found = boxes.arrange(["JPEGImages/2.jpg", "Annotations/2.xml", "Annotations/3.xml"],
                          lambda name: VOC.encode() if "2" in name else b"<torn", whole=False)  # fmt: skip
    assert found == [
        boxes.Scene("JPEGImages/2.jpg", (boxes.Box("人", 1, 2, 5, 9),)),
        boxes.Scene("Annotations/3.xml", (), "", "no_boxes"),
    ]


def test_an_annotation_file_that_is_too_large_to_read_now_is_left_to_the_trainer() -> None:
    large = json.dumps(COCO).encode() + b" " * (archive.LARGEST_MEMBER + 1)
    assert problem("detect", "s.zip", zipped({**LISTED, "a.json": large})) == ""
