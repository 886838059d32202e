"""What an error of Slack's means for a message: it may be taken later; its channel is closed to us; or it is never
taken (docs.slack.dev, the "Errors" of chat.postMessage, chat.update and
chat.postEphemeral). Every error that is not known to heal is for good, for that one message."""

from __future__ import annotations

from http.client import HTTPException

from slack_sdk.errors import SlackApiError, SlackClientError

HEALS = frozenset(
    {"ratelimited", "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
TOKEN_DEAD = frozenset(
    {"account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked", "org_login_required"}
)
"""Nothing at all can be sent until somebody installs the app again; then everything can."""
CHANNEL_CLOSED = frozenset(
    {"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "restricted_action_read_only_channel",
     "restricted_action_thread_only_channel", "restricted_action_non_threadable_channel"}
)  # fmt: skip
UNREACHABLE = "unreachable"
CONNECTION_ERRORS = (OSError, HTTPException, SlackClientError)
"""What a call raises when Slack did not answer: urllib's URLError and time-outs are OSErrors."""


class Later(Exception):
    """Slack does not take it now. `after_s`: what `Retry-After` asks for. `everywhere`: all of Slack, or our token; not
    one method's rate limit."""

    def __init__(self, code: str, after_s: float | None = None) -> None:
        super().__init__(code)
        self.code, self.after_s = code, after_s

    @property
    def everywhere(self) -> bool:
        return self.code != "ratelimited"


def code_of(error: Exception) -> str:
    """Slack's word for a permanent error. Raises Later for one that heals.

    The SDK gives an answer that is no JSON as a dictionary with `status`."""
    if not isinstance(error, SlackApiError):
        raise Later(UNREACHABLE) from error
    response = error.response
    status = int(getattr(response, "status_code", None) or response.get("status") or 200)
    code = str(response.get("error") or f"http_{status}")
    headers = dict(getattr(response, "headers", None) or response.get("headers") or {})
    wait = next((str(value) for name, value in headers.items() if name.lower() == "retry-after"), "")
    if status == 429:
        code = "ratelimited"
    if code in HEALS or code in TOKEN_DEAD or status >= 500:
        raise Later(code, float(wait) if wait.isdigit() else None) from error
    return code
