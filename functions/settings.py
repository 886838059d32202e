"""The deployment's settings: the environment variables that template.yaml gives each function."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import boto3
from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.desk import House
from bot.wording import Language
from jobs.messages import Terms
from jobs.money import Currency, currency_of
from jobs.spec import Limits


class Settings(BaseModel):
    """Read once at a function's start. Raises pydantic's ValidationError that names what is missing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    deployment: str = Field(alias="PADDOCK_DEPLOYMENT")
    table: str = Field(alias="PADDOCK_TABLE")
    mailbox_url: str = Field(alias="PADDOCK_MAILBOX_URL")
    reports_url: str = Field(alias="PADDOCK_REPORTS_URL")
    retries_url: str = Field(alias="PADDOCK_RETRIES_URL")
    bucket: str = Field(alias="PADDOCK_BUCKET")
    secret: str = Field(alias="PADDOCK_SECRET")
    launch_template: str = Field(alias="PADDOCK_LAUNCH_TEMPLATE")
    schedule_group: str = Field(alias="PADDOCK_SCHEDULE_GROUP")
    schedule_role: str = Field(alias="PADDOCK_SCHEDULE_ROLE")
    image: str = Field(alias="PADDOCK_TRAINER_IMAGE")
    region: str = Field(alias="AWS_REGION")
    volume_gb: int = Field(alias="PADDOCK_VOLUME_GB")
    volume_usd_per_gb_month: Decimal = Field(alias="PADDOCK_VOLUME_USD_PER_GB_MONTH")
    address_usd_per_hour: Decimal = Field(alias="PADDOCK_ADDRESS_USD_PER_HOUR")
    price_lag_s: int = Field(alias="PADDOCK_PRICE_LAG_S")
    month_budget: Decimal = Field(alias="PADDOCK_MONTH_BUDGET")
    default_budget: Decimal = Field(alias="PADDOCK_DEFAULT_BUDGET")
    default_time_s: int = Field(alias="PADDOCK_DEFAULT_TIME_S")
    terms: Terms = Field(alias="PADDOCK_TERMS")
    admins: tuple[str, ...] = Field(alias="PADDOCK_ADMINS")
    language: Language = Field(alias="PADDOCK_LANGUAGE")
    data_buckets: tuple[str, ...] = Field(alias="PADDOCK_DATA_BUCKETS", default=())
    run_logs: str = Field(alias="PADDOCK_RUN_LOGS")
    code_hosts: tuple[str, ...] = Field(alias="PADDOCK_CODE_HOSTS", default=())
    budget_channel: str = Field(alias="PADDOCK_BUDGET_CHANNEL", default="")
    slack_api: str = Field(alias="PADDOCK_SLACK_API", default="https://slack.com/api/")

    @field_validator("admins", "data_buckets", "code_hosts", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(v for v in value.split(",") if v) if isinstance(value, str) else value

    @field_validator("terms", mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @property
    def currency(self) -> Currency:
        return currency_of(self.region)

    @property
    def house(self) -> House:
        limits = Limits(budget=self.default_budget, time_s=self.default_time_s, currency=self.currency)
        return House(defaults=limits, terms=self.terms, admins=self.admins, language=self.language,
                     code_hosts=self.code_hosts)  # fmt: skip


class Secrets(BaseModel):
    """The one secret in Secrets Manager."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    slack_signing_secret: str = Field(min_length=8)
    slack_bot_token: str = Field(min_length=8)
    report_key: str = Field(min_length=16)


@lru_cache(maxsize=1)
def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """This function's settings."""
    return Settings.model_validate(dict(environment or os.environ))


@lru_cache(maxsize=1)
def secrets() -> Secrets:
    """This deployment's secrets, read once per execution environment."""
    from functions.aws.clients import CONFIG

    client = boto3.client("secretsmanager", config=CONFIG)
    return Secrets.model_validate_json(client.get_secret_value(SecretId=settings().secret)["SecretString"])
