"""When a session stops: the order of decisions, and the output for an outer loop."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ralph_tui import __version__
from ralph_tui.events import RunFinished, SessionFinished
from ralph_tui.layers.context.hashes import error_hash_of
from tests.hooks import HookResult, Project
from tests.unit.hooks.program.test_watch import used

PROMISE = "All done.\n<promise>COMPLETE</promise>"
SHELL = {"RALPH_LOOP": "shell"}
ROUNDS = 30


def prepared(project: Project, *what: str) -> dict[str, Any]:
    """Prepare a state with these conditions; return the Stop hook's input."""
    if "checkpoint" in what:
        used(project, 174_000)
    else:
        project.says(20_000, {"type": "text", "text": "A step."})
    if "fatal" in what:
        message = {"model": "<synthetic>", "content": []}
        refused = {"isApiErrorMessage": True, "error": "authentication_failed"}
        project.entry("assistant", message=message, **refused)
    state = project.state
    if "limit" in what:
        state |= {"max_iterations": 1}
    if "circuit" in what:
        state |= {"error_hashes": [], "no_change_count": 1}
        project.write_state(**state)
        circuit_about_to_trip(project)
        state = project.state
    project.write_state(**state | ({"max_iterations": 1} if "limit" in what else {}))
    words = PROMISE if "promise" in what else "A step is done."
    return {"last_assistant_message": words}


def circuit_about_to_trip(project: Project) -> None:
    """The next iteration ends with the third equal state of the files."""
    from ralph_tui.hooks.program.evidence import gather

    same = {"no_change_count": 1, "last_diff_hash": gather(project.root, 20).state}
    project.write_state(**project.state | same)


@pytest.mark.parametrize(
    ("what", "status", "code"),
    [
        (("promise", "checkpoint", "fatal", "limit", "circuit"), "completed", 0),
        (("checkpoint", "fatal", "limit", "circuit"), "running", 1),
        (("checkpoint", "limit"), "running", 1),
        (("fatal", "limit", "circuit"), "fatal_error", 0),
        (("limit", "circuit"), "limit_reached", 0),
        (("circuit",), "circuit_breaker", 0),
        ((), "running", 1),
    ],
)
def test_the_order(project: Project, what: tuple[str, ...], status: str, code: int) -> None:
    given = prepared(project.with_git, *what)
    said = project.stop(SHELL, **given)
    assert (said.code, project.state["status"]) == (code, status), said.err
    assert "decision" not in said.fields
    finished = [event for event in project.events if isinstance(event, RunFinished)]
    assert bool(finished) == (code == 0)
    assert project.call("stop", b"", SHELL).code == (0 if what else 1), (
        "no session beyond the limit"
    )


@pytest.mark.parametrize(
    "what", [("promise",), ("checkpoint",), ("fatal",), ("limit",), ("circuit",)]
)
def test_inside_claude_code_each_of_them_lets_it_stop(
    project: Project, what: tuple[str, ...]
) -> None:
    said = project.stop(**prepared(project.with_git, *what))
    assert said.code == 0
    assert "decision" not in said.fields
    assert said.user


def test_inside_claude_code_it_goes_on(project_with: Callable[..., Project]) -> None:
    project = project_with(todo_items=["the lexer", "the parser"]).with_git
    said = project.stop(**prepared(project))
    assert (said.code, said.fields["decision"]) == (0, "block")
    reason = said.fields["reason"]
    for words in (
        "Iteration 2 of 10",
        "Mend the parser",
        "the lexer",
        "<promise>COMPLETE</promise>",
    ):
        assert words in reason
    state = project.state
    assert (state["iteration"], state["status"]) == (2, "running")
    ends = [event.outcome for event in project.events if isinstance(event, SessionFinished)]
    assert ends == ["success"]
    assert not (project.root / "PROMPT.md").exists()


def test_without_progress_it_ends_soon(project: Project) -> None:
    project = project.with_git
    rounds = rounds_of(project)
    assert rounds == 3
    assert project.state["status"] == "circuit_breaker"


def test_with_progress_it_ends_at_the_limit(project: Project) -> None:
    project = project.with_git
    rounds = rounds_of(project, lambda number: (project.root / "log").write_text(f"{number}"))
    assert rounds == 10
    assert project.state["status"] == "limit_reached"
    assert project.run.run.finished is not None


def test_who_is_stuck_is_told_how_to_go_on(project: Project) -> None:
    said = project.stop(**prepared(project.with_git, "circuit"))
    assert "The loop is stuck: 3 iterations in a row" in said.user
    assert f"set `status` to running in {project.state_path}." in said.user


def test_without_git_it_ends_at_the_limit(project: Project) -> None:
    assert rounds_of(project) == 10


def test_an_error_that_comes_again_ends_it(project: Project) -> None:
    project = project.with_git

    def work(number: int) -> None:
        (project.root / "log").write_text(f"{number}")
        project.uses(20_000, "Bash", number, command="make check")
        project.answers(number, f"error: no such rule, after 0.{number} s", failed=True)

    assert rounds_of(project, work) == 3
    assert len(project.state["error_hashes"]) == 3


def test_an_error_that_an_edit_follows_is_hashed_as_well(project: Project) -> None:
    project = project.with_git

    def work(number: int) -> None:
        (project.root / "log").write_text(f"{number}")
        project.uses(20_000, "Bash", 2 * number, command="make check")
        project.answers(2 * number, f"error: no such rule, after 0.{number} s", failed=True)
        given = project.uses(20_000, "Edit", 2 * number + 1, file_path="log")
        project.answers(2 * number + 1, "edited")
        project.after_tool(**given)

    assert rounds_of(project, work) == 3
    assert len(project.state["error_hashes"]) == 3


@pytest.mark.parametrize(
    "seen_by", ["stop", "another tool's hook", "its own hook", "its own hook, before its result"]
)
def test_an_error_is_hashed_once_whichever_hook_sees_it_first(
    project: Project, seen_by: str
) -> None:
    project = project.with_git
    error = "error: no such rule"

    failed = project.uses(20_000, "Bash", 1, command="make check")
    early = seen_by == "its own hook, before its result"  # the transcript is written later
    if not early:
        project.answers(1, error, failed=True)
    if seen_by.startswith("its own hook"):
        project.after_tool(**failed, error=error)
    elif seen_by == "another tool's hook":
        given = project.uses(20_000, "Edit", 2, file_path="log")
        project.answers(2, "edited")
        project.after_tool(**given)
    project.stop()
    assert project.state["error_hashes"] == [error_hash_of(error)]
    if early:
        project.answers(1, error, failed=True)
    project.says(20_000, {"type": "text", "text": "Another step."})
    project.stop(stop_hook_active=True)
    assert project.state["error_hashes"] == [], "the next iteration has no error of its own"


def rounds_of(project: Project, work: Callable[[int], object] = bool) -> int:
    """Number of stops until the session may end."""
    for number in range(1, ROUNDS):
        work(number)
        project.says(20_000 + number, {"type": "text", "text": f"Step {number}."})
        if "decision" not in project.stop(stop_hook_active=number > 1).fields:
            return number
    return ROUNDS


def test_what_cannot_be_counted_does_not_go_on(project: Project) -> None:
    """Otherwise an unwritable state file would hold a session forever."""
    given = prepared(project.with_git)
    folder = project.state_path.parent
    assert project.stop(**given).fields["decision"] == "block"
    (folder / "ralph-state.json").unlink()
    (folder / "ralph-state.json").mkdir()
    said = project.stop(**given, stop_hook_active=True)
    assert "decision" not in said.fields
    assert "it is a folder" in said.err


@pytest.mark.parametrize(
    ("words", "promise", "kept"),
    [
        (PROMISE, "COMPLETE", True),
        ("<promise>\n COMPLETE </promise>\nand more", "COMPLETE", True),
        ("I will not say <promise>COMPLETE</promise> yet", "COMPLETE", False),
        ("Not yet: <promise>COMPLETE</promise>", "COMPLETE", False),
        ("<promise>COMPLETE</promise> is still to come", "COMPLETE", False),
        ("It works.\nCOMPLETE", "COMPLETE", True),
        ("It is not COMPLETE", "COMPLETE", False),
        ("<promise>ALL TESTS PASS</promise>", "ALL  TESTS PASS", True),
        ("<promise>DONE</promise>", "COMPLETE", False),
        ("<promise></promise>", "", False),
        ("", "COMPLETE", False),
    ],
)
def test_the_promise(
    project_with: Callable[..., Project], words: str, promise: str, *, kept: bool
) -> None:
    project = project_with(completion_promise=promise)
    project.says(20_000)
    project.stop(SHELL, last_assistant_message=words)
    assert (project.state["status"] == "completed") is kept


@pytest.mark.parametrize("percent", [87, 97])
def test_windows_that_fill_at_once_are_not_filled_for_ever(project: Project, percent: int) -> None:
    """As with a window set too small: each session reaches a checkpoint."""
    project.write_state(**project.state | {"max_iterations": 2})
    sessions = 0
    while sessions < ROUNDS:
        sessions += 1
        project.transcript.write_text("")
        given = project.uses(2000 * percent, "Bash", sessions, command="ls")
        session = {"session_id": f"session-{sessions}"}
        said = project.after_tool(SHELL, **given | session)
        if percent == 87:
            project.stop(SHELL, **session)
        else:
            assert said.fields["continue"] is False
        if project.call("stop", b"", SHELL).code == 0:
            break
    assert sessions == 2
    assert project.state["status"] == "limit_reached"
    assert project.state["context_checkpoint"]["active"] is False
    assert project.run.run.finished is not None


def test_a_session_begun_by_hand_beyond_the_limit_ends_the_loop_when_it_stops(
    project: Project,
) -> None:
    project.write_state(**project.state | {"max_iterations": 1})
    statuses = []
    for number in (1, 2):
        given = project.uses(174_000, "Bash", number, command="ls")
        project.after_tool(**given | {"session_id": f"session-{number}"})
        project.stop(session_id=f"session-{number}")
        statuses.append(project.state["status"])
    assert statuses == ["running", "limit_reached"]


def test_older_versions_do_not_tell_the_last_words(project: Project) -> None:
    project.says(20_000, {"type": "text", "text": PROMISE})
    assert project.call("stop", project.given("Stop"), SHELL).code == 0
    assert project.state["status"] == "completed"


def test_a_session_that_stops_with_a_full_window_hands_over(project: Project) -> None:
    """Its last message was not on disk yet when its last tool's hook ran."""
    project.says(174_000, {"type": "text", "text": "A step."})
    said = project.stop()
    assert "decision" not in said.fields
    assert "CCS_CHECKPOINT_TRIGGERED|L2|87|" in said.user
    assert "have it read PROMPT.md" in said.user
    assert project.state["iteration"] == 2
    assert (project.root / "PROMPT.md").exists()


def test_an_outer_loop_asks_without_a_session(project: Project) -> None:
    project.says(20_000)
    project.stop(SHELL)
    assert project.call("stop", b"", SHELL).code == 1
    assert project.state["iteration"] == 2
    project.stop(SHELL, last_assistant_message=PROMISE)
    assert project.call("stop", b"", SHELL).code == 0


def test_an_outer_loop_that_is_killed_with_its_session_goes_on(project: Project) -> None:
    used(project, 20_000)
    assert project.call("stop", b"", SHELL).code == 1
    ends = [event for event in project.events if isinstance(event, SessionFinished)]
    assert len(ends) == 1
    assert project.state["iteration"] == 2


def test_sessions_that_call_no_hook_are_counted(project: Project) -> None:
    codes: list[int] = []
    while (code := project.call("stop", b"", SHELL).code) and len(codes) < ROUNDS:
        codes.append(code)
    assert len(codes) == 10
    assert project.state["status"] == "limit_reached"


def test_an_ended_loop_lets_every_session_stop(project: Project) -> None:
    project.write_state(**project.state | {"status": "completed"})
    before = project.state
    assert project.stop() == HookResult(0, {}, "")
    assert used(project, 199_000) == HookResult(0, {}, "")
    assert project.state == before


def test_the_journal_is_one_run(project: Project) -> None:
    project = project.with_git
    for number in range(1, 4):
        (project.root / "log").write_text(f"{number}")
        used(project, 20_000 + number, number)
        project.stop(last_assistant_message="A step." if number < 3 else PROMISE)
    run = project.run
    assert (run.run.iteration, run.run.max_iterations) == (3, 10)
    assert run.run.started is not None
    assert run.run.started.objective == "Mend the parser"
    assert run.run.started.program_version == __version__
    assert [use.iteration for use in run.context.history] == [1, 2, 3]
    assert json.loads(project.journal.read_text().splitlines()[-1])["outcome"] == "completed"


def test_the_end_says_how_long_the_loop_took(project: Project) -> None:
    began = datetime.now(UTC) - timedelta(hours=2)
    project.write_state(**project.state | {"started_at": f"{began:%Y-%m-%dT%H:%M:%SZ}"})
    reported = prepared(project, "promise")
    project.stop(**reported)
    [end] = [event for event in project.events if isinstance(event, RunFinished)]
    assert 7200 <= end.duration_s < 7300


def test_a_file_that_a_run_drives_is_left_to_it(project: Project) -> None:
    reported = prepared(project, "promise")
    project.write_state(**project.state | {"driven_by": "ralph-tui"})
    before = project.state
    project.stop(**reported)
    assert project.state == before
    assert not (project.root / ".aiwg/ralph/hooks").exists()
