"""A model that a run left, loaded as anybody would load it: without the code that trained it.
`python -m trainer_image.trainer.exported FOLDER INPUTS OUTPUTS`: from arrays in one .npz file to arrays in another."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

MODEL = "model"
"""The exported program is model.json or model.pdmodel, its weights are model.pdiparams."""


class Exported:
    """The program in a folder. Called with arrays, answers arrays."""

    def __init__(self, folder: Path) -> None:
        import paddle

        self._paddle = paddle
        self._net = paddle.jit.load(str(folder / MODEL))
        self._net.eval()

    def __call__(self, *inputs: Any) -> list[Any]:
        with self._paddle.no_grad():
            return arrays(self._net(*(self._paddle.to_tensor(array) for array in inputs)))


def arrays(answer: Any) -> list[Any]:
    """What a layer answered, one tensor or several, as NumPy arrays."""
    tensors = answer if isinstance(answer, list | tuple) else [answer]
    return [tensor.numpy() for tensor in tensors]


def main(folder: Path, inputs: Path, outputs: Path) -> None:
    import numpy as np

    with np.load(inputs) as given:
        answers = Exported(folder)(*(given[name] for name in sorted(given.files)))
    np.savez(outputs, *answers)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    os.environ.setdefault("GLOG_minloglevel", "2")
    main(*map(Path, sys.argv[1:4]))
