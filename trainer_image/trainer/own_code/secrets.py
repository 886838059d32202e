"""Secrets by name, from Secrets Manager into the environment of the team's command and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import boto3
from botocore.exceptions import ClientError

from jobs.problem import Problem
from trainer_image.trainer.setting import Refused, Setting
from trainer_image.trainer.storage import RETRIES

PREFIX = "run"
"""`secret=wandb` is the secret `<deployment>/run/wandb`: the instance's role may read no others."""


def read(setting: Setting) -> dict[str, str]:
    """Environment variables: of a secret that is a JSON object its entries, else one named like it, in capitals.

    Raises Refused if there is no such secret."""
    names = [name for name in str(setting.params["secret"] or "").split(",") if name]
    if not names:
        return {}
    client: Any = boto3.client("secretsmanager", region_name=setting.spec.region, config=RETRIES)
    found: dict[str, str] = {}
    for name in names:
        full = f"{setting.spec.deployment}/{PREFIX}/{name}"
        try:
            text = client.get_secret_value(SecretId=full)["SecretString"]
        except ClientError as error:
            facts = {"value": name, "place": full, "detail": error.response["Error"]["Code"]}
            raise Refused(Problem(code="no_such_secret", facts=facts)) from error
        found |= _variables(name, text)
    return found


def _variables(name: str, text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return {str(key): str(entry) for key, entry in value.items()}
    return {"".join(char if char.isalnum() else "_" for char in name).upper(): text}
