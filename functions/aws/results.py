"""What trainers leave in the bucket: a job's result, which outlives every message about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from botocore.exceptions import ClientError
from pydantic import ValidationError

from functions.aws.instances import result_of
from jobs.messages import Finished

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger(service="paddock", child=True)


LINK_S = 3600


class BucketResults:
    """See ports.Results."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def result(self, job: str) -> Finished | None:
        """The trainer's own `Finished`. One that cannot be read, or is another job's, proves nothing.

        Raises ClientError; without s3:ListBucket S3 answers 403 for a key that is not there."""
        try:
            body = self._client.get_object(Bucket=self._bucket, Key=result_of(job))["Body"].read()
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchKey":
                return None
            raise
        try:
            finished = Finished.model_validate_json(body)
        except ValidationError:
            logger.warning("a result that cannot be read", extra={"job": job})
            return None
        return finished if finished.job == job else None

    def link(self, key: str) -> str:
        """A link to an object that lasts an hour, or as long as this function's own credentials."""
        return self._client.generate_presigned_url(
            "get_object", Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=LINK_S
        )

    def picture(self, key: str) -> bytes | None:
        """An object's content, or None if it is not there. Raises ClientError."""
        try:
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchKey":
                return None
            raise
