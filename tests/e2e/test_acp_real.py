"""Gemini CLI and OpenCode themselves, each against a scripted service on the loopback.

Named by ``RALPH_TEST_GEMINI`` and ``RALPH_TEST_OPENCODE``; each has a home of its own, and an
invented key.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.doubles.api import Api
from tests.doubles.gemini_api import GeminiApi
from tests.doubles.scenario import Answer, Scenario, ToolUse
from tests.e2e.cli import CLI, GATE, events_of, here, processes_of, project
from tests.e2e.test_asked_run import Open, answer, journal, of, terminal  # noqa: F401 - a fixture
from tests.processes import Child
from tests.waiting import until

BINARIES = {name: os.environ.get(f"RALPH_TEST_{name.upper()}") for name in ("gemini", "opencode")}
SHELL = {"gemini": "run_shell_command", "opencode": "bash"}
DONE = "for n in 0 1 2 3; do touch done-$n.txt; done"

pytestmark = pytest.mark.real_agent
EACH = pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                binary is None, reason=f"set RALPH_TEST_{name.upper()} to the program"
            ),
        )
        for name, binary in BINARIES.items()
    ],
)


def shell(name: str, command: str) -> Answer:
    return Answer(tools=[ToolUse(SHELL[name], {"command": command, "description": "run it"})])


def edit(name: str, file: Path, old: str, new: str) -> Answer:
    if name == "gemini":
        given = {"file_path": str(file), "old_string": old, "new_string": new, "instruction": "fix"}
        return Answer(tools=[ToolUse("replace", given)])
    return Answer(
        tools=[ToolUse("edit", {"filePath": str(file), "oldString": old, "newString": new})]
    )


@contextmanager
def serving(name: str, home: Path, *answers: Answer) -> Iterator[dict[str, str]]:
    """The service, and the environment in which the agent uses it and nothing else."""
    home.mkdir()
    variables = {"HOME": str(home), "TMPDIR": str(home), "XDG_CONFIG_HOME": str(home / ".config"),
                 "RALPH_TUI_AGENT__BINARY": BINARIES[name] or ""}  # fmt: skip
    if name == "gemini":
        with GeminiApi(*answers) as gemini:
            settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            _write(home / ".gemini" / "settings.json", settings)
            yield variables | {
                "GEMINI_API_KEY": "sk-test",
                "GOOGLE_GEMINI_BASE_URL": gemini.url,
                "RALPH_TUI_AGENT__MODEL": "gemini-2.5-flash",
            }
    else:
        with Api(Scenario("here", "made here", [answers])) as api:
            options = {"baseURL": f"{api.url}/v1", "apiKey": "sk-test"}
            models = {"one": {"name": "One", "limit": {"context": 200_000, "output": 32_000},
                              "cost": {"input": 1, "output": 2}}}  # fmt: skip
            provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": models}
            config = {"provider": {"here": provider}, "model": "here/one",
                      "small_model": "here/one", "share": "disabled"}  # fmt: skip
            _write(home / ".config" / "opencode" / "opencode.json", config)
            yield variables | {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
            }


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))


def order(name: str, *more: str) -> tuple[str, ...]:
    return ("run", "Make the checks pass", "-c", GATE, "--agent", name, *more)


@EACH
def test_the_checks_are_made_to_pass_by_its_rules(
    git_repo: Path, tmp_path: Path, name: str
) -> None:
    project(git_repo)
    (git_repo / "notes.txt").write_text("one\n")
    answers = [
        edit(name, git_repo / "notes.txt", "one", "two"),
        shell(name, "rm -rf checks.sh"),
        shell(name, DONE.replace("; do", "\ndo").replace("; done", "\ndone")),
        *(shell(name, f"touch done-{number}.txt") for number in range(4)),
        shell(name, GATE),
        Answer(text="All checks pass now."),
    ]
    with serving(name, tmp_path / "home", *answers) as environ:
        allow = "permissions.allow=Bash(touch:*)"
        line = order(name, "--headless", "--json", "--set", allow, "--max-iterations", "1")
        done = here(*line, cwd=git_repo, **environ)
    events = events_of(done.stdout)
    assert events[-1]["outcome"] == "completed", done.stderr
    (finished,) = of(events, "session_finished")
    assert (finished["outcome"], finished["tool_errors"]) == ("success", 0)
    assert (finished["cost_usd"] is None) == (name == "gemini")
    assert finished["tokens"] > 0
    assert (git_repo / "notes.txt").read_text() == "two\n"
    assert (git_repo / "checks.sh").exists()
    permits = [event["permit"] for event in of(events, "tool_denied")]
    assert "Bash(rm:*)" in permits
    described = of(events, "session_described")[0]
    assert described["version"].startswith(("gemini-cli ", "OpenCode "))
    assert "All checks pass now." in [event["text"] for event in of(events, "agent_spoke")]
    assert not [note for note in of(events, "agent_noted") if "Unknown kind" in note["text"]]


@EACH
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_its_question_is_answered_by_key(
    terminal: Open,  # noqa: F811 - the fixture
    git_repo: Path,
    tmp_path: Path,
    name: str,
) -> None:
    project(git_repo)
    # For one agent a refusal ends the turn; the other's model answers and then gets the words.
    heard = [Answer(text="waits")] if name == "gemini" else []
    first, second, third = (shell(name, f"touch done-{number}.txt") for number in range(3))
    with serving(name, tmp_path / "home", first, second, *heard, third) as environ:
        line = order(name, "--permissions", "ask", "--max-iterations", "1")
        screen = terminal(*line, cwd=git_repo, environ={**os.environ, **environ})
        screen.shows(f"{name} asks for", "touch done-0.txt", "refuses in")
        answer(screen, "y")
        screen.shows("touch done-1.txt")
        refused = here("decide", "refuse", "one is enough", cwd=git_repo, **environ)
        assert "answered refuse" in refused.stdout
        # The owner's words reach its model by a further prompt, which it works on.
        screen.shows("touch done-2.txt")
        answer(screen, "y")
        screen.shows("limit reached")
        screen.press("q")
    events = journal(git_repo)
    given = [event["answer"] for event in of(events, "question_answered")]
    assert given == ["once", "refuse", "once"]
    done = sorted(path.name for path in git_repo.glob("done-*"))
    assert done == ["done-0.txt", "done-2.txt"]


@EACH
def test_a_refused_key_is_one_sentence(git_repo: Path, tmp_path: Path, name: str) -> None:
    project(git_repo)
    with serving(name, tmp_path / "home", Answer(fault="401", times=50)) as environ:
        done = here(*order(name, "--headless", "--json"), cwd=git_repo, **environ)
    events = events_of(done.stdout)
    assert (done.returncode, events[-1]["outcome"]) == (1, "failed")
    assert "is not allowed to use its service" in events[-1]["reason"]
    assert len(of(events, "session_started")) == 1


@EACH
def test_what_is_killed_leaves_nothing(git_repo: Path, tmp_path: Path, name: str) -> None:
    project(git_repo)
    command = "touch began; sleep 1000"
    with serving(name, tmp_path / "home", shell(name, command)) as environ:
        line = order(name, "--headless", "--permissions", "skip")
        with (
            Path(os.devnull).open("r+") as nothing,
            Child(
                [*CLI, *line],
                cwd=git_repo,
                env={**os.environ, **environ},
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
            ) as child,
        ):
            until(lambda: (git_repo / "began").exists())
            run_id = journal(git_repo)[0]["run_id"]
            assert processes_of(run_id)
            child.kill()
            until(lambda: not processes_of(run_id))
