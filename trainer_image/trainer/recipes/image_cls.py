"""`image-cls`: the networks of paddle.vision on folders of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
from paddle.vision import models

from trainer_image.trainer.data import images
from trainer_image.trainer.data.pictures import center, crop, short_side
from trainer_image.trainer.export import Leaves
from trainer_image.trainer.feed import Batch
from trainer_image.trainer.readers.images import MARGIN, normal
from trainer_image.trainer.scores import macro_f1
from trainer_image.trainer.setting import Setting

RATE, PRETRAINED_RATE = 2e-3, 2e-4
IN_MEMORY = 512 << 20
"""Bytes of scaled images that are kept in memory; larger sets are decoded anew each epoch, by the data workers."""
VALIDATED_AT_ONCE = 64
SMALLEST_AREA = 0.35
"""Of the image, that a random crop shows."""


class ImageCls:
    """See loop.Task and export.Exportable."""

    def __init__(self, params: dict[str, Any], data: images.ImageSet) -> None:
        self._data, self._size, self._augment = data, params["size"], params["augment"]
        self._train, self._valid = np.asarray(data.parts.train), np.asarray(data.parts.valid)
        self.model = _model(params["model"], len(data.labels), params["pretrained"] == "yes")
        self._grey = params["model"] == "lenet"
        self.samples = len(self._train)
        self.rate = PRETRAINED_RATE if params["pretrained"] == "yes" else RATE
        self._scaled: dict[int, np.ndarray] = {}
        self._may_keep = len(data.targets) * (self._size * MARGIN) ** 2 * 4 <= IN_MEMORY
        self._weights = None
        if params["class_weights"] == "balanced":
            counts = np.bincount(data.targets[self._train], minlength=len(data.labels)).clip(1)
            self._weights = paddle.to_tensor((self.samples / (len(counts) * counts)).astype("float32"))

    def batch(self, chosen: np.ndarray, random: np.random.Generator) -> Batch:
        numbers = self._train[chosen]
        pictures = [self._varied(self._picture(int(i)), random) for i in numbers]
        return normal(np.stack(pictures), self._grey), self._data.targets[numbers]

    def loss(self, pictures: Any, targets: Any) -> Any:
        return paddle.nn.functional.cross_entropy(self.model(pictures), targets, weight=self._weights)

    def evaluate(self) -> dict[str, float]:
        answers = np.concatenate([self.model(paddle.to_tensor(part)).numpy().argmax(-1) for part in self._validation()])
        right = self._data.targets[self._valid]
        return {"accuracy": float((answers == right).mean()), "macro_f1": macro_f1(answers, right)}

    def leaves(self) -> Leaves:
        channels = 1 if self._grey else 3
        return Leaves(
            inputs=[paddle.static.InputSpec([None, channels, self._size, self._size], "float32", "image")],
            samples=(next(self._validation()),),
            files={"labels.txt": "\n".join(self._data.labels).encode()},
            reading={"kind": "image", "size": self._size, "grey": self._grey, "labels": list(self._data.labels)},
        )

    def _validation(self) -> Any:
        for at in range(0, len(self._valid), VALIDATED_AT_ONCE):
            part = [center(self._picture(int(i)), self._size) for i in self._valid[at : at + VALIDATED_AT_ONCE]]
            yield normal(np.stack(part), self._grey)

    def _picture(self, number: int) -> np.ndarray:
        """[height, width, 3] (uint8), the short side a little longer than what the model sees."""
        known = self._scaled.get(number)
        if known is None:
            known = np.asarray(short_side(self._data.open(number), round(self._size * MARGIN)))
            if self._may_keep:
                self._scaled[number] = known
        return known

    def _varied(self, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """`none`: the middle. `light`: shifted. `standard`: any part of it, mirrored, lighter or darker (the usual
        augmentation of ImageNet's training)."""
        height, width = values.shape[:2]
        if self._augment == "none":
            return center(values, self._size)
        if self._augment == "light":
            top, left = random.integers(0, height - self._size + 1), random.integers(0, width - self._size + 1)
            return crop(values, int(top), int(left), self._size)
        side = int(min(height, width) * np.sqrt(random.uniform(SMALLEST_AREA, 1.0)))
        top, left = random.integers(0, height - side + 1), random.integers(0, width - side + 1)
        rows = top + np.arange(self._size) * side // self._size
        columns = left + np.arange(self._size) * side // self._size
        part = values[rows][:, columns]
        part = part[:, ::-1] if random.random() < 0.5 else part
        return (part * random.uniform(0.7, 1.3)).clip(0, 255).astype("uint8")


def task(setting: Setting) -> tuple[ImageCls, str]:
    """The task, and the version of its data."""
    data = images.load(setting)
    return ImageCls(setting.params, data), data.version


def _model(name: str, classes: int, pretrained: bool) -> Any:
    """A network for so many classes; pretrained: with ImageNet's weights wherever they fit."""
    if name == "lenet":
        return _AnySize(models.LeNet(num_classes=classes))
    make = getattr(models, name)
    net = make(num_classes=classes)
    if pretrained:
        own, trained = net.state_dict(), make(pretrained=True).state_dict()
        net.set_state_dict({key: value for key, value in trained.items() if own[key].shape == value.shape})
    return net


class _AnySize(paddle.nn.Layer):
    """LeNet, which is made for 28 by 28 pixels, for other sizes too: its features are pooled to what it expects."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.features, self.fc = net.features, net.fc
        self.pool = paddle.nn.AdaptiveAvgPool2D(5)

    def forward(self, pictures: Any) -> Any:
        return self.fc(paddle.flatten(self.pool(self.features(pictures)), 1))
