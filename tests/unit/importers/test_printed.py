"""Printed output of an external run's sessions: an agent's stream, or plain text."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.importers import output_reader
from tests.foreign import (
    INIT,
    External,
    entry,
    of_kind,
    output,
    printed_times,
    read_run,
    result,
    spoke,
    used,
)
from tests.rows import each_row


def one_session(project: Path, *lines: dict[str, Any] | str, **fields: Any) -> External:
    foreign = External(project)
    foreign.state(entry(1, 10, **fields))
    foreign.printed(1, *lines)
    return foreign


def block(fields: dict[str, Any], kind: str) -> dict[str, Any]:
    """The same as part of a message."""
    return {"type": kind, "message": {"role": kind, "content": [fields]}}


def test_bare_tool_lines_and_blocks_are_taken_each_id_once(tmp_path: Path) -> None:
    call, answer = used("t1", command="make test"), output("t1", "Exit code 2", error=True)
    one_session(
        tmp_path, INIT, call, block(call, "assistant"), block(answer, "user"), answer,
        block(used("t2", "Read", file_path="/home/dev/project/a.py"), "assistant"), output("t2"),
        call, answer, result(),
    )  # fmt: skip
    _, recording, state = read_run(tmp_path)
    begun = [(e.tool_id, e.tool, e.summary) for e in of_kind(recording, ev.ToolStarted)]
    assert begun == [("t1", "Bash", "make test"), ("t2", "Read", "a.py")]
    ended = [(e.tool_id, e.ok, e.summary) for e in of_kind(recording, ev.ToolFinished)]
    assert ended == [("t1", False, "exit 2"), ("t2", True, "1 line")]
    (end,) = of_kind(recording, ev.SessionFinished)
    assert (end.outcome, end.tool_calls, end.tool_errors) == ("success", 2, 1)
    assert state.run.cost_usd == 0.5


def test_offsets_point_into_the_output(tmp_path: Path) -> None:
    foreign = one_session(tmp_path, INIT, spoke("one"), spoke("two"), result())
    _, recording, _ = read_run(tmp_path)
    (session,) = of_kind(recording, ev.SessionStarted)
    content = (foreign.folder / session.transcript).read_bytes()
    for event in of_kind(recording, ev.AgentSpoke):
        line = content[event.offset :].split(b"\n", 1)[0]
        assert json.loads(line)["message"]["content"][0]["text"] == event.text


def test_a_tool_takes_the_time_between_its_lines_in_the_transcript(tmp_path: Path) -> None:
    foreign = one_session(tmp_path, INIT, used("t1"), output("t1"), result())
    printed_times(foreign, (1, 0, 3))
    (tool,) = of_kind(read_run(tmp_path)[1], ev.ToolFinished)
    assert tool.duration_s == 60


def test_without_times_no_tool_is_said_to_have_taken_any(tmp_path: Path) -> None:
    one_session(tmp_path, INIT, used("t1"), output("t1"), result())
    assert [tool.duration_s for tool in of_kind(read_run(tmp_path)[1], ev.ToolFinished)] == [0]


def test_an_error_that_stands_alone_is_a_note(tmp_path: Path) -> None:
    one_session(tmp_path, INIT, {"type": "error", "error": "TypeError: no token"}, result())
    (note,) = of_kind(read_run(tmp_path)[1], ev.AgentNoted)
    assert (note.level, note.text) == ("error", "TypeError: no token")


@each_row(
    "line",
    [
        {"ralph_external_completion": True, "success": True},
        spoke('Done.\n{"ralph_external_completion": true, "success": true}'),
    ],
)
def test_its_way_to_say_that_the_work_is_done_is_a_promise(line: Any, tmp_path: Path) -> None:
    one_session(tmp_path, INIT, line, line, result())
    assert len(of_kind(read_run(tmp_path)[1], ev.PromiseMade)) == 1


def test_a_result_that_failed_is_no_success_whatever_the_exit_code(tmp_path: Path) -> None:
    one_session(tmp_path, INIT, result(is_error=True, result="API Error: 529 overloaded"))
    (end,) = of_kind(read_run(tmp_path)[1], ev.SessionFinished)
    assert (end.outcome, end.limit) == ("limited", "overload")


@each_row(("points", "outcome"), [(10, "success"), (None, "crashed")])
def test_plain_words_are_the_agents_words(points: int | None, outcome: str, tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, points))
    foreign.printed(1, "I looked around.", "", "All is done.")
    _, recording, _ = read_run(tmp_path)
    assert [e.text for e in of_kind(recording, ev.AgentSpoke)] == ["I looked around.\nAll is done."]
    (session,) = of_kind(recording, ev.SessionStarted)
    assert not session.tells_tools
    assert of_kind(recording, ev.SessionFinished)[0].outcome == outcome


def test_an_output_that_is_not_there_is_no_session(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10))
    _, recording, state = read_run(tmp_path)
    assert of_kind(recording, ev.SessionStarted) == []
    assert state.run.completions == [10]


def test_control_sequences_and_secrets_stay_out(tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-" + "A" * 93 + "AA"
    one_session(tmp_path, INIT, spoke(f"\x1b[31mred\x1b[0m {key}"), result())
    (words,) = of_kind(read_run(tmp_path)[1], ev.AgentSpoke)
    assert "\x1b" not in words.text
    assert key not in words.text


def test_of_a_long_output_beginning_and_end_are_told_and_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_reader, "HEAD_BYTES", 1 << 16)
    monkeypatch.setattr(output_reader, "TAIL_BYTES", 1 << 14)
    foreign = one_session(tmp_path, INIT, spoke("first words"))
    path = foreign.folder / "outputs/001-stdout.log"
    with path.open("a") as file:
        for _ in range(200):
            file.write(json.dumps(spoke("x" * 1000)) + "\n" + "y" * 200_000 + "\n")
        file.write(json.dumps(spoke("last words")) + "\n" + json.dumps(result(cost=7)) + "\n")
    assert path.stat().st_size > 40_000_000
    tracemalloc.start()
    _, recording, state = read_run(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    words = [event.text for event in of_kind(recording, ev.AgentSpoke)]
    assert (words[0], words[-1]) == ("first words", "last words")
    assert state.run.cost_usd == 7
    assert any("Left out here" in note.text for note in of_kind(recording, ev.AgentNoted))


def test_no_more_events_are_told_than_so_many_and_all_calls_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_reader, "MAX_EVENTS", 10)
    calls = [line for k in range(30) for line in (used(f"t{k}"), output(f"t{k}"))]
    one_session(tmp_path, INIT, *calls, result())
    _, recording, _ = read_run(tmp_path)
    assert len(of_kind(recording, ev.ToolStarted)) <= 10
    assert of_kind(recording, ev.SessionFinished)[0].tool_calls == 30
    assert any("events" in note.text for note in of_kind(recording, ev.AgentNoted))


@each_row(
    "garbage",
    [b"", b"\n\n", b"\xff\xfe\x00", b"{" * 5000, b'{"type": 7}', b'{"type": "assistant"}',
     b'{"type": "assistant", "message": {"content": [7, null, {"type": "tool_use", "id": 7}]}}',
     b'{"type": "tool_result"}', b'{"type": "result", "usage": 7, "total_cost_usd": "a"}'],
)  # fmt: skip
def test_garbage_in_an_output_costs_its_own_line(garbage: bytes, tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    first, last = json.dumps(INIT).encode(), json.dumps(result()).encode()
    path = foreign.folder / "outputs" / "001-stdout.log"
    path.parent.mkdir()
    path.write_bytes(b"\n".join([first, garbage, json.dumps(spoke("hello")).encode(), last]))
    _, recording, state = read_run(tmp_path)
    assert "hello" in [event.text for event in of_kind(recording, ev.AgentSpoke)]
    assert state.run.cost_usd == 0.5
