"""`ocr-rec`: a small convolutional and recurrent net with CTC (Shi et al. 2015, "An End-to-End Trainable Neural Network
for Image-based Sequence Recognition")."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
from paddle import nn

from trainer_image.trainer.data import lines
from trainer_image.trainer.export import Leaves
from trainer_image.trainer.feed import Batch
from trainer_image.trainer.readers.lines import BLANK, STRIDE, normal, read, shaped
from trainer_image.trainer.scores import edits
from trainer_image.trainer.setting import Setting

RATE = 2e-3
IN_MEMORY = 512 << 20
VALIDATED_AT_ONCE = 64
SHIFT = 2
"""Pixels that a training picture is moved by at most, up or down."""


class OcrRec:
    """See loop.Task and export.Exportable."""

    def __init__(self, params: dict[str, Any], data: lines.LineSet) -> None:
        self._data, self._height, self._width = data, params["height"], params["width"]
        self._train, self._valid = np.asarray(data.parts.train), np.asarray(data.parts.valid)
        self.model = Recogniser(len(data.dictionary) + 1, params["hidden"])
        self.samples, self.rate = len(self._train), RATE
        number = {char: i + 1 for i, char in enumerate(data.dictionary)}
        self._targets = [[number[char] for char in text if char in number] for text in data.texts]
        self._longest = max(1, *map(len, self._targets))
        self._shaped: dict[int, tuple[np.ndarray, int]] = {}
        self._may_keep = len(data.texts) * self._height * self._width <= IN_MEMORY

    def batch(self, chosen: np.ndarray, random: np.random.Generator) -> Batch:
        numbers = [int(i) for i in self._train[chosen]]
        pictures = [self._varied(self._picture(i)[0], random) for i in numbers]
        targets = np.zeros((len(numbers), self._longest), dtype="int32")
        for row, number in enumerate(numbers):
            targets[row, : len(self._targets[number])] = self._targets[number]
        places = np.asarray([-(-self._picture(i)[1] // STRIDE) for i in numbers], dtype="int64")
        lengths = np.asarray([len(self._targets[i]) for i in numbers], dtype="int64")
        return normal(np.stack(pictures)), targets, places, lengths

    def loss(self, pictures: Any, targets: Any, places: Any, lengths: Any) -> Any:
        logits = self.model(pictures).astype("float32").transpose([1, 0, 2])
        return nn.functional.ctc_loss(logits, targets, places, lengths, blank=BLANK)

    def evaluate(self) -> dict[str, float]:
        said: list[str] = []
        for part in self._validation():
            said += read(self.model(paddle.to_tensor(part)).numpy(), self._data.dictionary)
        right = [self._data.texts[i] for i in self._valid]
        wrong = sum(edits(a, b) for a, b in zip(said, right, strict=True))
        whole = sum(a == b for a, b in zip(said, right, strict=True))
        return {"cer": wrong / max(1, sum(map(len, right))), "line_accuracy": whole / len(right)}

    def leaves(self) -> Leaves:
        return Leaves(
            inputs=[paddle.static.InputSpec([None, 1, self._height, self._width], "float32", "line")],
            samples=(next(self._validation()),),
            files={"dictionary.txt": "\n".join(self._data.dictionary).encode()},
            reading={"kind": "line", "height": self._height, "width": self._width, "blank": BLANK},
        )

    def _validation(self) -> Any:
        for at in range(0, len(self._valid), VALIDATED_AT_ONCE):
            yield normal(np.stack([self._picture(int(i))[0] for i in self._valid[at : at + VALIDATED_AT_ONCE]]))

    def _picture(self, number: int) -> tuple[np.ndarray, int]:
        known = self._shaped.get(number)
        if known is None:
            known = shaped(self._data.open(number), self._height, self._width)
            if self._may_keep:
                self._shaped[number] = known
        return known

    def _varied(self, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Moved up or down a little, darker or lighter."""
        moved = np.roll(values, int(random.integers(-SHIFT, SHIFT + 1)), axis=0)
        return (moved * random.uniform(0.85, 1.1)).clip(0, 255).astype("uint8")


class Recogniser(nn.Layer):
    """[n, 1, height, width] to [n, width / 4, classes]: convolutions, the height pooled away, a two-way LSTM."""

    def __init__(self, classes: int, hidden: int) -> None:
        super().__init__()
        sizes, pools = (24, 48, 96, 128), ((2, 2), (2, 2), (2, 1), (2, 1))
        layers: list[Any] = []
        before = 1
        for size, pool in zip(sizes, pools, strict=True):
            layers += [nn.Conv2D(before, size, 3, padding=1, bias_attr=False), nn.BatchNorm2D(size), nn.ReLU(),
                       nn.MaxPool2D(pool, pool)]  # fmt: skip
            before = size
        self.features = nn.Sequential(*layers)
        self.sequence = nn.LSTM(before, hidden, direction="bidirect")
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, pictures: Any) -> Any:
        columns = self.features(pictures).mean(2).transpose([0, 2, 1])
        return self.head(self.sequence(columns)[0])


def task(setting: Setting) -> tuple[OcrRec, str]:
    """The task, and the version of its data."""
    data = lines.load(setting)
    return OcrRec(setting.params, data), data.version
