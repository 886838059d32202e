"""The team's data: the list of uploaded sets (`DATA`/`<name>` in the table, written by `paddock data`), and files in
the buckets that this deployment may read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from jobs.data.dataset import DataSet, FileRef, Version
from jobs.problem import Problem, nearest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

PARTITION = "DATA"
LARGEST_LIST = 8 << 20
"""Of a list of files among them, what is read of it, bytes."""
_ABSENT = ("404", "NoSuchKey", "NoSuchBucket", "NotFound")


class RemoteFile:
    """See jobs.data.check.Remote."""

    def __init__(self, client: S3Client, ref: FileRef) -> None:
        self._client, self._ref = client, ref

    @property
    def file(self) -> str:
        return self._ref.file

    @property
    def size(self) -> int:
        return self._ref.size

    def read_range(self, start: int, length: int) -> bytes:
        end = min(self.size, start + length) - 1
        if end < start:
            return b""
        try:
            answer = self._client.get_object(Bucket=self._ref.bucket, Key=self._ref.key, Range=f"bytes={start}-{end}")
            return answer["Body"].read()
        except (ClientError, BotoCoreError) as error:
            raise OSError(str(error)) from error


class RemoteFolder:
    """All that begins with a key, as far as the first page of its list says (1,000 objects): see jobs.data.check."""

    def __init__(self, client: S3Client, ref: FileRef) -> None:
        self._client, self._ref = client, ref

    @property
    def file(self) -> str:
        return self._ref.key.rstrip("/").rsplit("/", 1)[-1] + "/"

    @property
    def size(self) -> int:
        return self._ref.size

    def read_range(self, start: int, length: int) -> bytes:
        raise OSError("it is a folder")

    def names(self) -> list[str]:
        """Relative to the key."""
        try:
            page = self._client.list_objects_v2(Bucket=self._ref.bucket, Prefix=self._ref.key)
        except (ClientError, BotoCoreError) as error:
            raise OSError(str(error)) from error
        return [entry["Key"].removeprefix(self._ref.key) for entry in page.get("Contents", [])]

    def read_member(self, name: str) -> bytes:
        member: FileRef = self._ref.with_(key=self._ref.key + name, size=LARGEST_LIST)
        return RemoteFile(self._client, member).read_range(0, LARGEST_LIST)


class Data:
    """`buckets`: those besides our own from which `s3://` places may be read."""

    def __init__(
        self, dynamodb: DynamoDBClient, table: str, s3: S3Client, bucket: str, buckets: tuple[str, ...]
    ) -> None:
        self._dynamodb, self._table, self._s3, self._bucket, self._buckets = dynamodb, table, s3, bucket, buckets

    def sets(self) -> list[DataSet]:
        """All uploaded sets, by name."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :data",
            ExpressionAttributeValues={":data": {"S": PARTITION}},
        )
        return [DataSet.model_validate_json(item["doc"]["S"]) for page in pages for item in page["Items"]]

    def find(self, value: str) -> FileRef | Problem:
        """What a name or an `s3://` place stands for now; or that there is nothing, or nothing that may be read."""
        ref = self._place(value) if value.startswith("s3://") else self._named(value)
        if isinstance(ref, Problem):
            return ref
        facts = {"value": value}
        if ref.key.endswith("/"):
            return (
                ref
                if RemoteFolder(self._s3, ref).names()
                else Problem(code="data_gone", facts=facts | {"detail": "empty"})
            )
        try:
            size = self._s3.head_object(Bucket=ref.bucket, Key=ref.key)["ContentLength"]
        except ClientError as error:
            absent = error.response["Error"]["Code"] in _ABSENT
            return Problem(code="data_gone" if absent else "data_unreadable",
                           facts=facts | {"detail": error.response["Error"]["Code"]})  # fmt: skip
        except BotoCoreError as error:
            return Problem(code="data_unreadable", facts=facts | {"detail": str(error)})
        found: FileRef = ref.with_(size=size)
        return found

    def open(self, ref: FileRef) -> RemoteFile | RemoteFolder:
        """The file, to be read in parts; or the folder."""
        return RemoteFolder(self._s3, ref) if ref.key.endswith("/") else RemoteFile(self._s3, ref)

    def put(self, name: str, version: Version, path: Path) -> DataSet:
        """Upload a version and put it on the list; the same content again changes nothing. The list comes last: what is
        on it is there. Raises what the bucket and the table raise."""
        had = self._listed(name)
        if had is not None and had.newest.sha256 == version.sha256:
            return had
        self._s3.upload_file(str(path), self._bucket, version.key)
        new = DataSet(name=name, versions=(*(had.versions if had else ()), version))
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if had is not None:
            condition = {"ConditionExpression": "doc = :had",
                         "ExpressionAttributeValues": {":had": {"S": had.model_dump_json()}}}  # fmt: skip
        item = {"pk": {"S": PARTITION}, "sk": {"S": name}, "doc": {"S": new.model_dump_json()}}
        self._dynamodb.put_item(TableName=self._table, Item=item, **condition)
        return new

    def remove(self, name: str) -> DataSet | None:
        """Take a name off the list and delete its files. None: there is no such name."""
        had = self._listed(name)
        if had is None:
            return None
        self._dynamodb.delete_item(TableName=self._table, Key={"pk": {"S": PARTITION}, "sk": {"S": name}})
        for version in had.versions:
            self._s3.delete_object(Bucket=self._bucket, Key=version.key)
        return had

    def _listed(self, name: str) -> DataSet | None:
        key = {"pk": {"S": PARTITION}, "sk": {"S": name}}
        item = self._dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        return DataSet.model_validate_json(item["doc"]["S"]) if item is not None else None

    def _named(self, value: str) -> FileRef | Problem:
        listed = self._listed(value)
        if listed is not None:
            return listed.ref(self._bucket)
        names = [found.name for found in self.sets()]
        if not names:
            return Problem(code="no_data", facts={"value": value})
        return Problem(code="no_such_data", facts={"value": value, "nearest": nearest(value, names) or "",
                                                   "known": ", ".join(names[:20])})  # fmt: skip

    def _place(self, value: str) -> FileRef | Problem:
        bucket, _, key = value.removeprefix("s3://").partition("/")
        if bucket not in self._buckets:
            known = ", ".join(self._buckets)
            return Problem(code="bucket_not_allowed", facts={"value": bucket, "known": known})
        return FileRef(name=value, bucket=bucket, key=key, size=0)
