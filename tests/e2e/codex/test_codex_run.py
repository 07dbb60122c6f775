"""Whole runs with Codex: a bug is fixed; the real Codex also asks by key and by command.
owner is asked by key and by command.
"""

import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.doubles.codex_launch import CODEX_STUB, real_environment, stub_environment
from tests.doubles.launch import prepare
from tests.doubles.scenario import Answer, Scenario, ToolUse, load
from tests.e2e.cli import events_of, here
from tests.e2e.codex.lab import REALLY, STUBBED
from tests.e2e.test_claude_run import CHECK, kinds
from tests.e2e.tmux import Terminal
from tests.waiting import until

ORDER = ("run", "Fix add", "-c", CHECK, "--agent", "codex")


@contextmanager
def environment(
    binary: str, scenario: Scenario, root: Path, tmp: Path, mode: str
) -> Iterator[dict[str, str]]:
    """In which the run finds the program, and the program its model."""
    prepare(scenario, root)
    ours = {"RALPH_TUI_AGENT__BINARY": binary, "RALPH_TUI_PERMISSIONS__MODE": mode}
    if binary == str(CODEX_STUB):
        file = tmp / "scenario.json"
        fields = dataclasses.asdict(scenario)
        file.write_text(json.dumps({key: fields[key] for key in fields if key != "name"}))
        yield {**stub_environment(file, tmp / "state"), **ours}
        return
    with real_environment(scenario, root, tmp / "home") as environ:
        yield {**environ, **ours}


def success(root: Path) -> Scenario:
    return load("success", root=str(root), python=sys.executable)


@pytest.mark.parametrize("binary", [STUBBED, REALLY])
def test_a_bug_is_fixed_and_the_run_replayed(git_repo: Path, tmp_path: Path, binary: str) -> None:
    with environment(binary, success(git_repo), git_repo, tmp_path, "skip") as environ:
        done = here(*ORDER, "--headless", "--json", cwd=git_repo, **environ)
    assert "Traceback" not in done.stderr
    events = events_of(done.stdout)
    assert done.returncode == 0, done.stderr
    assert events[-1]["outcome"] == "completed"
    assert kinds(events, "run_started")[0]["agent"] == "codex"
    assert [event["tool"] for event in kinds(events, "tool_started")] == ["Bash", "Edit", "Bash"]
    assert kinds(events, "session_finished")[0]["cost_usd"] is None
    assert events_of(here("replay", "--json", cwd=git_repo).stdout) == events


@pytest.mark.parametrize("binary", [REALLY])
def test_its_owner_is_asked_by_key_and_by_command(
    git_repo: Path, tmp_path: Path, binary: str
) -> None:
    asks = [Answer(tools=[ToolUse("Bash", {"command": f"touch {name}"})]) for name in ("a", "b")]
    scenario = success(git_repo)
    scenario = dataclasses.replace(scenario, sessions=[[*asks, *scenario.sessions[0][1:2]]])
    with environment(binary, scenario, git_repo, tmp_path, "ask") as environ:
        terminal = Terminal(ORDER, git_repo, width=80, height=24, **environ)
        other = None
        try:
            terminal.shows("codex asks for Bash: touch a", "allow it once")
            # A key that comes with the dialog was typed for something else.
            until(lambda: re.search(r"4m 5[0-8]s", terminal.screen))
            terminal.press("y")
            until((git_repo / "a").exists)
            terminal.shows("codex asks for Bash: touch b", "allow it once")
            assert not (git_repo / "b").exists()
            other = Terminal(["decide", "once"], git_repo, width=80, height=24, **environ)
            other.shows("touch b", "[y/N]")
            other.type("y")
            other.press("Enter")
            assert other.exit_code() == 0, other.screen
            until((git_repo / "b").exists)
            terminal.shows("completed")
        finally:
            terminal.close()
            if other is not None:
                other.close()
    assert "a + b" in (git_repo / "calc.py").read_text()
    (journal,) = git_repo.rglob("events.jsonl")
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    answered = kinds(events, "question_answered")
    assert [event["answer"] for event in answered[:2]] == ["once", "once"]
    assert shlex.split(kinds(events, "agent_asked")[0]["input"]) == ["touch", "a"]


@pytest.mark.parametrize("binary", [STUBBED, REALLY])
def test_what_it_asks_again_is_refused_without_a_question(
    git_repo: Path, tmp_path: Path, binary: str
) -> None:
    asks = [Answer(tools=[ToolUse("Bash", {"command": "touch a"})]) for _ in range(4)]
    scenario = success(git_repo)
    scenario = dataclasses.replace(scenario, sessions=[[*asks, *scenario.sessions[0][1:2]]])
    with environment(binary, scenario, git_repo, tmp_path, "ask") as environ:
        done = here(
            *ORDER, "--headless", "--json", "--max-iterations", "1", cwd=git_repo, **environ
        )
    events = events_of(done.stdout)
    asked = kinds(events, "agent_asked")
    assert len(asked) >= 3, "the real one may take the words of a refusal for an answer's worth"
    assert len(kinds(events, "question_asked")) == 1
    again = kinds(events, "agent_refused_again")
    assert [event["times"] for event in again] == list(range(1, len(asked)))
    assert not (git_repo / "a").exists()
