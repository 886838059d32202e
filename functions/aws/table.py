"""The one DynamoDB table. Keys: `JOB#<id>`/`JOB` (written by functions/jobs.py), `JOB#<id>`/`TOLD` (by
functions/notify.py, as `SLACK`/`OUTAGE` and `CHANNEL#<id>`/`CLOSED`), `MONTH#<month>`/`LEDGER`, `/ALERTS` and `/TOLD`,
`TEAM`/`CAP`, `PRICE#<name>`/`PRICE`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

from bot.told import Told
from functions.ports import Conflict, NoRoom
from functions.telling import Outage
from jobs.job import Job
from jobs.model import Usd
from jobs.team import Entry, Ledger, MonthAlerts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LIVE, BY_AGE = "live", "by-age"
_PERSON = "person:"


class Table:
    """`default_cap`: the team's month until somebody sets it."""

    def __init__(self, client: DynamoDBClient, name: str, default_cap: Usd) -> None:
        self._client, self._name, self._default_cap = client, name, default_cap

    def load(self, id: str) -> Job | None:
        """The job as last saved, or None. A consistent read."""
        item = self._get(f"JOB#{id}", "JOB")
        return Job.model_validate_json(item["doc"]) if item else None

    def save(self, job: Job, had_version: int, moved: list[Entry], enforce: bool) -> None:
        """See ports.JobTable."""
        put = {"Put": self._put_job(job, had_version)}
        if not moved:
            self._write([put], enforce=False, moved=[])
            return
        cap = self.cap()
        ledgers = [{"Update": self._move(entry, job.owner.id, cap if enforce else None)} for entry in moved]
        self._write([put, *ledgers], enforce, moved)

    def live(self) -> Iterator[Job]:
        """Every job that may still cost something, in no order. Eventually consistent: what is missing now comes with
        the next tick."""
        query: dict[str, Any] = {
            "TableName": self._name, "IndexName": LIVE, "KeyConditionExpression": "live = :yes",
            "ExpressionAttributeValues": {":yes": {"S": "yes"}},
        }  # fmt: skip
        for page in self._client.get_paginator("query").paginate(**query):
            for item in page["Items"]:
                yield Job.model_validate_json(item["doc"]["S"])

    def newest(self, count: int) -> list[Job]:
        """The newest jobs, newest first."""
        answer = self._client.query(
            TableName=self._name, IndexName=BY_AGE, KeyConditionExpression="listed = :yes", Limit=count,
            ExpressionAttributeValues={":yes": {"S": "yes"}}, ScanIndexForward=False,
        )  # fmt: skip
        return [Job.model_validate_json(item["doc"]["S"]) for item in answer["Items"]]

    def ledger(self, month: str) -> Ledger:
        """A month's books."""
        item = self._get(f"MONTH#{month}", "LEDGER") or {}
        people = {key[len(_PERSON) :]: value for key, value in item.items() if key.startswith(_PERSON)}
        return Ledger(month=month, committed=item.get("committed", Decimal(0)), settled=item.get("settled", Decimal(0)),
                      people=people)  # fmt: skip

    def cap(self) -> Usd:
        """The team's budget for a month, USD."""
        item = self._get("TEAM", "CAP")
        return item["usd"] if item else self._default_cap

    def set_cap(self, usd: Usd) -> None:
        """Set the team's monthly budget. Runs that are already accepted keep what they reserved."""
        self._client.put_item(TableName=self._name, Item=_item({"pk": "TEAM", "sk": "CAP", "usd": usd}))

    def month_alerts(self, month: str) -> MonthAlerts:
        """What was said of a month."""
        item = self._get(f"MONTH#{month}", "ALERTS")
        return MonthAlerts.model_validate_json(item["doc"]) if item else MonthAlerts(month=month)

    def save_month_alerts(self, alerts: MonthAlerts) -> None:
        key = {"pk": f"MONTH#{alerts.month}", "sk": "ALERTS"}
        self._client.put_item(TableName=self._name, Item=_item({**key, "doc": alerts.model_dump_json()}))

    def told(self, key: str) -> Told:
        """What Slack has of `JOB#<id>` or `MONTH#<month>`."""
        item = self._get(key, "TOLD")
        return Told.model_validate_json(item["doc"]) if item else Told()

    def save_told(self, key: str, told: Told) -> None:
        self._client.put_item(
            TableName=self._name, Item=_item({"pk": key, "sk": "TOLD", "doc": told.model_dump_json()})
        )

    def outage(self) -> Outage | None:
        """See telling.Books."""
        item = self._get("SLACK", "OUTAGE")
        return Outage.model_validate_json(item["doc"]) if item else None

    def save_outage(self, outage: Outage | None, had: Outage | None) -> bool:
        """See telling.Books."""
        key = _item({"pk": "SLACK", "sk": "OUTAGE"})
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if had is not None:
            condition = {"ConditionExpression": "doc = :had",
                         "ExpressionAttributeValues": _item({":had": had.model_dump_json()})}  # fmt: skip
        try:
            if outage is None:
                self._client.delete_item(TableName=self._name, Key=key, **condition)
            else:
                item = {**key, **_item({"doc": outage.model_dump_json()})}
                self._client.put_item(TableName=self._name, Item=item, **condition)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return False
            raise
        return True

    def close(self, channel: str, code: str) -> None:
        """See telling.Books."""
        key = {"pk": f"CHANNEL#{channel}", "sk": "CLOSED"}
        if code:
            self._client.put_item(TableName=self._name, Item=_item({**key, "code": code}))
        else:
            self._client.delete_item(TableName=self._name, Key=_item(key))

    def obstacle(self, channel: str) -> str:
        """See bot.desk.Desk. One read."""
        keys = [_item({"pk": "SLACK", "sk": "OUTAGE"}), _item({"pk": f"CHANNEL#{channel}", "sk": "CLOSED"})]
        answer = self._client.batch_get_item(RequestItems={self._name: {"Keys": keys}})
        items = {item["sk"]["S"]: item for item in answer["Responses"].get(self._name, [])}
        if "OUTAGE" in items:
            return Outage.model_validate_json(items["OUTAGE"]["doc"]["S"]).code
        return items["CLOSED"]["code"]["S"] if "CLOSED" in items else ""

    def note(self, key: str) -> str | None:
        """A cached document that is not past its time, or None."""
        item = self._get(f"PRICE#{key}", "PRICE")
        return item["doc"] if item and item["expires"] > int(time.time()) else None

    def keep_note(self, key: str, doc: str, seconds: int) -> None:
        self._client.put_item(
            TableName=self._name,
            Item=_item({"pk": f"PRICE#{key}", "sk": "PRICE", "doc": doc, "expires": int(time.time()) + seconds}),
        )

    def _get(self, pk: str, sk: str) -> dict[str, Any] | None:
        key = _item({"pk": pk, "sk": sk})
        item = self._client.get_item(TableName=self._name, Key=key, ConsistentRead=True).get("Item")
        return {k: _READ.deserialize(v) for k, v in item.items()} if item else None

    def _put_job(self, job: Job, had_version: int) -> dict[str, Any]:
        item: dict[str, Any] = {
            "pk": f"JOB#{job.id}", "sk": "JOB", "version": job.version, "state": job.state.value, "listed": "yes",
            "created_at": job.created_at.isoformat(), "doc": job.model_dump_json(),
        }  # fmt: skip
        if not job.settled:
            item["live"] = "yes"
        put: dict[str, Any] = {"TableName": self._name, "Item": _item(item)}
        if had_version:
            put["ConditionExpression"] = "version = :had"
            put["ExpressionAttributeValues"] = {":had": {"N": str(had_version)}}
        else:
            put["ConditionExpression"] = "attribute_not_exists(pk)"
        return put

    def _move(self, entry: Entry, person: str, cap: Usd | None) -> dict[str, Any]:
        values = {":c": entry.committed, ":s": entry.settled}
        update: dict[str, Any] = {
            "TableName": self._name, "Key": _item({"pk": f"MONTH#{entry.month}", "sk": "LEDGER"}),
            "UpdateExpression": "ADD committed :c, settled :s, #p :s",
            "ExpressionAttributeNames": {"#p": f"{_PERSON}{person}"},
        }  # fmt: skip
        if cap is not None and entry.committed > 0:
            values[":room"] = cap - entry.committed
            update["ConditionExpression"] = "committed <= :room" + (
                " OR attribute_not_exists(committed)" if cap >= entry.committed else ""
            )
        update["ExpressionAttributeValues"] = _item(values)
        return update

    def _write(self, actions: list[dict[str, Any]], enforce: bool, moved: list[Entry]) -> None:
        try:
            if len(actions) == 1:
                self._client.put_item(**actions[0]["Put"])
            else:
                self._client.transact_write_items(TransactItems=actions)  # type: ignore[arg-type]
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == "ConditionalCheckFailedException":
                raise Conflict from error
            if code != "TransactionCanceledException":
                raise
            reasons = [r.get("Code", "None") for r in error.response.get("CancellationReasons", [])]
            if enforce and reasons and reasons[0] == "None":
                for entry, reason in zip(moved, reasons[1:], strict=False):
                    if reason == "ConditionalCheckFailed":
                        cap = self.cap()
                        free = max(Decimal(0), cap - self.ledger(entry.month).committed)
                        raise NoRoom(entry.month, free, cap) from error
            raise Conflict from error


_WRITE, _READ = TypeSerializer(), TypeDeserializer()


def _item(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _WRITE.serialize(value) for key, value in values.items()}
