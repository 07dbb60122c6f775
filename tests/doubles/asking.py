"""A script that asks a service for each answer, as the real binary does: see `api`."""

import json
import time
import urllib.error
import urllib.request

from tests.doubles.scenario import Answer, Script, ToolUse
from tests.doubles.wire import Wire

TOOLS = [{"name": name} for name in ("Bash", "Edit", "Read", "Write")]
LONGEST_S = 30.0


class Asking(Script):
    """Sends the conversation and returns the model's answer."""

    def __init__(self, url: str, wire: Wire) -> None:
        super().__init__((), time.time())
        self._url = f"{url}/v1/messages"
        self._wire = wire

    def next(self, now: float) -> Answer:
        """See `Script`; a prompt that is too long is the only refusal there is."""
        asked = {"model": self._wire.model, "messages": self._wire.conversation, "tools": TOOLS}
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._url, json.dumps(asked).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=LONGEST_S) as response:
                message = json.load(response)
        except urllib.error.HTTPError as refused:
            if refused.code != 400:
                raise
            return Answer(fault="overflow")
        blocks, usage = message["content"], message["usage"]
        return Answer(
            text="".join(block["text"] for block in blocks if block["type"] == "text"),
            tools=[
                ToolUse(block["name"], block["input"])
                for block in blocks
                if block["type"] == "tool_use"
            ],
            input_tokens=usage["input_tokens"],
            cached_tokens=usage["cache_read_input_tokens"],
            output_tokens=usage["output_tokens"],
        )
