"""Run by the trainer's own Python: archives of small real and drawn data. `python -m tests.trainer.drawn WHAT FILE`"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

from PIL import Image


def stored(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def digits(packed: zipfile.ZipFile) -> None:
    """Scikit-learn's digits in folders by class: turned by EXIF, grey, palette, CMYK, transparent, 16 bits and animated
    ones among them; a truncated one, a repeat, the same with another label."""
    from sklearn.datasets import load_digits

    shipped = load_digits()
    for number in range(600):
        image = Image.fromarray((shipped.images[number] * (255 / 16)).astype("uint8")).resize((24, 24))
        label = f"数字{shipped.target[number]}"
        kind, more = "PNG", {}
        if number == 10:
            turned = Image.Exif()
            turned[0x0112] = 6  # shown turned by 90 degrees to the right
            image, kind, more = image.rotate(90, expand=True), "JPEG", {"exif": turned, "quality": 95}
        elif number == 11:
            image = image.convert("P")
        elif number == 12:
            image, kind = image.convert("CMYK"), "JPEG"
        elif number == 13:
            image = image.convert("LA")
        elif number == 14:
            image = Image.fromarray((shipped.images[number] * 4095).astype("uint16"))
        elif number == 15:
            image, kind, more = image.convert("P"), "GIF", {"save_all": True, "append_images": [image.convert("P")]}
        data = stored(image, kind, **more)
        if number == 16:
            data = data[: len(data) // 2]
        packed.writestr(f"digits/{label}/{number}.{kind.lower().replace('jpeg', 'jpg')}", data)
        if number == 17:
            packed.writestr(f"digits/{label}/again.png", data)
        if number == 18:
            packed.writestr("digits/数字0/wrong.png" if label != "数字0" else "digits/数字1/wrong.png", data)
    packed.writestr("__MACOSX/digits/._1.png", b"what a Mac adds")


def lines(packed: zipfile.ZipFile) -> None:
    """Lines in a font of this machine, with PaddleOCR's lists."""
    from trainer_image.trainer.data.lines import drawn_lines

    listed = {"train": [], "val": []}
    for number, (text, image) in enumerate(drawn_lines(300, 5)):
        packed.writestr(f"rec/images/{number}.png", stored(image))
        listed["val" if number % 10 == 0 else "train"].append(f"images/{number}.png\t{text}")
    for name, rows in listed.items():
        packed.writestr(f"rec/rec_gt_{name}.txt", "\n".join(rows))


def scenes(packed: zipfile.ZipFile) -> None:
    """Made-up scenes with COCO's JSON."""
    from trainer_image.trainer.data.boxes import SHAPES, _drawn

    images, annotations = [], []
    for number in range(40):
        image, found = _drawn(3, number)
        packed.writestr(f"images/{number}.png", stored(image))
        images.append({"id": number, "file_name": f"{number}.png", "width": 160, "height": 160})
        for box in found:
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": SHAPES.index(box.label) + 1,
                                "bbox": [box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1], "iscrowd": 0})  # fmt: skip
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(SHAPES)]
    said = {"images": images, "annotations": annotations, "categories": categories}
    packed.writestr("annotations/instances.json", json.dumps(said))


if __name__ == "__main__":
    with zipfile.ZipFile(Path(sys.argv[2]), "w") as target:
        {"digits": digits, "lines": lines, "scenes": scenes}[sys.argv[1]](target)
