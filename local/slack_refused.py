"""How the Slack stand-in refuses a call."""


class Refused(Exception):
    """An error as the Web API gives it."""

    def __init__(self, error: str, detail: str = "", retry_after: int = 0) -> None:
        super().__init__(error)
        self.error, self.detail, self.retry_after = error, detail, retry_after
