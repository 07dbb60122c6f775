"""Runs whose agent asks: answered by key, another terminal, a script, or not at all."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.api import Api
from tests.doubles.launch import STUB, environment, real_binary, real_environment
from tests.doubles.scenario import load
from tests.e2e.cli import events_of, here, processes_of, run, start
from tests.e2e.tmux import Terminal
from tests.waiting import until

BINARY = real_binary()
Open = Callable[..., Terminal]


def bash(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "for you"}}]}


CHOICE = {
    "tools": [
        {
            "name": "AskUserQuestion",
            "input": {
                "questions": [
                    {
                        "question": "Which colour?",
                        "header": "Colour",
                        "options": [
                            {"label": "Blue", "description": "calm"},
                            {"label": "Green", "description": ""},
                        ],
                        "multiSelect": False,
                    }
                ]
            },
        }
    ]
}
ORDER = (
    "run",
    "Fix it",
    "-c",
    "git rev-parse -q --verify done",
    "--agent",
    "claude",
    "--permissions",
    "ask",
)


def script(tmp_path: Path, *answers: dict[str, Any]) -> Path:
    """A scenario with these answers."""
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"about": "it asks", "answers": [*answers, {"text": "done"}]}))
    return scenario


def stub(tmp_path: Path, *answers: dict[str, Any]) -> dict[str, Any]:
    """The environment in which Claude's stub plays this."""
    scenario = script(tmp_path, *answers)
    base = {"RALPH_TUI_AGENT__BINARY": str(STUB)}
    return environment(scenario, state=tmp_path / "state", base=base)


ASKS = [bash("git tag one"), bash("git branch done"), bash("git push origin main"), CHOICE]


@pytest.fixture(
    params=[
        "stub",
        pytest.param(
            "real",
            marks=[
                pytest.mark.real_agent,
                pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed"),
            ],
        ),
    ]
)
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The environment in which Claude, its stub or itself, asks for all of it."""
    if request.param == "stub":
        yield stub(tmp_path, *ASKS)
        return
    scenario = load(script(tmp_path, *ASKS))
    with Api(scenario) as api:
        real = real_environment(api.url, tmp_path / "home", scenario)
        yield {**real, "RALPH_TUI_AGENT__BINARY": BINARY, "RALPH_TUI_AGENT__MODEL": scenario.model}


@pytest.fixture
def terminal() -> Iterator[Open]:
    """Opens terminals, and closes them in the end."""
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, cwd: Path, environ: dict[str, Any]) -> Terminal:
        opened.append(Terminal(arguments, cwd, width=80, height=24, **environ))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


def answer(screen: Terminal, key: str) -> None:
    """Press the key once the dialog has been open for a second: it ignores earlier keys."""
    seen: set[str] = set()

    def stands() -> bool:
        rows = screen.screen.splitlines()
        if any(" unless you press" in row for row in rows):
            seen.add(rows[1])  # with the seconds of the run
        return len(seen) > 2

    until(stands)
    screen.press(key)


def leave(screen: Terminal) -> None:
    """Press q until it takes effect: a dialog that closes on its own swallows keys for a second."""

    def left() -> bool:
        screen.press("q")
        return screen.ended

    until(left)
    assert screen.exit_code() == 0


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", root, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def journal(root: Path) -> list[dict[str, Any]]:
    path = next(root.rglob("events.jsonl"))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def refuse_twice_at_once(root: Path) -> None:
    """Let two scripts answer the open question at once; one wins and the other is refused."""
    (which,) = re.findall(r"--question (\w+)", here("decide", cwd=root).stdout)
    words = ("decide", "refuse", "open a pull request", "--question", which)
    with start(*words, cwd=root) as one, start(*words, cwd=root) as other:
        said = [side.communicate() for side in (one, other)]
        codes = [side.wait() for side in (one, other)]
    assert sorted(codes) == [0, 1], said
    heard, late = said[codes.index(0)], said[codes.index(1)]
    assert 'answered refuse: "open a pull request" (' in heard[0]
    assert "git push origin main)" in heard[0]
    # Which of the three depends on how far the run has come.
    why = "already answered: refuse, by a script|the question changed|has no open question"
    assert re.search(why, late[1]), said


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_by_key_from_another_terminal_and_by_a_script(
    terminal: Open, git_repo: Path, environ: dict[str, Any]
) -> None:
    screen = terminal(*ORDER, "--max-iterations", "1", cwd=git_repo, environ=environ)
    screen.shows("claude asks for Bash: git tag one", "for you", "Bash(git tag *)", "refuses in")
    until(lambda: "git tag one" in here("status", cwd=git_repo).stdout)
    assert "now         ! waits for your answer" in here("status", cwd=git_repo).stdout
    assert git(git_repo, "tag") == ""
    answer(screen, "y")
    screen.shows("claude asks for Bash: git branch done")
    assert git(git_repo, "tag") == "one"
    output = here("decide", cwd=git_repo).stdout
    assert "allowing it for this session permits:\n  Bash(git branch *)" in output
    (which,) = re.findall(r"--question (\w+)", output)
    unseen = here("decide", "session", cwd=git_repo)
    assert f"decide session --question {which}" in unseen.stderr
    by_script = here("decide", "session", "--question", which, cwd=git_repo)
    assert by_script.returncode == 1
    assert "only a person at a terminal can widen" in by_script.stderr
    other = terminal("decide", "session", cwd=git_repo, environ=environ)
    other.shows("git branch done", "Bash(git branch *)", "[y/N]")
    other.type("y")
    other.press("Enter")
    other.shows("answered session")
    screen.shows("claude asks for Bash: git push origin main")
    assert "done" in git(git_repo, "branch")
    for words in (("refuse", "no"), ("leave",)):  # the second is not an option of the open question
        late = here("decide", *words, "--question", which, cwd=git_repo)
        assert "the question changed" in late.stderr
        assert "git push origin main" in late.stderr
    refuse_twice_at_once(git_repo)
    screen.shows("Which colour?", "calm")
    answer(screen, "2")
    screen.shows("completed")
    screen.press("q")
    assert screen.exit_code() == 0
    events = journal(git_repo)
    answers = [(e["answer"], e["by"], e["choices"]) for e in of(events, "question_answered")]
    assert [word for word, _, _ in answers] == ["once", "session", "refuse", "choose"]
    assert answers[0][1] == "you"
    assert answers[1][1].startswith("the terminal ")
    assert answers[2][1].startswith("a script ")
    assert answers[3][2] == [["Green"]]
    assert not of(events, "tool_denied")
    transcript = next(git_repo.rglob("transcript.jsonl")).read_text()
    assert "The user refused it: open a pull request" in transcript
    report = here("report", cwd=git_repo).stdout
    assert "Bash: git tag one: **allowed once by you**" in report
    assert "(`Bash(git branch *)`)" in report
    assert "Which colour?: **answered by you: Green**" in report
    assert not list(git_repo.glob(".claude*"))


def test_headless_it_is_refused_at_once(git_repo: Path, tmp_path: Path) -> None:
    environ = stub(tmp_path, bash("git branch done"), CHOICE)
    order = (*ORDER, "--headless", "--max-iterations", "1")
    done = here(*order, "--json", cwd=git_repo, **environ)
    events = events_of(done.stdout)
    assert done.returncode == 3
    assert [e["answer"] for e in of(events, "question_answered")] == ["refuse", "leave"]
    transcript = next(git_repo.rglob("transcript.jsonl")).read_text()
    assert "No user is available to answer. Continue without it." in transcript


def test_killed_while_it_asks_the_run_goes_on_whole(git_repo: Path, tmp_path: Path) -> None:
    environ = stub(tmp_path, bash("git branch done"))
    order = (*ORDER, "--max-iterations", "1")
    assert run(*order, "--detach", cwd=git_repo, **environ).returncode == 0
    until(lambda: "git branch done" in here("decide", cwd=git_repo).stdout)
    (started,) = of(journal(git_repo), "run_started")
    os.kill(started["pid"], signal.SIGKILL)
    until(lambda: not processes_of(started["run_id"]))
    over = here("status", cwd=git_repo).stdout
    assert "open when the run ended: claude asks for Bash: git branch done" in over
    done = run("resume", "--headless", cwd=git_repo, **environ)
    assert "no one to ask: refused" in done.stdout
    assert "Traceback" not in done.stderr
