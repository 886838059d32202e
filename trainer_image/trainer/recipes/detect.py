"""`detect`: PP-YOLOE from PaddleDetection (Xu et al. 2022, "PP-YOLOE: An evolved version of YOLO")."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import paddle

from trainer_image.trainer import extras
from trainer_image.trainer.data import boxes
from trainer_image.trainer.export import Leaves
from trainer_image.trainer.feed import Batch
from trainer_image.trainer.readers.boxes import LIKELY, Found, objects, seen
from trainer_image.trainer.readers.images import normal
from trainer_image.trainer.setting import Setting

RATE = 2e-3
DEPTH_WIDTH = {"xs": (0.33, 0.25), "s": (0.33, 0.50), "m": (0.67, 0.75), "l": (1.0, 1.0)}
"""PaddleDetection's sizes (configs/ppyoloe)."""
IN_MEMORY = 512 << 20
VALIDATED_AT_ONCE = 16


class Detect:
    """See loop.Task and export.Exportable."""

    def __init__(self, params: dict[str, Any], data: boxes.SceneSet) -> None:
        self._data, self._size = data, params["size"]
        self._train, self._valid = np.asarray(data.parts.train), np.asarray(data.parts.valid)
        self._number = {label: i for i, label in enumerate(data.labels)}
        self._most = max(1, *(len(found) for found in data.boxes))
        self.model = Detector(len(data.labels), *DEPTH_WIDTH[params["model"]])
        self.samples, self.rate = len(self._train), RATE
        self._seen: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._may_keep = len(data.boxes) * self._size**2 * 3 <= IN_MEMORY

    def batch(self, chosen: np.ndarray, random: np.random.Generator) -> Batch:
        """Pictures, corners [n, most, 4], labels [n, most, 1] (int64: int32 fails in Paddle's type promotion), and
        which of them are there [n, most, 1]."""
        pictures, corners, labels = [], [], []
        there = np.zeros((len(chosen), self._most, 1), dtype="float32")
        for row, number in enumerate(self._train[chosen]):
            values, found = self._scene(int(number))
            if random.random() < 0.5:
                values, found = values[:, ::-1], self._mirrored(found)
            pictures.append((values * random.uniform(0.8, 1.2)).clip(0, 255).astype("uint8"))
            there[row, : len(found)] = 1
            padded = np.zeros((self._most, 5), dtype="float32")
            padded[: len(found)] = found
            corners.append(padded[:, :4])
            labels.append(padded[:, 4:].astype("int64"))
        return normal(np.stack(pictures), False), np.stack(corners), np.stack(labels), there

    def loss(self, pictures: Any, corners: Any, labels: Any, there: Any) -> Any:
        return self.model.loss(pictures, {"gt_bbox": corners, "gt_class": labels, "pad_gt_mask": there, "epoch_id": 0})

    def evaluate(self) -> dict[str, float]:
        found: list[list[Found]] = []
        for part in self._validation():
            corners, scores = self.model(paddle.to_tensor(part))
            found += [objects(*one) for one in zip(corners.numpy(), scores.numpy(), strict=True)]
        return self._measured(found)

    def leaves(self) -> Leaves:
        return Leaves(
            inputs=[paddle.static.InputSpec([None, 3, self._size, self._size], "float32", "image")],
            samples=(next(self._validation()),),
            files={"labels.txt": "\n".join(self._data.labels).encode()},
            reading={"kind": "boxes", "size": self._size, "labels": list(self._data.labels), "likely": LIKELY},
        )

    def _validation(self) -> Any:
        for at in range(0, len(self._valid), VALIDATED_AT_ONCE):
            part = [self._scene(int(i))[0] for i in self._valid[at : at + VALIDATED_AT_ONCE]]
            yield normal(np.stack(part), False)

    def _scene(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """What the model sees of a scene, and its objects [n, 5]: corners in that, and the label's number."""
        known = self._seen.get(number)
        if known is None:
            image = self._data.open(number)
            wide, high = self._size / image.width, self._size / image.height
            found = [[b.x1 * wide, b.y1 * high, b.x2 * wide, b.y2 * high, self._number[b.label]] for b in
                     self._data.boxes[number]]  # fmt: skip
            known = seen(image, self._size), np.asarray(found, dtype="float32").reshape(-1, 5)
            if self._may_keep:
                self._seen[number] = known
        return known

    def _mirrored(self, found: np.ndarray) -> np.ndarray:
        turned = found.copy()
        turned[:, 0], turned[:, 2] = self._size - found[:, 2], self._size - found[:, 0]
        return turned

    def _measured(self, found: list[list[Found]]) -> dict[str, float]:
        """COCO's own evaluation (pycocotools): mean average precision over IoU 0.5 to 0.95, and at 0.5."""
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval

        truth, said, annotations = COCO(), [], []
        for place, number in enumerate(self._valid):
            for x1, y1, x2, y2, label in self._scene(int(number))[1].tolist():
                annotations.append({"id": len(annotations) + 1, "image_id": place, "category_id": int(label),
                                    "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1),
                                    "iscrowd": 0})  # fmt: skip
            for one in found[place]:
                x1, y1, x2, y2 = one.corners
                said.append({"image_id": place, "category_id": one.label, "bbox": [x1, y1, x2 - x1, y2 - y1],
                             "score": one.score})  # fmt: skip
        if not said or not annotations:
            return {"map": 0.0, "map50": 0.0}
        truth.dataset = {"images": [{"id": i} for i in range(len(self._valid))], "annotations": annotations, "info": {},
                         "categories": [{"id": i, "name": n} for i, n in enumerate(self._data.labels)]}  # fmt: skip
        with contextlib.redirect_stdout(io.StringIO()):
            truth.createIndex()
            judge = COCOeval(truth, truth.loadRes(said), "bbox")
            judge.evaluate()
            judge.accumulate()
            judge.summarize()
        return {"map": max(0.0, float(judge.stats[0])), "map50": max(0.0, float(judge.stats[1]))}


class Detector(paddle.nn.Layer):
    """PaddleDetection's backbone, neck and head. Called with pictures [n, 3, size, size], answers the corners of all
    candidates [n, candidates, 4] in pixels and how likely each label is [n, labels, candidates]."""

    def __init__(self, labels: int, depth: float, width: float) -> None:
        super().__init__()
        from ppdet.modeling.assigners import ATSSAssigner, TaskAlignedAssigner
        from ppdet.modeling.backbones import CSPResNet
        from ppdet.modeling.heads import PPYOLOEHead
        from ppdet.modeling.necks import CustomCSPPAN

        shared = {"depth_mult": depth, "width_mult": width}
        self.backbone = CSPResNet(layers=[3, 6, 6, 3], channels=[64, 128, 256, 512, 1024], return_idx=[1, 2, 3],
                                  use_large_stem=True, **shared)  # fmt: skip
        channels = [shape.channels for shape in self.backbone.out_shape]
        self.neck = CustomCSPPAN(in_channels=channels, out_channels=[768, 384, 192], stage_num=1, block_num=3,
                                 act="swish", spp=True, **shared)  # fmt: skip
        self.head = PPYOLOEHead(
            in_channels=[shape.channels for shape in self.neck.out_shape], num_classes=labels, fpn_strides=[32, 16, 8],
            grid_cell_scale=5.0, grid_cell_offset=0.5, static_assigner_epoch=-1, use_varifocal_loss=True,
            loss_weight={"class": 1.0, "iou": 2.5, "dfl": 0.5}, eval_size=None, nms=None,
            static_assigner=ATSSAssigner(topk=9, num_classes=labels),
            assigner=TaskAlignedAssigner(topk=13, alpha=1.0, beta=6.0),
        )  # fmt: skip

    def loss(self, pictures: Any, truth: dict[str, Any]) -> Any:
        """The loss of the network's answer; `truth` as PaddleDetection has it."""
        return self.head(self.neck(self.backbone({"image": pictures})), truth)["loss"]

    def forward(self, image: Any) -> Any:
        from ppdet.modeling.bbox_utils import batch_distance2bbox

        scores, distances, points, strides = self.head(self.neck(self.backbone({"image": image})))
        return batch_distance2bbox(points, distances) * strides, scores


def task(setting: Setting) -> tuple[Detect, str]:
    """The task, and the version of its data."""
    extras.ensure("detect")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it could also use
        import ppdet.modeling  # noqa: F401  (registers what `create` makes)
    data = boxes.load(setting)
    return Detect(setting.params, data), data.version
