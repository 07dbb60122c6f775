"""A handed-over session that gets another message: its handoff stays for the next one."""

import pytest

from tests.hooks import HookResult, Project
from tests.unit.hooks.program.test_stop import PROMISE, SHELL
from tests.unit.hooks.program.test_watch import used

NEXT = "another-session"


def handed_over(project: Project, percent: int) -> str:
    """Run until the session ends normally; return the name of its handoff."""
    used(project, 2000 * percent)
    if percent < 95:
        project.stop()
    assert project.state["iteration"] == 2
    return str(project.state["context_checkpoint"]["handoff_file"])


def is_left(project: Project, handoff: str, said: HookResult) -> None:
    """The state that the next session finds."""
    assert "decision" not in said.fields
    assert project.state["iteration"] == 2
    assert project.state["status"] == "running"
    assert project.state["context_checkpoint"]["handoff_file"] == handoff
    prompt = (project.root / "PROMPT.md").read_text()
    assert "CONTEXT CHECKPOINT RESUME" in prompt
    assert handoff in prompt


@pytest.mark.parametrize("percent", [87, 97])
def test_it_stops_as_often_as_it_is_spoken_to(project: Project, percent: int) -> None:
    handoff = handed_over(project.with_git, percent)
    for number in range(2, 6):
        project.says(2000 * percent + number, {"type": "text", "text": "As you say."})
        said = project.stop(stop_hook_active=False)
        is_left(project, handoff, said)
        assert f"handed off at {percent} %" in said.user
        assert handoff in said.user


@pytest.mark.parametrize("percent", [87, 97])
def test_its_further_tools_change_nothing_either(project: Project, percent: int) -> None:
    handoff = handed_over(project.with_git, percent)
    for number in range(2, 5):
        is_left(project, handoff, used(project, 2000 * percent + 100 * number, number))
        is_left(project, handoff, project.stop())
    run = project.run
    assert run.run.iteration == 2
    assert sum(use.rollovers for use in run.context.history) == 1


def test_to_the_brim_it_ends_without_another_handoff(project: Project) -> None:
    handoff = handed_over(project, 87)
    said = used(project, 194_000, 2)
    assert said.fields["continue"] is False
    assert handoff in said.fields["stopReason"]
    is_left(project, handoff, said)
    is_left(project, handoff, project.stop())
    assert len([*(project.root / ".claude" / "handoffs").iterdir()]) == 1


@pytest.mark.parametrize("percent", [87, 97])
def test_another_session_takes_it_over(project: Project, percent: int) -> None:
    handed_over(project.with_git, percent)
    project.stop()
    project.transcript.write_text("")
    given = project.uses(20_000, "Bash", 9, command="ls")
    assert project.after_tool(**given, session_id=NEXT).fields == {}
    assert project.state["iteration"] == 2
    said = project.stop(session_id=NEXT)
    assert said.fields["decision"] == "block"
    assert project.state["iteration"] == 3
    assert "RESUME" not in (project.root / "PROMPT.md").read_text()


def test_one_that_keeps_its_promise_ends_the_loop(project: Project) -> None:
    handed_over(project, 87)
    project.stop(last_assistant_message=PROMISE)
    assert project.state["status"] == "completed"


def test_one_whose_window_was_emptied_goes_on_and_can_hand_over_again(project: Project) -> None:
    handed_over(project.with_git, 87)
    facts = {"trigger": "manual", "preTokens": 175_000, "postTokens": 9000}
    project.entry("system", subtype="compact_boundary", compactMetadata=facts)
    assert used(project, 20_000, 2).fields == {}
    assert project.stop().fields["decision"] == "block"
    assert project.state["iteration"] == 3
    assert used(project, 174_000, 3).model.startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")


def test_an_outer_loop_that_goes_on_with_it_comes_to_an_end(project: Project) -> None:
    """It restarts the session by its id, with the window as full as before."""
    project = project.with_git
    used(project, 194_000, RALPH_LOOP="shell")
    for number in range(2, 30):
        project.says(194_000 + number, {"type": "text", "text": "Prompt is too long"})
        assert project.stop(SHELL).code == project.call("stop", b"", SHELL).code
        if project.state["status"] != "running":
            break
        assert "RESUME" in (project.root / "PROMPT.md").read_text()
    assert project.state["status"] in ("limit_reached", "circuit_breaker")


def test_an_outer_loop_counts_a_checkpoint_once(project: Project) -> None:
    used(project, 194_000, RALPH_LOOP="shell")
    assert project.stop(SHELL).code == 1
    assert project.call("stop", b"", SHELL).code == 1
    assert project.state["iteration"] == 2


def test_its_last_action_is_a_line_that_says_something(project: Project) -> None:
    project.says(20_000, {"type": "text", "text": "```\n---\n* The lexer is done.\n```"})
    used(project, 194_000)
    prompt = (project.root / "PROMPT.md").read_text()
    assert "**Last action**: * The lexer is done." in prompt
