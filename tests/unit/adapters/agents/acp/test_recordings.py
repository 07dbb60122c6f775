"""Recordings of real agents become events, and their ends are understood."""

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.acp.quirks import CLAUDE, CODEX, GEMINI, OPENCODE
from tests.rows import each_row
from tests.unit.adapters.agents.acp.recorded import names, read

GOOD = ("success", None)
BROKEN_OFF = ("error", None)
AUTH = ("auth", None)
USAGE = ("limited", "usage_limit")
OVERLOAD = ("limited", "overload")
ENDS = {
    "claudeacp-cancelperm": [BROKEN_OFF, GOOD],
    "claudeacp-e400ctx": [("context_full", None)],
    "claudeacp-e403": [AUTH],
    "claudeacp-e404": [("unknown_model", None)],
    "claudeacp-e429long": [USAGE],
    "claudeacp-e500": [("limited", "outage")],
    "claudeacp-second": [GOOD, GOOD],
    "claudeacp-sigterm": [BROKEN_OFF],
    "codexacp-e400ctx": [("context_full", None)],
    "codexacp-e401": [AUTH],
    "codexacp-e404": [("unknown_model", None)],
    "codexacp-e429": [USAGE],
    "codexacp-e429usage": [USAGE],
    "codexacp-e529": [OVERLOAD],
    "codexacp-exec-reject": [BROKEN_OFF],
    "codexacp-noauth": [AUTH],
    "codexacp-second": [GOOD, GOOD],
    "gemini-cancelshell": [BROKEN_OFF, GOOD],
    "gemini-e401": [AUTH],
    "gemini-e403": [AUTH],
    "gemini-e429quota": [USAGE],
    "gemini-load": [BROKEN_OFF, BROKEN_OFF],
    "gemini-noauth": [AUTH, BROKEN_OFF],
    "opencode-cancelshell": [BROKEN_OFF, GOOD],
    "opencode-e401": [AUTH],
    "opencode-e429": [USAGE],
    "opencode-e529": [OVERLOAD],
}
"""How each of their prompts ended; unlisted ones ended well, once."""


@each_row("name", names())
def test_how_it_ended_is_understood(name: str) -> None:
    ends = read(name).ends
    assert [(end.outcome, end.limit) for end in ends] == ENDS.get(name, [GOOD])
    assert all(bool(end.reason) == (end.outcome != "success") for end in ends)
    assert all("\n" not in end.reason for end in ends)


@each_row("name", names())
def test_each_use_of_a_tool_begins_once_and_ends_once(name: str) -> None:
    recording = read(name)
    began = [event.tool_id for event in recording.of(ev.ToolStarted)]
    over = [event.tool_id for event in recording.of(ev.ToolFinished)]
    assert len(began) == len(set(began))
    assert sorted(over) == sorted(began)
    assert not [note for note in recording.of(ev.AgentNoted) if "Unknown kind" in note.text]
    assert not [spoke for spoke in recording.of(ev.AgentSpoke) if "MODE_UPDATE" in spoke.text]
    # The failed write outside the project is reported only by its end.
    named = [event.tool for event in recording.of(ev.ToolStarted) if not event.summary]
    assert named in ([], ["write_file"])


@each_row(
    ("name", "quirks", "tools"),
    [
        ("claudeacp-edits", CLAUDE, ["Read 3 lines", "Edit +1 −1", "Bash no output", "Write +1"]),
        ("codexacp-work", CODEX, ["exec_command 2 lines", "edit +1 −1", "exec_command 1 line"]),
        ("opencode-edits", OPENCODE, ["read 2 lines", "edit +1 −1", "bash no output", "write +1"]),
        ("gemini-edits", GEMINI, ["read_file ", "replace +1 −1", "run_shell_command "]),
    ],
)
def test_tools_are_told_by_their_names_and_results(
    name: str, quirks: object, tools: list[str]
) -> None:
    recording = read(name)
    assert recording.quirks is quirks
    names_of = {event.tool_id: event.tool for event in recording.of(ev.ToolStarted)}
    done = [event for event in recording.of(ev.ToolFinished) if event.ok]
    assert [f"{names_of[event.tool_id]} {event.summary}" for event in done] == tools


def test_pieces_of_a_text_are_one_text() -> None:
    for name, text in (
        ("codexacp-work", "I look first."),
        ("opencode-edits", "end"),
        ("gemini-hello", "hello from the double"),
    ):
        assert read(name).of(ev.AgentSpoke)[0].text == text


def test_a_session_that_is_loaded_is_not_told_again() -> None:
    assert [spoke.text for spoke in read("opencode-load").of(ev.AgentSpoke)] == ["it was 42"]
    assert [spoke.text for spoke in read("claudeacp-load").of(ev.AgentSpoke)] == ["it was 42"]


def test_usage_is_told_as_far_as_the_agent_tells_it() -> None:
    claude = read("claudeacp-edits").of(ev.UsageReported)[-1]
    assert (claude.tokens, claude.context_tokens, claude.context_window) == (
        59_626, 12_106, 1_000_000,
    )  # fmt: skip
    assert claude.cost_usd == pytest.approx(0.014252)
    codex = read("codexacp-work").of(ev.UsageReported)[-1]
    assert (codex.tokens, codex.context_tokens, codex.cost_usd) == (43_791, 11_111, None)
    opencode = read("opencode-edits").of(ev.UsageReported)
    assert [reported.context_tokens for reported in opencode] == [7995, 7995]
    assert [reported.tokens_partial for reported in (claude, codex, opencode[-1])] == [
        False,
        False,
        True,
    ]
    assert opencode[-1].cost_usd == pytest.approx(0.001665)
    gemini = read("gemini-edits").of(ev.UsageReported)[-1]
    assert (gemini.tokens, gemini.context_tokens, gemini.cost_usd) == (61_579, None, None)


def test_a_retry_inside_the_agent_is_told_once() -> None:
    (note,) = read("codexacp-e429").of(ev.AgentNoted)
    assert note.text == (
        "The service refused (exceeded retry limit, last status: 429 Too Many Requests); "
        "the agent is retrying"
    )
    assert note.service == "usage_limit"


def test_the_end_of_a_limit_is_told_where_words_tell_it() -> None:
    (codex,) = read("codexacp-e429usage").ends
    (gemini,) = read("gemini-e429quota").ends
    assert str(codex.resets_at) == "2026-11-22 00:26:00+00:00"
    # Google's days begin at midnight in California, which not every system knows.
    known = "America/Los_Angeles" in available_timezones()
    assert gemini.resets_at == (datetime(2026, 11, 22, 8, tzinfo=UTC) if known else None)
