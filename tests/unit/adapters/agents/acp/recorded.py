"""Recordings of real programs, read as a session reads them."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from ralph_tui.adapters.agents.acp import ends
from ralph_tui.adapters.agents.acp.quirks import ANY, Quirks, of_name
from ralph_tui.adapters.agents.acp.updates import UpdateReader
from ralph_tui.adapters.agents.ends import SessionEnd
from ralph_tui.adapters.agents.rpc.messages import Notification, Request, Response, read_message
from ralph_tui.events import Event
from ralph_tui.text.json_fields import as_map, as_text
from tests.paths import FIXTURES

FOLDER = FIXTURES / "agents"
ROOT = "/home/user/project"
NOW = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
T = TypeVar("T", bound=Event)


def names() -> list[str]:
    return sorted(path.stem.removeprefix("acp-") for path in FOLDER.glob("acp-*.jsonl"))


@dataclass
class Recorded:
    """Result of reading a recording."""

    events: list[Event] = field(default_factory=list)
    ends: list[SessionEnd] = field(default_factory=list)
    quirks: Quirks = ANY
    reader: UpdateReader | None = None

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]


def read(name: str) -> Recorded:
    recorded, asked = Recorded(), dict[object, str]()
    reader = UpdateReader(1, ROOT, ANY)
    recorded.reader = reader
    lines = (FOLDER / f"acp-{name}.jsonl").read_text().splitlines()
    for place, record in enumerate(map(json.loads, lines)):
        message = read_message(json.dumps(record["msg"]))
        reader.seek(place, record["t"])
        if record["dir"] == "in":
            if isinstance(message, Request):
                asked[message.id] = message.method
                if message.method == "session/prompt":
                    reader.begin_turn()
            continue
        match message:
            case Notification("session/update", params):
                recorded.events += reader.take(as_map(params.get("update")))
            case Request(method="session/request_permission", params=params):
                recorded.events += reader.asked(as_map(params.get("toolCall")))
            case Response(id=number, result=result, failure=None):
                if asked.get(number) == "initialize":
                    name = as_text(as_map(as_map(result).get("agentInfo")).get("name"))
                    recorded.quirks = reader.quirks = reader.tools.quirks = of_name(name, ANY)
                elif asked.get(number) == "session/prompt":
                    recorded.events += reader.turn_ended(as_map(result))
                    recorded.ends.append(
                        ends.of_result(as_map(result), reader, recorded.quirks, NOW)
                    )
            case Response(id=number, failure=failure) if failure is not None and number in asked:
                recorded.events += reader.turn_ended({})
                recorded.ends.append(ends.of_failure(failure, recorded.quirks, NOW))
            case _:
                pass
    return recorded
