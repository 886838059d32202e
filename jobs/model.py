"""The base of every value in this package: immutable, strict about unknown fields."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time without a zone: every time in Paddock is UTC")
    return value.astimezone(timezone.utc)


UtcTime = Annotated[datetime, AfterValidator(_in_utc)]
Usd = Decimal


class Model(BaseModel):
    """An immutable value. `with_` gives a changed copy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def with_(self, **changes: Any) -> Any:
        """A copy with these fields changed. The caller gives values of the right type: they are not validated again."""
        return self.model_copy(update=changes)
