"""`ernie-cls`: PaddleNLP's ErnieForSequenceClassification on texts with one or several labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification, ErnieTokenizer

from jobs.problem import Problem
from trainer_image.trainer.data import reviews, texts
from trainer_image.trainer.data.store import open_archive, unpack
from trainer_image.trainer.export import Leaves
from trainer_image.trainer.feed import Batch
from trainer_image.trainer.scores import macro_f1, multi_label_f1
from trainer_image.trainer.setting import Refused, Setting

TINY = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 256}
TINY_LR, PRETRAINED_LR = 2e-3, 5e-5
VALIDATED_AT_ONCE = 256
LIKELY = 0.5
"""A text has each label that is at least this likely, where several are possible."""


class ErnieCls:
    """See loop.Task and export.Exportable."""

    def __init__(self, params: dict[str, Any], data: texts.TextSet, scratch: Path, start: Path | None = None) -> None:
        """`start`: a folder with a model and its tokenizer, in place of `model`."""
        params = params if start is None else params | {"model": str(start)}
        self._data, self._length = data, params["max_len"]
        self._scratch = scratch
        self.model, self._tokenizer = _model(params, data, scratch)
        self._train, self._valid = self._encode(data.train), self._encode(data.valid)
        self.samples = len(data.train)
        self.rate = TINY_LR if params["model"] == "tiny" else PRETRAINED_LR
        self._weights = _weights(data) if params["class_weights"] == "balanced" else None

    def batch(self, chosen: np.ndarray, random: np.random.Generator) -> Batch:
        ids, targets = self._train
        return ids[chosen], targets[chosen]

    def loss(self, ids: Any, targets: Any) -> Any:
        logits = self.model(ids)
        if self._data.many:
            return paddle.nn.functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=self._weights)
        return paddle.nn.functional.cross_entropy(logits, targets, weight=self._weights)

    def evaluate(self) -> dict[str, float]:
        ids, targets = self._valid
        starts = range(0, len(ids), VALIDATED_AT_ONCE)
        logits = np.concatenate(
            [self.model(paddle.to_tensor(ids[at : at + VALIDATED_AT_ONCE])).numpy() for at in starts]
        )
        if self._data.many:
            chosen, right = 1 / (1 + np.exp(-logits)) >= LIKELY, targets > 0
            return {"accuracy": float((chosen == right).all(-1).mean()), "macro_f1": multi_label_f1(chosen, right)}
        answers = logits.argmax(-1)
        return {"accuracy": float((answers == targets).mean()), "macro_f1": macro_f1(answers, targets)}

    def leaves(self) -> Leaves:
        tokenizer = self._scratch / "tokenizer"
        self._tokenizer.save_pretrained(str(tokenizer))
        return Leaves(
            inputs=[paddle.static.InputSpec([None, None], "int64", "input_ids")],
            samples=(self._valid[0][:VALIDATED_AT_ONCE],),
            files={"vocab.txt": (tokenizer / "vocab.txt").read_bytes(),
                   "labels.txt": "\n".join(self._data.labels).encode()},
            reading={"kind": "text", "max_len": self._length, "labels": list(self._data.labels),
                     "many": self._data.many, "likely": LIKELY, "lower_case": True},
        )  # fmt: skip

    def _encode(self, part: list[texts.Text]) -> tuple[np.ndarray, np.ndarray]:
        """Token ids [texts, max_len] (int64, padded) and labels: [texts] (int64), or [texts, labels] (float32, 0 or 1)
        where a text may have several."""
        encoded = self._tokenizer([text for text, _ in part], max_length=self._length, truncation=True,
                                  padding="max_length", return_token_type_ids=False)["input_ids"]  # fmt: skip
        ids = np.asarray(encoded, dtype="int64")
        if not self._data.many:
            return ids, np.asarray([labels[0] for _, labels in part], dtype="int64")
        targets = np.zeros((len(part), len(self._data.labels)), dtype="float32")
        for row, (_, labels) in enumerate(part):
            targets[row, list(labels)] = 1
        return ids, targets


def task(setting: Setting) -> tuple[ErnieCls, str]:
    """The task, and the version of its data."""
    data = texts.load(setting)
    return ErnieCls(setting.params, data, setting.scratch, _start(setting)), data.version


def _start(setting: Setting) -> Path | None:
    """The uploaded model to start from, unpacked: the folder that holds its config."""
    fetched = setting.fetched("start")
    if fetched is None:
        return None
    folder = setting.scratch / "start"
    unpack(open_archive(fetched), folder)
    found = next(iter(sorted(folder.rglob("config.json"))), next(iter(sorted(folder.rglob("model_config.json"))), None))
    if found is None:
        raise Refused(Problem(code="no_model", facts={"value": fetched.ref.name}))
    return found.parent


def _weights(data: texts.TextSet) -> Any:
    """Rarer labels count more, so that all labels together count as if they were equally frequent."""
    counts = np.zeros(len(data.labels))
    for text in data.train:
        counts[list(text.labels)] += 1
    present = np.maximum(counts, 1)
    weights = (len(data.train) - present) / present if data.many else len(data.train) / (len(counts) * present)
    return paddle.to_tensor(np.maximum(weights, 1e-3).astype("float32"))


def _model(params: dict[str, Any], data: texts.TextSet, scratch: Path) -> tuple[Any, Any]:
    """A model from a local folder or by its hub name; `tiny` is made here and trained from scratch."""
    if params["model"] != "tiny":
        model = ErnieForSequenceClassification.from_pretrained(params["model"], num_labels=len(data.labels))
        return model, ErnieTokenizer.from_pretrained(params["model"])
    vocab = scratch / "vocab.txt"
    words = reviews.vocabulary(text.text for text in data.train)
    vocab.write_text("\n".join(words), encoding="utf-8")
    config = ErnieConfig(
        vocab_size=len(words), max_position_embeddings=params["max_len"], num_labels=len(data.labels), pad_token_id=0,
        hidden_dropout_prob=params["dropout"], attention_probs_dropout_prob=params["dropout"], **TINY,
    )  # fmt: skip
    return ErnieForSequenceClassification(config), ErnieTokenizer(str(vocab))
