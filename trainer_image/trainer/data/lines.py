"""Pictures of text lines, ready to be trained on; and lines drawn from a font, for trying it out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from jobs.data import lines
from jobs.data.encoding import decode
from jobs.messages import Left
from jobs.problem import Problem
from trainer_image.trainer.data import images
from trainer_image.trainer.data.pictures import picture
from trainer_image.trainer.data.split import VALID_WORDS, Parts, split
from trainer_image.trainer.readers.lines import STRIDE
from trainer_image.trainer.setting import Refused, Setting

DRAWN, SIZE = 1500, 24
CHINESE = "天地人你我他大小上中下左右前后东西南北日月水火山石田土木金"
LATIN = "0123456789ABCDEFGHKLMNPRSTUWXYZ"
FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts")
CJK = ("cjk", "wqy", "simsun", "simhei", "pingfang", "heiti", "sourcehan", "uming", "ukai")
CHARACTERS_TOLD = 12


class LineSet(NamedTuple):
    """`open(i)` gives the picture of line `i`, `texts[i]` what it says; `parts` holds such numbers."""

    open: Callable[[int], Image.Image]
    texts: list[str]
    dictionary: tuple[str, ...]
    parts: Parts
    version: str


def load(setting: Setting) -> LineSet:
    """The lines that the run names, and a word to the thread about what was found. Raises Refused."""
    opened, given = images.open_store(setting, "data"), setting.fetched("dictionary")
    seed, most = setting.params["seed"], setting.params["samples"]
    if opened is None:
        drawn = drawn_lines(most or DRAWN, seed)
        parts = split([""] * len(drawn), seed)
        texts = [text for text, _ in drawn]
        dictionary = _dictionary(given.path if given else None, [texts[i] for i in parts.train])
        return LineSet(lambda i: drawn[i][1], texts, dictionary, parts, given.sha256 if given else "")
    found = lines.arrange(opened.store.names(), opened.store.read, whole=True)
    if isinstance(found, Problem):
        raise Refused(found.with_(facts={"file": opened.name} | found.facts))
    left: dict[str, Left] = {}
    kept: list[lines.Line] = []
    seen: set[tuple[str | None, str]] = set()
    contents = images.looked_at([line.name for line in found], opened.store)
    for line, content in zip(found, contents, strict=True):
        if content is None:
            images.leave_out(left, "broken", line.name)
        elif len(line.text) > setting.params["width"] // STRIDE:
            images.leave_out(left, "long", line.name)
        elif (content, line.text) in seen:
            images.leave_out(left, "repeat", line.name)
        else:
            seen.add((content, line.text))
            kept.append(line)
    images.refuse_if_too_many(opened.name, len(found), left)
    said = [line.split for line in kept] if any(line.split in VALID_WORDS for line in kept) else None
    parts = split([""] * len(kept), seed, said)
    parts = Parts(parts.train[:most], parts.valid) if most else parts
    dictionary = _dictionary(given.path if given else None, [kept[i].text for i in parts.train])
    counts = Counter(char for line in kept for char in line.text)
    setting.data_read(
        name=opened.name, sha256=opened.version, train=len(parts.train), valid=len(parts.valid),
        labels=dict(counts.most_common(CHARACTERS_TOLD)), label_count=len(dictionary), left_out=left,
    )  # fmt: skip
    return LineSet(lambda i: picture(opened.store.read(kept[i].name)), [line.text for line in kept], dictionary, parts,
                   opened.version + (f"+{given.sha256}" if given else ""))  # fmt: skip


def _dictionary(given: Path | None, texts: list[str]) -> tuple[str, ...]:
    """The characters of a file, one a line; or those of the training texts, by their code."""
    if given is None:
        return tuple(sorted({char for text in texts for char in text}))
    chars = [line.rstrip("\r") for line in decode(given.read_bytes()).text.split("\n")]
    return tuple(dict.fromkeys(char for char in chars if char))


def drawn_lines(count: int, seed: int) -> list[tuple[str, Image.Image]]:
    """Lines of three to six characters in a font of this machine: Chinese if one has them."""
    path, chinese = font()
    face = ImageFont.truetype(path, SIZE)
    alphabet = CHINESE if chinese else LATIN
    made = []
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        text = "".join(dice.choice(alphabet) for _ in range(dice.randint(3, 6)))
        width = round(face.getlength(text)) + 12
        image = Image.new("L", (width, SIZE + 12), dice.randint(215, 255))
        ink = dice.randint(0, 70)
        ImageDraw.Draw(image).text((6 + dice.randint(-3, 3), dice.randint(0, 4)), text, font=face, fill=ink)
        made.append((text, image))
    return made


def font() -> tuple[str, bool]:
    """A font file of this machine, and whether it holds Chinese characters."""
    files = sorted(
        path for folder in FONTS for path in Path(folder).rglob("*") if path.suffix in (".ttc", ".ttf", ".otf")
    )
    for path in files:
        if any(word in path.name.lower() for word in CJK):
            return str(path), True
    from matplotlib import font_manager

    return font_manager.findfont("DejaVu Sans"), False
