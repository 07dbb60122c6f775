"""The stub of Codex sends the same events as Codex itself."""

import difflib
import json
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.events import AgentNoted, Event, SessionFinished, UsageReported
from ralph_tui.ports.agents import Permissions
from tests.doubles.codex_launch import CODEX_STUB
from tests.doubles.scenario import Answer, ToolUse
from tests.e2e.codex.lab import REAL, Lab, bash, write

pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(REAL is None, reason="no Codex: set RALPH_TEST_CODEX"),
]
OF_A_RUN = frozenset(
    {"seq", "at", "offset", "duration_s", "tool_id", "pid", "billing", "reason", "resets_at"}
    | {"version"}
)
"""Fields that differ from one run to the next, or between versions, and words."""
EDIT = Answer(
    tools=[ToolUse("Edit", {"file_path": "in.txt", "old_string": "new", "new_string": "newer"})]
)
SCENARIOS: dict[str, tuple[list[Answer], Permissions]] = {
    "work": (
        [bash("ls"), bash("false"), write("in.txt"), EDIT, Answer(text="done")],
        Permissions("skip"),
    ),
    "denied": ([bash("touch a"), write("/nowhere/x"), Answer(text="on")], Permissions()),
    "tried again": ([Answer(fault="529", times=3), Answer(text="done")], Permissions("skip")),
    "limited": ([bash("ls"), Answer(fault="429", resets_in_s=3600)], Permissions("skip")),
    "overflow": ([Answer(fault="overflow")], Permissions("skip")),
    "refused": ([Answer(fault="401", times=9)], Permissions("skip")),
}


def outline(events: list[Event]) -> list[dict[str, Any]]:
    """The part of the output that is the same in every run of a program."""
    data: list[dict[str, Any]] = []
    for event in events:
        fields = event.model_dump(exclude=set(OF_A_RUN))
        if isinstance(event, AgentNoted):
            if event.level != "warn":
                continue  # of the machine, or the service's words
            fields["text"] = event.text.partition(";")[0]
        if isinstance(event, SessionFinished):
            fields["exit_code"] = None
        if isinstance(event, UsageReported) and data and data[-1] == fields:
            continue
        if fields["kind"] == "session_described" and fields in data:
            continue
        data.append(fields)
    return data


@pytest.mark.parametrize("name", SCENARIOS)
def test_stub_and_codex_itself_are_equal(name: str, tmp_path: Path) -> None:
    answers, permissions = SCENARIOS[name]
    lines = {}
    for who, binary in (("stub", str(CODEX_STUB)), ("real", REAL or "")):
        place = tmp_path / who
        place.mkdir()
        heard, _ = Lab(place, binary).work(*answers, permissions=permissions)
        reported = [json.dumps(fields) for fields in outline(heard.events)]
        lines[who] = [line.replace(str(place), "PLACE") for line in reported]
    different = list(difflib.unified_diff(lines["stub"], lines["real"], "stub", "real", n=0))
    assert not different, "\n".join(different)
