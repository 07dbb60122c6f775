"""Whole runs with agents over the Agent Client Protocol, played by their double."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.loop.steps import service_limits
from tests.doubles import acp
from tests.e2e.cli import GATE, events_of, here, project
from tests.e2e.test_asked_run import Open, answer, journal, leave, of, terminal  # noqa: F401 - a fixture

PROGRAM = Path(acp.__file__).parent / "bin" / "acp"
DONE = "for n in 0 1 2 3; do touch done-$n.txt; done"


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"use": "bash", "command": command, **more}


def environ(tmp_path: Path, plays: str, *prompts: list[Any], **script: Any) -> dict[str, str]:
    """The environment in which an agent plays this."""
    path = tmp_path / "script.json"
    whole = {"plays": plays, "prompts": prompts, "log": str(tmp_path / "told"), **script}
    path.write_text(json.dumps(whole))
    return {
        "RALPH_TUI_AGENT__BINARY": str(PROGRAM),
        "ACP_SCRIPT": str(path),
        "STUB_PYTHON": sys.executable,
    }


def order(plays: str, *more: str) -> tuple[str, ...]:
    return ("run", "Make the checks pass", "-c", GATE, "--agent", plays, *more)


@pytest.mark.parametrize("plays", ["gemini", "opencode"])
def test_the_checks_are_made_to_pass(git_repo: Path, tmp_path: Path, plays: str) -> None:
    project(git_repo)
    works = [bash(DONE), {"say": "all done"}]
    asks = [bash("touch done-0.txt", ask=True), bash("rm -rf x", ask=True), *works]
    variables = environ(tmp_path, plays, asks, works)
    allow = "permissions.allow=Bash(touch:*)"
    line = order(plays, "--headless", "--json", "--set", allow)
    done = here(*line, cwd=git_repo, **variables)
    events = events_of(done.stdout)
    assert (done.returncode, events[-1]["outcome"]) == (0, "completed")
    (denied,) = of(events, "tool_denied")
    assert denied["permit"] == "Bash(rm:*)"
    assert {event["outcome"] for event in of(events, "session_finished")} == {"success"}
    assert of(events, "session_started")[0]["agent"] == plays
    costs = [event["cost_usd"] for event in of(events, "session_finished")]
    assert all(cost is None for cost in costs) == (plays == "gemini")
    assert "all done" in [event["text"] for event in of(events, "agent_spoke")]


def test_a_command_line_that_speaks_the_protocol_is_an_agent(
    git_repo: Path, tmp_path: Path
) -> None:
    project(git_repo)
    variables = environ(tmp_path, "any", [bash(DONE), {"say": "all done"}])
    line = order("acp", "--agent-command", str(PROGRAM), "--headless", "--json")
    events = events_of(here(*line, cwd=git_repo, **variables).stdout)
    assert events[-1]["outcome"] == "completed"
    assert of(events, "session_described")[0]["version"] == "my-agent 7"


def test_an_outage_is_waited_for_in_the_same_iteration(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service_limits.FIRST_WAIT_S, "outage", 0.1)
    project(git_repo)
    gone = {"fail": {"code": 503, "message": "The model is overloaded."}}
    once = str(tmp_path / "tried")
    variables = environ(tmp_path, "gemini", [{**gone, "once": once}, bash(DONE)])
    events = events_of(
        here(*order("gemini", "--headless", "--json"), cwd=git_repo, **variables).stdout
    )
    assert events[-1]["outcome"] == "completed"
    (waited,) = of(events, "wait_started")
    assert waited["cause"] == "outage"
    assert {event["iteration"] for event in of(events, "session_started")} == {1}


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        ({"code": -32000, "message": "Gemini API key is missing"}, "GEMINI_API_KEY"),
        ({"code": 404, "message": "models/x is not found"}, "choose a model with --model"),
    ],
)
def test_what_no_iteration_mends_ends_the_run_in_one_sentence(
    git_repo: Path, tmp_path: Path, refused: dict[str, Any], says: str
) -> None:
    variables = environ(tmp_path, "gemini", [], refuses={"session/new": refused})
    done = here(*order("gemini", "--headless", "--json"), cwd=git_repo, **variables)
    events = events_of(done.stdout)
    assert done.returncode == 1
    assert events[-1]["outcome"] == "failed"
    assert says in events[-1]["reason"]
    assert len(of(events, "session_started")) == 1


def test_a_program_that_is_missing_is_said_before_anything_begins(git_repo: Path) -> None:
    gone = {"RALPH_TUI_AGENT__BINARY": "/nowhere/gemini"}
    done = here(*order("gemini", "--headless"), cwd=git_repo, **gone)
    assert done.returncode == 2
    assert "'/nowhere/gemini' (agent.binary) is not an executable program" in done.stderr
    assert "npm install -g @google/gemini-cli" in done.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_question_is_answered_by_key_and_by_decide(
    terminal: Open,  # noqa: F811 - the fixture
    git_repo: Path,
    tmp_path: Path,
) -> None:
    plays = "gemini"
    asks = [bash("touch one", ask=True), bash("git push", ask=True), {"say": "continued"}]
    variables = environ(tmp_path, plays, asks, [bash("mkdir done"), {"say": "after the words"}])
    line = ("run", "Fix it", "-c", "test -d done", "--agent", plays, "--permissions", "ask")
    screen = terminal(*line, "--max-iterations", "1", cwd=git_repo, environ=variables)
    screen.shows(f"{plays} asks for", "touch one", "refuses in")
    answer(screen, "y")
    screen.shows("git push")
    assert "answered refuse" in here("decide", "refuse", "ask for a review", cwd=git_repo).stdout
    screen.shows("completed")
    leave(screen)
    events = journal(git_repo)
    assert [e["answer"] for e in of(events, "question_answered")] == ["once", "refuse"]
    assert (git_repo / "one").exists()
    content = (tmp_path / "told").read_text()
    assert "You requested: git push. The user refused it: ask for a review" in content
    assert "after the words" in [event["text"] for event in of(events, "agent_spoke")]
