"""The demo's project and agent: every scenario is run, its measurements go to the controller."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import demo
from ralph_tui.adapters.agents.demo import program
from ralph_tui.cli import main
from ralph_tui.demo.agent.bugs import BUGS
from ralph_tui.demo.agent.scenario import plan
from ralph_tui.demo.agent.tools import counts
from tests.processes import Child
from tests.rows import each_row

BASELINE = 48.0
TESTS = 25


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    demo.prepare(root)
    return root


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def measure(project: Path) -> float:
    """Completion in points, from the real tests."""
    done = subprocess.run(
        demo.completion_command(),
        shell=True,
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    passed, total = counts(done.stderr)
    assert total == TESTS
    assert (done.returncode == 0) == (passed == total)
    return 100 * passed / total


def session(
    project: Path, scenario: str, iteration: int, prompt: str = "go"
) -> list[dict[str, Any]]:
    """The output stream of one agent session."""
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    done = subprocess.run(
        program(scenario, fast=True),
        cwd=project,
        env={**os.environ, "RALPH_ITERATION": str(iteration)},
        input=json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_project_is_a_repository_with_one_commit(tmp_path: Path, project: Path) -> None:
    assert git(project, "status", "--porcelain", "--ignored") == ""
    assert (
        git(project, "log", "--format=%s %an").strip() == "A calculator, with bugs ralph-tui demo"
    )
    assert not list(project.rglob("*.pyc"))
    other = tmp_path / "other"
    demo.prepare(other)
    assert git(other, "rev-parse", "HEAD") == git(project, "rev-parse", "HEAD")


def test_the_projects_baseline(project: Path) -> None:
    assert measure(project) == BASELINE
    assert sum(bug.tests for bug in BUGS) == 13


def test_every_bug_is_worth_its_tests(project: Path) -> None:
    for bug in BUGS:
        path = project / bug.path
        text = path.read_text()
        for way in bug.attempts[:1]:
            path.write_text(text.replace(bug.broken, way))
            assert measure(project) == BASELINE, bug.name
        assert text.count(bug.broken) == 1
        path.write_text(text.replace(bug.broken, bug.fixed))
        assert measure(project) == BASELINE + 100 * bug.tests / TESTS, bug.name
        path.write_text(text)


@each_row("scenario", ["stuck", "oscillating"])
def test_trouble_lasts_until_guidance_comes(scenario: str) -> None:
    fixed = set(BUGS[:3]) if scenario == "stuck" else set()
    for iteration in range(3, 11):
        steps = plan(scenario, iteration, fixed, guided=False)
        fixed -= {step.bug for step in steps if step.action == "break"}
        fixed |= {step.bug for step in steps if step.action == "fix"}
        assert len(fixed) < 5
    while steps := plan(scenario, 11, fixed, guided=True):
        assert {step.action for step in steps} == {"fix"}
        fixed |= {step.bug for step in steps}
    assert fixed == set(BUGS)


def test_guidance_in_the_prompt_counts(project: Path) -> None:
    session(project, "stuck", 1)
    session(project, "stuck", 2)
    session(project, "stuck", 3, "# Guidance from the user\n\nTry the unary rule.")
    assert measure(project) == 72


def test_the_stream_is_that_of_a_real_agent(project: Path) -> None:
    stream = session(project, "steady", 1)
    assert [stream[0]["type"], stream[-1]["type"]] == ["system", "result"]
    replayed = [event for event in stream if event.get("isReplay")]
    assert replayed[0]["message"]["content"] == "go"
    blocks = [event["message"] for event in stream if event["type"] == "assistant"]
    assert all(len(message["content"]) == 1 for message in blocks)
    assert len({message["id"] for message in blocks}) < len(blocks)
    assert any(event.get("parent_tool_use_id") for event in stream)
    main = [e["message"]["usage"] for e in stream
            if e["type"] == "assistant" and not e["parent_tool_use_id"]]  # fmt: skip
    contexts = [sum(usage.values()) - usage["output_tokens"] for usage in main]
    assert contexts == sorted(contexts)
    window = stream[-1]["modelUsage"]["demo-agent"]["contextWindow"]
    assert 0.1 < contexts[-1] / window < 0.6
    # A tool fails once, in the second iteration, and is then fixed.
    failed = [
        block["content"]
        for event in session(project, "steady", 2)
        if event["type"] == "user" and not event.get("isReplay")
        for block in event["message"]["content"]
        if block["is_error"]
    ]
    assert any("String to replace not found" in text for text in failed)


def test_questions_and_interrupts_are_answered(project: Path) -> None:
    agent = Child(
        program("steady"), cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with agent:
        assert agent.stdin is not None
        assert agent.stdout is not None

        def say(**message: object) -> None:
            assert agent.stdin is not None
            agent.stdin.write(json.dumps(message) + "\n")
            agent.stdin.flush()

        def next_of(kind: str) -> dict[str, Any]:
            assert agent.stdout is not None
            for line in agent.stdout:
                event: dict[str, Any] = json.loads(line)
                if event["type"] == kind:
                    return event
            raise AssertionError(f"the stream ended before a {kind}")

        agent.stdin.write("not json\n")
        say(type="user", message={"content": "go"})
        next_of("assistant")
        say(type="control_request", request_id="1", request={"subtype": "get_context_usage"})
        answer = next_of("control_response")["response"]
        assert answer["request_id"] == "1"
        assert answer["response"]["maxTokens"] == 200_000
        assert answer["response"]["totalTokens"] > 20_000
        say(type="control_request", request_id="2", request={"subtype": "make_coffee"})
        assert next_of("control_response")["response"]["subtype"] == "error"
        say(type="control_request", request_id="3", request={"subtype": "interrupt"})
        result = next_of("result")
        assert result["is_error"] is True
        assert result["terminal_reason"] in ("aborted_tools", "aborted_streaming")
        # The session is still usable: the next message begins a turn.
        say(type="user", message={"content": "go on"}, uuid="u-1")
        assert next_of("command_lifecycle")["state"] == "queued"
        assert next_of("command_lifecycle")["state"] == "started"
        agent.terminate()
    assert agent.returncode == 143


def test_the_agent_refuses_other_folders(tmp_path: Path) -> None:
    done = subprocess.run(
        program("steady"), cwd=tmp_path, input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ralph-tui demo" in done.stderr


def test_what_keeps_the_demo_from_starting_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--scenario", "fast"]) == 2
    assert "'fast'; choose one of steady, stuck" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo", "--headless"]) == 1
    assert "cannot create the demo project with git" in capsys.readouterr().err


def test_the_agent_loads_little() -> None:
    code = (
        "import sys, ralph_tui.demo.agent.__main__;"
        "print([m for m in ('pydantic', 'textual', 'rich', 'git') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
