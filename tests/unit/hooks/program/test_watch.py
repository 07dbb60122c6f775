"""After a tool: the window's size, each level's single action, and its record."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.hooks.program.call import Session
from ralph_tui.hooks.program.watch import (
    LARGEST,
    LEAST,
    VARIABLE,
    compacts_before,
    find_window,
    parse_size,
)
from ralph_tui.layers.context.levels import LEVELS, Level
from tests.hooks import SESSION, WINDOW, HookResult, Project
from tests.rows import each_row


def used(project: Project, tokens: int, number: int = 1, **environ: str) -> HookResult:
    """A tool call at this many tokens, and the hook's output."""
    given = project.uses(tokens, "Bash", number, command="make check")
    said = project.after_tool(environ, **given)
    project.answers(number)
    return said


def test_below_all_levels_nothing_is_said(project: Project) -> None:
    said = used(project, 100_000)
    assert (said.code, said.fields, said.err) == (0, {}, "")
    assert project.state["context_history"] == [
        {"iteration": 1, "peak_percent": 50, "checkpoint": False}
    ]


def test_the_first_level_warns_once(project: Project) -> None:
    line = "CCS_WARNING|L1|72|Context at 72%"
    said = used(project, 144_000, DISABLE_AUTO_COMPACT="1")
    assert said.user == line
    assert said.model.startswith(line + "\n")
    assert said.err == line + "\n"
    assert "continue" not in said.fields
    assert used(project, 150_000, 2).fields == {}
    assert project.state["context_checkpoint"] == {}


def test_with_the_warning_comes_what_would_spoil_the_checkpoint(project: Project) -> None:
    """A window of 200,000 tokens is compacted at 167,000; one of a million after the checkpoint."""
    line, early = used(project, 144_000).user.split("\n")
    assert line == "CCS_WARNING|L1|72|Context at 72%"
    assert "at about 84 %, before the checkpoint at 85 %" in early
    assert "DISABLE_AUTO_COMPACT=1" in early
    project.write_state(objective="x", context_window="1m")
    project.transcript.unlink()
    assert used(project, 720_000, 2).user == line


def test_the_second_level_hands_over_and_says_so_once(project: Project) -> None:
    project = project.with_git
    project.uses(90_000, "Edit", 1, file_path=str(project.root / "calc.py"))
    project.answers(1)
    (project.root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    said = used(project, 174_000, 2, TZ="UTC")
    state = project.state
    checkpoint = state["context_checkpoint"]
    line = f"CCS_CHECKPOINT_TRIGGERED|L2|87|{checkpoint['handoff_file']}"
    assert (said.code, said.user, said.err) == (0, line, line + "\n")
    assert said.model.startswith(line + "\n")
    assert checkpoint.keys() >= {
        *("active", "level", "percent_at_checkpoint", "timestamp", "handoff_file"),
        *("resume_summary", "files_in_progress", "current_todo_item", "progress_on_item"),
    }
    assert (checkpoint["active"], checkpoint["level"]) == (True, "L2")
    assert checkpoint["percent_at_checkpoint"] == 87
    assert checkpoint["files_in_progress"] == [
        {"path": "calc.py", "lines": "2", "description": "", "status": "+1 −1", "last_line": ""}
    ]
    assert state["context_history"][-1]["checkpoint"] is True
    handoff = (project.root / checkpoint["handoff_file"]).read_text()
    assert "Mend the parser" in handoff
    assert "calc.py" in handoff
    assert "make check" in handoff
    assert len(handoff) <= 4000
    assert used(project, 178_000, 3).fields == {}
    assert project.state["context_history"][-1]["peak_percent"] == 89
    run = project.run
    assert run.context.history[-1].rollovers == 1
    assert [event.read_at for event in project.events if isinstance(event, ev.HandoffWritten)] == [
        checkpoint["handoff_file"]
    ]


def test_the_next_session_is_told_where_to_continue_and_what_is_complete(project: Project) -> None:
    project = project.with_git
    (project.root / "PLAN.md").write_text(
        "- [ ] Mend add [simple]\n  - [x] sum\n  - [ ] overflow\n- [ ] Mend sub\n"
    )
    project.uses(90_000, "Edit", 1, file_path=str(project.root / "calc.py"))
    project.answers(1, result={"structuredPatch": [{"newStart": 1, "lines": [" d", "-r", "+r"]}]})
    (project.root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    used(project, 194_000, 2)
    checkpoint = project.state["context_checkpoint"]
    assert checkpoint["progress_on_item"] == "50 % done: 1 of 2 sub-items"
    assert checkpoint["files_in_progress"][0] == {
        "path": "calc.py",
        "lines": "2",
        "description": "Mend add [simple]",
        "status": "+1 −1, 50 % done",
        "last_line": "2",
    }
    prompt = (project.root / "PROMPT.md").read_text()
    for words in (
        "at 97 % of its context window (stop now)",
        "What is listed as completed is complete: do not redo it. Focus on the next part",
        "Completed: sum\nFirst open item in the plan: Mend add [simple] (50 % done: 1 of 2 sub-i",
        "Its next part: overflow\nLast edit: calc.py, line 2",
        "calc.py, line 2: Mend add [simple] (+1 −1, 50 % done)",
    ):
        assert words in prompt, words
    handoff = (project.root / checkpoint["handoff_file"]).read_text()
    assert "the item's next part, `overflow`, from line `2` of `calc.py`" in handoff


def test_completed_items_of_the_state_file_are_named(project: Project) -> None:
    used(project, 90_000)
    state = project.state | {"completed_items": ["Mend add"], "todo_items": ["Mend sub"]}
    project.write_state(**state)
    used(project, 194_000, 2)
    prompt = (project.root / "PROMPT.md").read_text()
    assert "Completed: Mend add\nFirst open item in the plan: Mend sub" in prompt


@pytest.mark.parametrize(("loop", "code"), [("", 0), ("shell", 1)])
def test_the_third_level_ends_the_session(project: Project, loop: str, code: int) -> None:
    said = used(project, 194_000, RALPH_LOOP=loop)
    assert said.code == code
    assert said.fields["continue"] is False
    assert said.fields["stopReason"].startswith("CCS_CHECKPOINT_TRIGGERED|L3|97|.claude/handoffs/")
    assert said.model == ""
    state = project.state
    assert state["context_checkpoint"]["active"] is False
    assert (state["iteration"], state["status"]) == (2, "running")
    prompt = (project.root / "PROMPT.md").read_text()
    assert state["context_checkpoint"]["handoff_file"] in prompt
    ends = [event for event in project.events if isinstance(event, ev.SessionFinished)]
    assert [event.outcome for event in ends] == ["rolled_over"]


def test_the_third_level_after_the_second_keeps_its_handoff(project: Project) -> None:
    used(project, 174_000)
    handoff = project.root / project.state["context_checkpoint"]["handoff_file"]
    handoff.write_text("What the session itself wrote.")
    said = used(project, 194_000, 2)
    assert said.fields["continue"] is False
    assert handoff.read_text() == "What the session itself wrote."
    assert len([*handoff.parent.iterdir()]) == 1
    levels = [event.level for event in project.events if isinstance(event, ev.ContextLevelReached)]
    assert levels == ["L2", "L3"]
    causes = [event.cause for event in project.events if isinstance(event, ev.RolloverBegan)]
    assert causes == ["L2"]


def test_levels_start_anew_with_a_session(project: Project) -> None:
    assert used(project, 144_000).user
    project.transcript.unlink()
    given = project.uses(146_000, "Bash", 2, command="ls")
    assert project.after_tool(session_id="another-session", **given).user
    starts = [event.session_id for event in project.events if isinstance(event, ev.SessionStarted)]
    assert starts == [SESSION, "another-session"]
    assert [entry["peak_percent"] for entry in project.state["context_history"]] == [72, 73]


def test_usage_that_falls_fires_nothing_again(project: Project) -> None:
    assert used(project, 144_000).user
    assert used(project, 60_000, 2).fields == {}
    assert used(project, 150_000, 3).fields == {}
    assert project.state["context_history"][-1]["peak_percent"] == 75


def test_a_compaction_is_recorded_and_the_window_counts_anew(project: Project) -> None:
    used(project, 144_000)
    metadata = {"trigger": "auto", "preTokens": 167_000, "postTokens": 9000}
    project.entry("system", subtype="compact_boundary", compactMetadata=metadata)
    used(project, 20_000, 2)
    compactions = [event for event in project.events if isinstance(event, ev.ContextCompacted)]
    assert [(event.before, event.after) for event in compactions] == [(167_000, 9000)]
    assert project.run.context.percent == pytest.approx(10.0)


def test_a_tiny_window_is_never_compacted_below_zero() -> None:
    assert "at about 0 %" in compacts_before(25_000, 85.0, {})
    assert compacts_before(1_000_000, 85.0, {}) == ""


def test_a_window_that_is_not_known_is_said_once(project_with: Callable[..., Project]) -> None:
    project = project_with()
    project.write_state(objective="x")
    said = used(project, 199_000)
    assert "RALPH_CONTEXT_WINDOW" in said.user
    assert used(project, 199_500, 2).fields == {}
    assert project.state["context_history"] == []
    assert used(project, 199_500, 3, RALPH_CONTEXT_WINDOW="200k").fields["continue"] is False


def test_more_than_the_window_is_said_and_counts_as_full(project: Project) -> None:
    said = used(project, WINDOW + 50_000)
    assert said.fields["continue"] is False
    assert "250,000 tokens, more than its window of 200,000" in said.user


def test_a_session_without_usage_is_watched_on(project: Project) -> None:
    project.entry("user", message={"role": "user", "content": "go"})
    said = project.after_tool(tool_name="Bash", tool_use_id="toolu_1", tool_input={})
    assert said.fields == {}
    assert project.state["context_history"] == []


def test_a_subagent_is_told_nothing(project: Project) -> None:
    given = project.uses(174_000, "Bash", 1, command="ls")
    assert project.after_tool(agent_id="a5c3c692", **given).fields == {}
    assert used(project, 174_500, 2).model


def test_thresholds_can_be_set(project_with: Callable[..., Project]) -> None:
    project = project_with(context_thresholds={"checkpoint": 60, "stop": "high"})
    assert used(project, 124_000).user.startswith("CCS_CHECKPOINT_TRIGGERED|L2|62|")


def test_secrets_do_not_reach_the_disk(project: Project) -> None:
    secret = "abcdefghijkl1234567890"
    given = project.uses(174_000, "Bash", 1, command=f"curl -H 'Authorization: Bearer {secret}'")
    project.says(174_500, {"type": "text", "text": f"password: {secret}"})
    assert project.after_tool(**given).model
    written = [path for path in project.root.rglob("*") if path.is_file()]
    assert len(written) > 4
    assert [path for path in written if secret in path.read_text()] == []


def test_tools_that_failed_are_recorded_once(project: Project) -> None:
    project.uses(20_000, "Bash", 1, command="false")
    project.answers(1, "Exit code 3", failed=True)
    used(project, 21_000, 2)
    used(project, 22_000, 3)
    ends = [event for event in project.events if isinstance(event, ev.ToolFinished)]
    assert [(event.tool_id, event.ok) for event in ends] == [
        ("toolu_1", False),
        ("toolu_2", True),
        ("toolu_3", True),
    ]
    assert ends[0].summary == "Exit code 3"


def test_a_message_with_two_tools_is_counted_once(project: Project) -> None:
    """Each of its tools has its own line, and the first tool's hook may not see the second."""
    first = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    project.says(20_000, first, message_id="msg_both")
    project.after_tool(tool_name="Bash", tool_use_id="toolu_1", tool_input={})
    project.says(20_000, first | {"id": "toolu_2"}, message_id="msg_both")
    project.after_tool(tool_name="Bash", tool_use_id="toolu_2", tool_input={})
    usage = [event.tokens for event in project.events if isinstance(event, ev.UsageReported)]
    assert usage == [20_020, 20_020]


def test_hooks_of_parallel_tools_lose_nothing(project: Project) -> None:
    givens = [project.uses(20_000 + n, "Bash", n, command="ls") for n in range(6)]
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(project.after_tool_installed, givens))
    assert [one.err for one in said] == [""] * 6
    started = [event.tool_id for event in project.events if isinstance(event, ev.ToolStarted)]
    assert sorted(started) == sorted(f"toolu_{n}" for n in range(6))


def test_where_no_loop_runs_nothing_is_done(project: Project) -> None:
    project.state_path.unlink()
    assert used(project, 199_000) == HookResult(0, {}, "")
    assert project.stop() == HookResult(0, {}, "")
    assert [path.name for path in project.root.iterdir()] == [".claude"]
    assert [*project.state_path.parent.iterdir()] == []


@pytest.mark.parametrize("environ", [{"RALPH_RUN_ID": "x"}, {"RALPH_LOOP": "off"}])
def test_sessions_that_others_watch_are_left_alone(
    project: Project, environ: dict[str, str]
) -> None:
    before = project.state
    given = project.uses(199_000, "Bash", 1, command="ls")
    assert project.after_tool(environ, **given) == HookResult(0, {}, "")
    assert project.stop(environ) == HookResult(0, {}, "")
    assert project.state == before


def test_the_state_file_can_lie_elsewhere(project: Project) -> None:
    project.state_path.rename(project.root / "state.json")
    assert used(project, 144_000, RALPH_STATE_FILE="state.json").user
    assert "hook_sessions" in (project.root / "state.json").read_text()


def test_a_checkpoint_that_nobody_settled_is_settled_by_the_next_session(project: Project) -> None:
    """The session was killed, or its user left it, before its Stop hook."""
    used(project, 174_000)
    project.transcript.unlink()
    given = project.uses(20_000, "Bash", 2, command="ls")
    project.after_tool(session_id="another-session", **given)
    assert project.state["iteration"] == 2
    assert project.state["context_checkpoint"]["active"] is False
    run = project.run
    assert run.run.iteration == 2
    ends = [event for event in project.events if isinstance(event, ev.SessionFinished)]
    assert [event.outcome for event in ends] == ["rolled_over"]


@each_row(
    ("environ", "state", "model", "used", "tokens"),
    [
        ({VARIABLE: "1m"}, {"context_window": 200_000}, "claude-opus-4-5", 5, 1_000_000),
        ({}, {"context_window": 200_000}, "claude-sonnet-5-5", 5, 200_000),
        ({}, {"context_window": "500k"}, "", None, 500_000),
        ({}, {}, "claude-opus-4-5-20251101", 5, 200_000),
        ({}, {}, "claude-3-5-haiku-20241022", 5, 200_000),
        ({}, {}, "claude-opus-4-5", 200_001, None),
        ({}, {}, "claude-sonnet-5-5", 5, None),
        ({}, {}, "claude-opus-4-57", 5, None),
        ({}, {"context_window": -5}, "", 5, None),
        ({VARIABLE: "lots"}, {"context_window": 200_000}, "claude-opus-4-5", 5, None),
    ],
)
def test_the_window(
    environ: dict[str, str],
    state: dict[str, object],
    model: str,
    used: int | None,
    tokens: int | None,
) -> None:
    window = find_window(environ, state, model, used)
    assert window.tokens == tokens
    assert bool(window.problem) == (tokens is None)
    assert tokens is not None or VARIABLE in window.problem


@each_row(
    ("value", "size"),
    [("200k", 200_000), ("1M", 1_000_000), ("1_000_000", 1_000_000), ("200,000", 200_000)]
    + [(text, None) for text in ("", "k", "-5", "1e6", "0", "12", "9" * 30, "٣٠٠٠٠")],
)
def test_sizes_as_people_write_them(value: str, size: int | None) -> None:
    assert parse_size(value) == size


@given(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()))
)
def test_a_size_is_one_or_none(value: object) -> None:
    size = parse_size(value)
    assert size is None or LEAST <= size <= LARGEST


@given(st.lists(st.sampled_from(LEVELS)))
def test_each_level_fires_once_and_each_later_one_is_higher(measured: list[Level]) -> None:
    session, fired = Session(), []
    for level in measured:
        if session.is_new_level(level):
            fired.append(level)
            session = session._replace(level=level)
    assert fired == sorted(set(fired))
    assert "L0" not in fired
    assert session.level == max(measured, default="L0")
    assert not any(session.is_new_level(level) for level in measured)
