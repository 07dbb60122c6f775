"""Whole runs whose agent asks: answered by key, from another terminal, by a script, by nobody."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.launch import STUB, environment
from tests.e2e.cli import CLI, events_of, here, processes_of, run
from tests.e2e.tmux import Terminal
from tests.waiting import until

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
                        "options": [{"label": "Blue", "description": "calm"}, {"label": "Green"}],
                        "multiSelect": False,
                    }
                ]
            },
        }
    ]
}
ORDER = ("run", "Fix it", "-c", "test -d done", "--agent", "claude", "--permissions", "ask")


def stub(tmp_path: Path, *answers: dict[str, Any]) -> dict[str, Any]:
    """The environment in which Claude's stub plays this."""
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"about": "it asks", "answers": [*answers, {"text": "done"}]}))
    base = {"RALPH_TUI_AGENT__BINARY": str(STUB)}
    return environment(scenario, state=tmp_path / "state", base=base)


@pytest.fixture
def terminal() -> Iterator[Open]:
    """Opens terminals, and closes them in the end."""
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, cwd: Path, environ: dict[str, Any]) -> Terminal:
        assigned = [f"{name}={value}" for name, value in environ.items()]
        command = ["env", *assigned, *CLI, *arguments]
        opened.append(Terminal(command, cwd, width=80, height=24))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


def answer(screen: Terminal, key: str) -> None:
    """Press it when the dialog has stood for a second: it takes no key that came too early."""
    until(lambda: re.search(r"no answer in 4m [0-5]?[0-8]s", screen.screen))
    screen.press(key)


def journal(root: Path) -> list[dict[str, Any]]:
    path = next(root.rglob("events.jsonl"))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_by_key_from_another_terminal_and_by_a_script(
    terminal: Open, git_repo: Path, tmp_path: Path
) -> None:
    asks = [bash("touch one"), bash("mkdir done"), bash("git push origin main"), CHOICE]
    environ = stub(tmp_path, *asks)
    screen = terminal(*ORDER, "--max-iterations", "1", cwd=git_repo, environ=environ)
    screen.shows("claude asks for Bash: touch one", "for you", "Bash(touch one *)", "no answer in")
    assert not (git_repo / "one").exists()
    until(lambda: "touch one" in here("status", cwd=git_repo).stdout)
    assert "now         ? waits for your answer" in here("status", cwd=git_repo).stdout
    answer(screen, "y")
    screen.shows("claude asks for Bash: mkdir done")
    assert (git_repo / "one").exists()
    told = here("decide", cwd=git_repo).stdout
    assert "for this session it would allow exactly:\n  Bash(mkdir done *)" in told
    script = here("decide", "session", cwd=git_repo)
    assert script.returncode == 1
    assert "said by a person at a terminal alone" in script.stderr
    other = terminal("decide", "session", cwd=git_repo, environ=environ)
    other.shows("heard session")
    screen.shows("claude asks for Bash: git push origin main")
    assert (git_repo / "done").is_dir()
    refused = here("decide", "refuse", "open a pull request", cwd=git_repo)
    assert "heard refuse" in refused.stdout
    screen.shows("Which colour?", "calm")
    answer(screen, "2")
    screen.shows("completed")
    screen.press("q")
    assert screen.exit_code() == 0
    events = journal(git_repo)
    answers = [(e["answer"], e["by"], e["choices"]) for e in of(events, "question_answered")]
    assert [answer for answer, _, _ in answers] == ["once", "session", "refuse", "choose"]
    assert answers[0][1] == "you"
    assert answers[1][1].startswith("the terminal ")
    assert answers[2][1].startswith("a script ")
    assert answers[3][2] == [["Green"]]
    assert not of(events, "tool_denied")
    transcript = next(git_repo.rglob("transcript.jsonl")).read_text()
    assert "The owner refused it: open a pull request" in transcript
    report = here("report", cwd=git_repo).stdout
    assert "Bash: touch one: **allowed once by you**" in report
    assert "(`Bash(mkdir done *)`)" in report
    assert "Which colour?: **answered by you: Green**" in report
    assert not list(git_repo.glob(".claude*"))


def test_headless_it_is_refused_at_once(git_repo: Path, tmp_path: Path) -> None:
    environ = stub(tmp_path, bash("mkdir done"), CHOICE)
    order = (*ORDER, "--headless", "--max-iterations", "1")
    done = here(*order, "--json", cwd=git_repo, **environ)
    events = events_of(done.stdout)
    assert done.returncode == 3
    assert [e["answer"] for e in of(events, "question_answered")] == ["refuse", "leave"]
    transcript = next(git_repo.rglob("transcript.jsonl")).read_text()
    assert "Nobody is here to be asked. Go on without it." in transcript


def test_killed_while_it_asks_the_run_goes_on_whole(git_repo: Path, tmp_path: Path) -> None:
    environ = stub(tmp_path, bash("mkdir done"))
    order = (*ORDER, "--max-iterations", "1")
    assert run(*order, "--detach", cwd=git_repo, **environ).returncode == 0
    until(lambda: "mkdir done" in here("decide", cwd=git_repo).stdout)
    (started,) = of(journal(git_repo), "run_started")
    os.kill(started["pid"], signal.SIGKILL)
    until(lambda: not processes_of(started["run_id"]))
    over = here("status", cwd=git_repo).stdout
    assert "open when the run ended: claude asks for Bash: mkdir done" in over
    done = run("resume", "--headless", cwd=git_repo, **environ)
    assert "nobody to ask: refused" in done.stdout
    assert "Traceback" not in done.stderr
