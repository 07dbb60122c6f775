"""Next steps for an ended run: commands that work as printed."""

import shlex

import pytest

from ralph_tui.analysis.next_steps import next_steps
from ralph_tui.cli import build_parser
from ralph_tui.events import RunStarted
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from tests.rows import each_row
from tests.world.stories import STORIES


def ended(name: str) -> RunState:
    return RunState().apply_all(STORIES[name]())


@each_row("story", ["steady", "stuck", "crashed"])
def test_every_command_is_understood_as_it_stands(story: str) -> None:
    steps = next_steps(ended(story))
    assert {"report", "replay"} <= {step.name for step in steps}
    for step in steps:
        program, *words = shlex.split(step.command)
        assert program == ("git" if step.name == "diff" else "ralph-tui")
        if step.name in ("resume", "report", "replay", "restore"):
            assert "task-001/001" in words
        if program == "ralph-tui":
            _, extras = build_parser(words[:1])[0].parse_known_args(words)
            assert not extras


def test_the_same_again_has_the_same_agents_that_take_over() -> None:
    first, *rest = STORIES["steady"]()
    assert isinstance(first, RunStarted)
    config = first.config | {"agent.fallback": ["codex", "gemini"], "agent.fallback_after": 0.0}
    state = RunState().apply_all([first.model_copy(update={"config": config}), *rest])
    again = {step.name: step.command for step in next_steps(state)}["again"]
    assert "--set agent.fallback=codex,gemini --set agent.fallback_after=0" in again
    assert "fallback" not in {s.name: s.command for s in next_steps(ended("steady"))}["again"]


def test_the_same_again_has_the_same_settings_of_the_command_line() -> None:
    first, *rest = STORIES["steady"]()
    assert isinstance(first, RunStarted)
    config = first.config | {"memory.enabled": False, "gate.timeout_s": 90.0, "ui.theme": "dark"}
    names = ["memory.enabled", "gate.timeout_s", "limits.max_iterations"]
    given = first.model_copy(update={"config": config, "set_names": names})
    again = {s.name: s.command for s in next_steps(RunState().apply_all([given, *rest]))}["again"]
    assert again.endswith("--set memory.enabled=false --set gate.timeout_s=90")


@each_row(("command", "words"), [
    ("./agent.sh", "--agent-command ./agent.sh --max"), (None, "--agent command --max"),
])  # fmt: skip
def test_a_command_of_your_own_names_the_agent(command: str | None, words: str) -> None:
    first, *rest = STORIES["steady"]()
    assert isinstance(first, RunStarted)
    given = first.model_copy(update={"agent": "command", "config": {"agent.command": command}})
    again = {s.name: s.command for s in next_steps(RunState().apply_all([given, *rest]))}["again"]
    assert f"-c 'python -m pytest -q' {words}" in again


def test_what_a_fleet_has_run_is_a_branch_of_its_users_repository() -> None:
    work = FleetWork("fleet-001/a", "1c0ffee" * 5, "ralph/fleet-001/a")
    said = [step.command for step in next_steps(ended("steady"), fleet=work)]
    assert said == [
        "git diff 1c0ffee1c0ff...ralph/fleet-001/a",
        "git merge ralph/fleet-001/a",
        "ralph-tui fleet attach fleet-001/a",
    ]
    unfinished = next_steps(ended("stuck"), fleet=work._replace(branch=""))
    assert [step.command for step in unfinished] == said[2:], "there is nothing to merge"
    saved = next_steps(ended("stuck"), fleet=work._replace(branch="", record="kept/a b"))
    assert saved[0].command == "ralph-tui restore --run 'kept/a b'"


def test_a_run_that_goes_on_has_no_next_step() -> None:
    assert next_steps(ended("running")) == []


@pytest.mark.parametrize("root", ["/tmp/ralph-tui-demo-x1y2/calculator", "/home/ada/kept"])
@pytest.mark.parametrize("fast", [True, False])
def test_a_demo_is_played_again_as_it_was_and_resumed_only_where_it_is_kept(
    root: str, *, fast: bool
) -> None:
    first, *rest = STORIES["stuck"]()
    played = first.model_copy(update={"scenario": "stuck", "fast": fast, "root": root})
    steps = {s.name: s.command for s in next_steps(RunState().apply_all([played, *rest]))}
    assert steps["again"] == f"ralph-tui demo --scenario stuck{' --fast' * fast}"
    assert ("resume" in steps) == (root == "/home/ada/kept")
