"""Claude Code is at its limit, Codex takes over, and Claude Code comes back: on their stubs."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.loop.steps import service_limits
from ralph_tui.loop.steps.sessions import TAKEN_OVER
from tests.doubles import acp
from tests.doubles.codex_launch import CODEX_STUB
from tests.doubles.launch import LOGIN, STUB
from tests.e2e.cli import Done, events_of, here, processes_of, start
from tests.waiting import until

CHECK = "test -e b.txt"
LIMITED = {"fault": "429", "resets_in_s": 1}
FAR = {"fault": "429", "resets_in_s": 9000}
SLEEPER = "touch begun; exec sleep 60"


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "input": {"command": command}}], **more}


DONE = {"text": "done"}


class Agents:
    """Both stubs on a PATH of their own, each with its scenario."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "RALPH_TUI_AGENT__BINARY": "",
            "RALPH_TUI_PERMISSIONS__MODE": "skip",
            "IS_SANDBOX": "1",
            **LOGIN,
        }

    def put(self, name: str, program: Path, *sessions: Sequence[object]) -> None:
        state = self.folder / name
        state.mkdir()
        (state / "scenario.json").write_text(
            json.dumps({"about": "", "subscription": True, "sessions": sessions})
        )
        script = self.programs / name
        script.write_text(
            f"#!/bin/sh\nexport STUB_SCENARIO={state}/scenario.json STUB_STATE={state} "
            f'STUB_PYTHON={sys.executable}\nexec {program} "$@"\n'
        )
        script.chmod(0o755)

    def claude(self, *sessions: Sequence[object]) -> None:
        self.put("claude", STUB, *sessions)

    def codex(self, *sessions: Sequence[object]) -> None:
        self.put("codex", CODEX_STUB, *sessions)


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path / "agents")


def order(*more: str, fallback: str = "codex") -> list[str]:
    return [
        "run", "Make b.txt", "-c", CHECK, "--headless", "--json", "--set",
        f"agent.fallback={fallback}", "--set", "agent.fallback_after=0", *more,
    ]  # fmt: skip


def who(events: Sequence[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(e["iteration"], e["agent"]) for e in events if e["kind"] == "session_started"]


def refused(done: Done) -> str:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert not done.stdout
    return done.stderr.strip()


def test_a_limit_hands_over_to_codex_and_claude_comes_back(
    git_repo: Path, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_limits, "AFTER_RESET_S", 0.0)
    agents.claude([LIMITED], [bash("touch b.txt"), DONE])
    # It works until the other agent's limit resets.
    until_then = "t=$(($(date +%s) + 2)); until [ $(date +%s) -ge $t ]; do sleep 0.2; done"
    agents.codex([bash(f"touch a.txt; {until_then}"), DONE])
    done = here(*order(), cwd=git_repo, **agents.environ)
    events = events_of(done.stdout)
    assert done.returncode == 0, (events[-1], done.stderr)
    assert who(events) == [(1, "claude"), (1, "codex"), (2, "claude")]
    changed = [e for e in events if e["kind"] == "agent_changed"]
    assert [(e["before"], e["agent"], e["cause"]) for e in changed] == [
        ("claude", "codex", "usage_limit"),
        ("codex", "claude", "back"),
    ]
    assert changed[0]["until"]
    records = [e for e in events if e["kind"] == "iteration_finished"]
    assert [e["iteration"] for e in records] == [1, 2], "no iteration is spent on the limit"
    prompts = git_repo.rglob("iter-001/prompt*.md")
    fields = {path.name: TAKEN_OVER in path.read_text() for path in prompts}
    assert fields == {"prompt.md": False, "prompt-2.md": True}
    report = here("report", "--full", cwd=git_repo).stdout
    assert "- Worked: claude in iterations 1-2 (2 sessions, \\$" in report
    assert "; codex in iteration 1 (1 session, cost unknown, " in report
    assert "codex takes over in the meantime" in here("replay", "--headless", cwd=git_repo).stdout


def test_a_silent_service_hands_over(git_repo: Path, agents: Agents) -> None:
    """An ACP program whose service never answers, and says nothing of why."""
    script = agents.folder / "silent.json"
    script.write_text(json.dumps({"plays": "opencode", "prompts": [[{"wait": 60}]]}))
    silent = shlex.join([sys.executable, "-S", acp.__file__, str(script)])
    agents.codex([bash("touch b.txt"), DONE])
    line = order("--agent", "acp", "--agent-command", silent, "--set", "agent.silence_s=10")
    done = here(*line, cwd=git_repo, **agents.environ)
    events = events_of(done.stdout)
    assert done.returncode == 0, (events[-1], done.stderr)
    assert who(events) == [(1, "acp"), (1, "codex")]
    (changed,) = [e for e in events if e["kind"] == "agent_changed"]
    assert (changed["before"], changed["agent"], changed["cause"]) == ("acp", "codex", "outage")
    assert changed["reason"].startswith("The agent's service has not answered for 10s")
    ended = [e["outcome"] for e in events if e["kind"] == "session_finished"]
    assert ended == ["limited", "success"]


def test_killed_while_codex_stands_in_it_goes_on_with_codex(
    git_repo: Path, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents.claude([FAR])
    agents.codex([bash(SLEEPER), DONE], [bash("touch b.txt"), DONE])
    for name, value in agents.environ.items():
        monkeypatch.setenv(name, value)
    with start(*order(), cwd=git_repo) as process:
        try:
            until((git_repo / "begun").exists)
            status = json.loads(here("status", "--json", cwd=git_repo, **agents.environ).stdout)
            assert status["agent"] == "codex"
            assert status["stands_in"].startswith("claude is at its limit until ")
            said = here("status", cwd=git_repo, **agents.environ).stdout
            assert "; codex takes over in the meantime" in said
        finally:
            process.kill()
            process.communicate()
    until(lambda: not processes_of(status["run_id"]))
    done = here("resume", "--headless", "--json", cwd=git_repo, **agents.environ)
    events = events_of(done.stdout)
    assert done.returncode == 0, (events[-1], done.stderr)
    assert who(events)[-1] == (2, "codex")
    assert [agent for _, agent in who(events)].count("claude") <= 1, "it is not tried before"
    assert events[-1]["outcome"] == "completed"


def test_a_fallback_that_is_not_installed_is_one_sentence(git_repo: Path, agents: Agents) -> None:
    agents.claude([bash("touch b.txt"), DONE])
    done = here(*order(), cwd=git_repo, **agents.environ)
    events = events_of(done.stdout)
    assert done.returncode == 0
    noted = [e["text"] for e in events if e["kind"] == "noticed" and e["source"] == "agent"]
    assert noted == [
        "codex (agent.fallback) is not available; it is ignored: Codex CLI was not found; looked "
        "for codex in the 3 folders of PATH"
    ]


def test_a_first_that_is_not_installed_hands_over(git_repo: Path, agents: Agents) -> None:
    agents.codex([bash("touch b.txt"), DONE])
    done = here(*order("--agent", "claude"), cwd=git_repo, **agents.environ)
    events = events_of(done.stdout)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert who(events) == [(1, "codex")]
    (changed,) = [e for e in events if e["kind"] == "agent_changed"]
    assert (changed["before"], changed["agent"], changed["cause"]) == ("claude", "codex", "missing")
    assert events[0]["agent"] == "claude"


def test_without_any_agent_nothing_begins(git_repo: Path, agents: Agents) -> None:
    done = here(*order("--agent", "claude"), cwd=git_repo, **agents.environ)
    assert refused(done).startswith("ralph-tui: 'claude' (--agent claude) is not on PATH: ")


@pytest.mark.parametrize(
    ("fallback", "more", "sentence"),
    [
        ("codx", (), "unknown agent 'codx' (agent.fallback): did you mean codex?"),
        ("demo", (), "'demo' (agent.fallback) cannot be a fallback; remove it"),
        ("codex,codex", (), "agent.fallback (--set) must name each agent once, not 'codex,codex'"),
        (
            "command",
            ("--set", "agent.command=cat", "--permissions", "edits"),
            "the agent `command` (agent.fallback) does not enforce permissions; it can replace "
            "`claude` only with --permissions skip",
        ),
    ],
)
def test_a_wrong_fallback_is_one_sentence(
    git_repo: Path, agents: Agents, fallback: str, more: tuple[str, ...], sentence: str
) -> None:
    agents.claude([DONE])
    agents.codex([DONE])
    done = here(*order(*more, fallback=fallback), cwd=git_repo, **agents.environ)
    assert refused(done) == f"ralph-tui: {sentence}"


def test_what_a_repository_names_is_ignored(git_repo: Path, agents: Agents) -> None:
    (git_repo / ".ralph-tui.toml").write_text('[agent]\nfallback = ["codex"]\n')
    agents.claude([bash("touch b.txt"), DONE])
    arguments = ["run", "Make b.txt", "-c", CHECK, "--headless", "--json"]
    done = here(*arguments, cwd=git_repo, **agents.environ)
    assert done.returncode == 0
    assert "may not set agent.fallback, because the agent can write that file" in done.stderr
    assert events_of(done.stdout)[0]["config"]["agent.fallback"] == []
