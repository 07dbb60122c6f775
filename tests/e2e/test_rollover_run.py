"""A full window with Claude Code: tools end, a new session continues, no edit is lost.

It uses the stub, and the real binary on a scripted service where it is installed.
"""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.layers.intelligence.handoff_section import HEADING
from tests.doubles.api import Api
from tests.doubles.launch import STUB, environment, prepare, real_binary, real_environment
from tests.doubles.scenario import load
from tests.e2e.cli import events_of, here, processes_of

BINARY = real_binary()
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
CHECK = shlex.join(
    [sys.executable, "-B", "-c", "import calc; assert calc.add(2, 3) == 5; open('after.txt')"]
)
ORDER = ("run", "Fix add", "-c", CHECK, "--headless", "--json")


def bash(command: str) -> dict[str, object]:
    return {"name": "Bash", "input": {"command": command, "description": "run"}}


def edit(root: Path) -> dict[str, object]:
    change = {"old_string": "a - b", "new_string": "a + b"}
    return {"name": "Edit", "input": {"file_path": str(root / "calc.py"), **change}}


def story(root: Path, path: Path, *, read: int = 400_000, full: int = 870_000) -> Path:
    """A message with slow tools fills the window; a second session continues."""
    look = {"name": "Read", "input": {"file_path": str(root / "calc.py")}}
    first = [
        {"text": "I look.", "tools": [look], "cached_tokens": read},
        {
            "text": "I mend it, which takes a while.",
            "tools": [edit(root), bash("sleep 1.5; echo held > held.txt")],
            "cached_tokens": full,
        },
        {"text": "And on.", "delay_s": 30, "tools": [bash("touch lost.txt")]},
    ]
    second = [{"tools": [bash("touch after.txt")]}, {"text": "It is done."}]
    about = {"about": "made here", "files": {"calc.py": WRONG}, "sessions": [first, second]}
    path.write_text(json.dumps(about))
    return path


def kinds(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["kind"] == kind]


def holds(root: Path, events: list[Any]) -> None:
    """Assert what must be true for every agent."""
    assert events[-1]["outcome"] == "completed", events[-1]
    ends = kinds(events, "session_finished")
    assert [end["outcome"] for end in ends] == ["rolled_over", "success"]
    assert [event["level"] for event in kinds(events, "context_level_reached")] == ["L2"]
    tools = kinds(events, "tool_finished")
    first = [tool for tool in tools if tool["seq"] < ends[0]["seq"]]
    assert [tool["ok"] for tool in first] == [True] * 3, "the running tools have ended"
    assert ends[0]["tool_errors"] == 0
    assert ends[0]["cost_usd"] is not None, "it was asked to end, not killed"
    assert (root / "calc.py").read_text() == RIGHT
    assert (root / "held.txt").read_text() == "held\n"
    assert not (root / "lost.txt").exists()
    (left,) = kinds(events, "handoff_written")
    assert "calc.py" in (root / left["read_at"]).read_text()
    assert [file["path"] for file in left["files"]][:1] == ["calc.py"]
    prompts = [root / ".aiwg/ralph/tasks/task-001/attempts/001" / e["path"]
               for e in kinds(events, "prompt_prepared")]  # fmt: skip
    assert [path.name for path in prompts] == ["prompt.md", "prompt-2.md"]
    assert HEADING not in prompts[0].read_text()
    text = prompts[1].read_text()
    assert HEADING in text
    assert left["read_at"] in text
    assert [e["iteration"] for e in kinds(events, "iteration_finished")] == [1]
    assert processes_of(kinds(events, "run_started")[0]["run_id"]) == []


def stubbed(root: Path, scenario: Path, state: Path, *more: str, **environ: str) -> list[Any]:
    prepare(load(scenario), root)
    base = {"RALPH_TUI_AGENT__BINARY": str(STUB), "RALPH_TUI_PERMISSIONS__MODE": "skip", **environ}
    done = here(*ORDER, *more, cwd=root, **environment(scenario, state=state, base=base))
    assert "Traceback" not in done.stderr
    return events_of(done.stdout)


@pytest.mark.parametrize("version", ["2.1.328", "2.1.197"])
def test_the_running_tools_end_and_a_fresh_session_goes_on(
    git_repo: Path, tmp_path: Path, version: str
) -> None:
    scenario = story(git_repo, tmp_path / "story.json")
    events = stubbed(git_repo, scenario, tmp_path / "state", STUB_VERSION=version)
    holds(git_repo, events)
    assert events_of(here("replay", "--json", cwd=git_repo).stdout) == events
    report = here("report", "--full", cwd=git_repo).stdout
    assert "handed off" in report or "handoff" in report


def test_at_l3_the_running_tool_is_not_waited_for(git_repo: Path, tmp_path: Path) -> None:
    scenario = story(git_repo, tmp_path / "story.json", full=960_000)
    events = stubbed(git_repo, scenario, tmp_path / "state", "--max-iterations", "2")
    first = kinds(events, "session_finished")[0]
    assert first["outcome"] == "rolled_over"
    assert kinds(events, "rollover_began")[0]["cause"] == "L3"
    assert not (git_repo / "held.txt").exists()


def test_a_tool_that_does_not_end_is_waited_for_as_long_as_it_may_take(
    git_repo: Path, tmp_path: Path
) -> None:
    path = story(git_repo, tmp_path / "story.json")
    path.write_text(path.read_text().replace("sleep 1.5", "trap '' INT TERM; sleep 40"))
    events = stubbed(
        git_repo,
        path,
        tmp_path / "state",
        "--set",
        "context.tool_wait_s=1",
        "--max-iterations",
        "1",
    )
    ends = kinds(events, "session_finished")
    assert ends[0]["outcome"] == "rolled_over"
    assert (git_repo / "calc.py").read_text() == RIGHT, "earlier work is kept"
    assert events[-1]["outcome"] == "completed"
    assert processes_of(kinds(events, "run_started")[0]["run_id"]) == []


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_claude_code_itself_hands_over(git_repo: Path, tmp_path: Path) -> None:
    # Its window has 200,000 tokens; left to itself, it would forget before 85 % of them.
    scenario = load(story(git_repo, tmp_path / "story.json", read=80_000, full=174_000))
    first, second = scenario.sessions
    # The service identifies a session by its first message.
    scenario = replace(scenario, sessions=[first], subagents={HEADING: second})
    prepare(scenario, git_repo)
    with Api(scenario) as api:
        environ = real_environment(api.url, tmp_path / "home", scenario)
        environ |= {"RALPH_TUI_AGENT__BINARY": BINARY or "", "RALPH_TUI_PERMISSIONS__MODE": "skip"}
        done = here(*ORDER, "--model", scenario.model, cwd=git_repo, **environ)
    assert "Traceback" not in done.stderr
    holds(git_repo, events_of(done.stdout))
