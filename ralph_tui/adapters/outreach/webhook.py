"""A channel that posts JSON to a web address; 2xx means that the message was accepted."""

from ralph_tui.adapters.outreach.channel import ChannelContext
from ralph_tui.adapters.outreach.http_service import USUAL, HttpService, Timeouts, UndeliveredError
from ralph_tui.adapters.outreach.message import Message, payload
from ralph_tui.config.settings import shown_address

SETTING = "outreach.webhook"


class Webhook:
    """POSTs every message; a repeated one has the same ``Idempotency-Key`` and ``id``."""

    name = "webhook"
    comments = False

    def __init__(self, url: str, timeouts: Timeouts = USUAL) -> None:
        """`url` is a secret, so messages show only scheme and host."""
        self._url = url
        self.place = shown_address(url)
        self._service = HttpService(self.place, secrets=(url,), timeouts=timeouts)

    @classmethod
    def from_settings(cls, context: ChannelContext) -> "Webhook | None":
        """Return the webhook in the settings, or None."""
        url = context.settings.webhook
        return None if url is None else cls(url.get_secret_value())

    def deliver(self, message: Message, *, again: bool = False) -> str:
        key = {"Idempotency-Key": message.key}
        response = self._service.call("POST", self._url, body=payload(message), headers=key)
        status = response.status
        if 200 <= status < 300:
            return f"{self.place} accepted it (HTTP {status})"
        if status < 400:
            raise UndeliveredError(
                f"{self.place} answered with a redirect (HTTP {status}); set {SETTING} "
                f"to the final address",
                "mend",
            )
        if status in (400, 413, 415, 422):
            raise UndeliveredError(
                f"{self.place} rejected the message (HTTP {status}); {SETTING} must accept any "
                "JSON object",
                "drop",
            )
        raise UndeliveredError(
            f"{self.place} refused it (HTTP {status}); check the address in {SETTING}", "mend"
        )

    def issue_of(self, run_id: str) -> None:
        return None

    def probe(self, message: Message) -> str:
        return self.deliver(message)
