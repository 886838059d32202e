"""functions/notify.py in a process of its own, as Lambda runs it: an event per line in, its answer per line out."""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What is logged goes to the log, not among the answers.
    from functions import notify

    context = SimpleNamespace(
        function_name="notify", memory_limit_in_mb=512, invoked_function_arn="arn:aws:lambda:::function:notify",
        aws_request_id="drill",
    )  # fmt: skip
    for line in sys.stdin:
        try:
            answer = {"ok": notify.handler(json.loads(line), context)}  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001  (it is the test that judges)
            answer = {"raised": repr(error)}  # type: ignore[dict-item]
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
