"""Agents themselves take over from one another, each on a scripted service of its own."""

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.doubles.api import Api
from tests.doubles.codex_launch import real_codex
from tests.doubles.codex_launch import real_environment as codex_environment
from tests.doubles.launch import real_binary
from tests.doubles.launch import real_environment as claude_environment
from tests.doubles.scenario import Answer, Scenario, ToolUse
from tests.e2e.cli import events_of, here
from tests.e2e.test_acp_real import BINARIES, SHELL, serving
from tests.e2e.test_asked_run import of
from tests.e2e.test_fallback import order, who

PROGRAMS = {"claude": real_binary(), "codex": real_codex(), **BINARIES}
FAR = Answer(fault="429", resets_in_s=9000, times=50)
"""A limit that ends in hours, as the services say it that tell the end."""
DAILY = Answer(fault="429 daily", times=50)
"""Gemini's quota of a day."""

pytestmark = pytest.mark.real_agent


def works(name: str) -> list[Answer]:
    """An edit that makes the completion command pass."""
    use = ToolUse(SHELL.get(name, "Bash"), {"command": "touch b.txt", "description": "make it"})
    return [Answer(tools=[use]), Answer(text="done")]


@contextmanager
def service(name: str, folder: Path, root: Path, answers: list[Answer]) -> Iterator[dict[str, str]]:
    """The environment in which an agent uses its scripted service and nothing else."""
    home = folder / f"home-{name}"
    scenario = Scenario("here", "made here", [answers], subscription=True)
    if name == "claude":
        with Api(scenario) as api:
            yield claude_environment(api.url, home, scenario)
    elif name == "codex":
        with codex_environment(scenario, root, home) as environ:
            yield environ
    else:
        with serving(name, home, *answers) as environ:
            yield {key: environ[key] for key in environ if not key.startswith("RALPH_")}


@contextmanager
def on_path(folder: Path, root: Path, **agents: list[Answer]) -> Iterator[dict[str, str]]:
    """The agents on a PATH, each with its service; and the environment of the run."""
    programs = folder / "bin"
    programs.mkdir()
    path = f"{programs}:{os.environ.get('PATH', os.defpath)}"
    with ExitStack() as services:
        for name, answers in agents.items():
            environ = services.enter_context(service(name, folder, root, answers))
            exports = (f"{key}={shlex.quote(value)}" for key, value in environ.items())
            script = programs / name
            script.write_text(
                f'#!/bin/sh\nexport {" ".join(exports)}\nexec {PROGRAMS[name]} "$@"\n'
            )
            script.chmod(0o755)
        yield {
            "PATH": path,
            "RALPH_TUI_AGENT__BINARY": "",
            "RALPH_TUI_PERMISSIONS__MODE": "skip",
            "IS_SANDBOX": "1",
        }


@pytest.mark.parametrize(
    ("first", "limit", "second"),
    [
        ("claude", FAR, "codex"),
        ("claude", FAR, "gemini"),
        ("claude", FAR, "opencode"),
        ("codex", FAR, "claude"),
        ("gemini", DAILY, "opencode"),
    ],
)
def test_one_goes_on_while_the_other_is_at_its_limit(
    git_repo: Path, tmp_path: Path, first: str, limit: Answer, second: str
) -> None:
    missing = [name for name in (first, second) if PROGRAMS[name] is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    script = {first: [limit], second: works(second)}
    with on_path(tmp_path, git_repo, **script) as environ:
        line = order("--agent", first, "--max-iterations", "1", fallback=second)
        done = here(*line, cwd=git_repo, **environ)
    events = events_of(done.stdout)
    assert events[-1]["outcome"] == "completed", (events[-1], done.stderr)
    assert who(events) == [(1, first), (1, second)]
    (changed,) = of(events, "agent_changed")
    assert (changed["before"], changed["agent"]) == (first, second)
    assert changed["cause"] == "usage_limit"
    ended = [event["outcome"] for event in of(events, "session_finished")]
    assert ended == ["limited", "success"]
    (record,) = of(events, "iteration_finished")
    reported = first == "codex" or second == "opencode"
    assert (record["cost_usd"] is not None) == reported, (
        "no cost of nothing where one does not tell"
    )
