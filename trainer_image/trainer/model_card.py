"""What is known of a model, for programs (about.json) and for people (README.md, a model card)."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import paddle

from trainer_image.trainer.history import History
from trainer_image.trainer.setting import Setting

SOURCES = ("jobs", "trainer_image")
ROOT = Path(__file__).resolve().parents[2]
LABELS_SHOWN = 30


@dataclass(frozen=True)
class About:
    """A model's origin. `cost_usd`: an estimate at the spot price of its launch; the card in Slack has what was
    really paid."""

    setting: Setting
    step: int
    steps: int
    metrics: dict[str, float]
    history: History
    data_version: str
    hardware: str
    cost_usd: str


def facts(about: About, reading: dict[str, Any], difference: float) -> dict[str, Any]:
    spec = about.setting.spec
    return {
        "recipe": spec.recipe, "run": spec.job, "attempt": spec.attempt, "resumed_from": spec.resume_from,
        "parameters": about.setting.params, "seed": about.setting.params["seed"],
        "data": {
            "name": about.setting.params.get("data"), "version_sha256": about.data_version or None,
            "files": {name: ref.model_dump() for name, ref in spec.files.items()},
        },
        "metrics": about.metrics, "step": about.step, "steps": about.steps,
        "cost_usd_estimate": about.cost_usd or None,
        "hardware": about.hardware, "paddle": paddle.__version__, "python": platform.python_version(),
        "code_version": code_version(),
        "exported_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "largest_difference_to_trained": difference,
        "reading": reading,
    }  # fmt: skip


def about_json(about: About, reading: dict[str, Any], difference: float) -> str:
    return json.dumps(facts(about, reading, difference), ensure_ascii=False, indent=1)


def card(about: About, reading: dict[str, Any], difference: float) -> str:
    """A model card: what it is, how good it is, where it comes from, how to use it."""
    recipe = about.setting.recipe
    known = facts(about, reading, difference)
    measured = [
        f"| {m.title[0]} | {m.shown(about.metrics[m.name])} |" for m in recipe.metrics if m.name in about.metrics
    ]
    labels = [str(label) for label in reading.get("labels", [])]
    shown = ", ".join(labels[:LABELS_SHOWN]) + (", …" if len(labels) > LABELS_SHOWN else "")
    parameters = "\n".join(f"| `{name}` | {'—' if value is None else value} |" for name, value in
                           about.setting.params.items())  # fmt: skip
    run = about.setting.spec.job
    return f"""# {recipe.title[0]} · run `{run}`

Trained by Paddock with the recipe `{recipe.name}`, exported at step {about.step} of {about.steps}.

| on the validation data | |
| --- | --- |
{chr(10).join(measured)}

- **Data**: {known["data"]["name"]}, version {about.data_version or "as shipped with the recipe"}
- **Labels**: {shown or "—"}
- **Trained on**: {about.hardware}, Paddle {known["paddle"]}, about ${about.cost_usd or "?"} (estimate)
- **Code**: {known["code_version"]}, seed {known["seed"]}
- **Exported model and trained model** differ by at most {difference:.2g} on validation samples.

## Use

`paddock predict {run} "…"` tries it on your machine. In your own code:

```python
import paddle

model = paddle.jit.load("model")   # in this folder: model.json or model.pdmodel, and model.pdiparams
model.eval()
answer = model(paddle.to_tensor(inputs))   # inputs as `reading` in about.json says
```

## Parameters

| | |
| --- | --- |
{parameters}
"""


def code_version() -> str:
    """A hash of the code that trained: the same code, the same version, wherever it runs."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
