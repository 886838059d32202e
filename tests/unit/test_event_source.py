"""The double of the event source follows AWS's rules, so that it can fail where AWS does."""

from __future__ import annotations

from typing import Any

from tests.event_source import EventSource, Record, Rules, job_record, rules_of

RECORDS = [job_record(number, f"job{number}", "{}") for number in range(1, 31)]
DEFAULTS = Rules(BatchSize=10, FunctionResponseTypes=["ReportBatchItemFailures"])


class Handler:
    """Takes records, but not these."""

    def __init__(self, *poisoned: int, raises: bool = False) -> None:
        self.poisoned, self.raises = poisoned, raises
        self.taken: list[int] = []

    def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
        for record in event["Records"]:
            number = int(record["dynamodb"]["SequenceNumber"])
            if number in self.poisoned:
                if self.raises:
                    raise ValueError(number)
                return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
            self.taken.append(number)
        return {"batchItemFailures": []}


def numbers(records: list[Record]) -> list[int]:
    return [int(record["dynamodb"]["SequenceNumber"]) for record in records]


def test_a_record_that_is_reported_as_failed_holds_the_shard_until_it_expires() -> None:
    handler = Handler(14)
    source = EventSource(handler, DEFAULTS)
    source.feed(RECORDS)
    assert source.clock_s == 86_400, "for a day"
    assert numbers(source.dead) == [14, 15, 16, 17, 18, 19, 20]
    assert handler.taken == [*range(1, 14), *range(21, 31)]


def test_the_retries_end_earlier_if_the_mapping_says_so() -> None:
    source = EventSource(Handler(14), DEFAULTS.model_copy(update={"MaximumRetryAttempts": 3}))
    source.feed(RECORDS)
    assert source.clock_s == 3


def test_an_exception_fails_the_batch_and_bisecting_finds_the_record() -> None:
    rules = DEFAULTS.model_copy(update={"MaximumRetryAttempts": 2, "BisectBatchOnFunctionError": True})
    handler = Handler(14, raises=True)
    source = EventSource(handler, rules)
    source.feed(RECORDS)
    assert numbers(source.dead) == [14]
    assert set(handler.taken) == set(range(1, 31)) - {14}


def test_the_deployed_mapping_gives_up_and_keeps_what_it_gave_up() -> None:
    rules = rules_of("NotifyFunction", "Stream")
    assert rules.MaximumRetryAttempts <= 10
    assert rules.MaximumRecordAgeInSeconds <= 3600
    assert rules.FunctionResponseTypes == ["ReportBatchItemFailures"]
