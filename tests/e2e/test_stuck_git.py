"""A git that never ends does not keep a run from ending, nor outlives it."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import events_of, here, processes_of, run, start
from tests.forks import Started
from tests.waiting import until

MAKES_A_PIPE = "mkdir -p sub; rm -f sub/.gitignore; mkfifo sub/.gitignore; date +%N > new.txt"
SENTENCE = "git reads sub/.gitignore, which is a FIFO and never ends; delete it"


def agent(command: str) -> list[str]:
    return ["--agent", "command", "--agent-command", command]


def test_a_pipe_in_the_place_of_a_file_costs_snapshots_and_not_the_run(git_repo: Path) -> None:
    words = ("run", "x", "-c", "false", *agent(MAKES_A_PIPE), "--max-iterations", "1")
    done = here(*words, cwd=git_repo)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"no snapshot taken: {SENTENCE}" in done.stdout
    # Later commands report it too, and do not hang.
    done = here("resume", "--headless", "--max-iterations", "2", cwd=git_repo)
    assert done.returncode in (1, 3)
    assert SENTENCE in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.fixture
def stuck(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """A run whose git, deaf to every signal that it can be, never ends."""
    real, program = shutil.which("git"), tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nif [ -e {git_repo}/.git/stuck ]; then case " $* " in *" diff-files "*)\n'
        f'trap "" TERM INT HUP; touch {git_repo}/.git/waits; sleep 97533 & wait; sleep 97533;;\n'
        f'esac; fi\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    words = ("run", "x", "-c", "false", *agent("touch .git/stuck"), "--json")
    with start(*words, cwd=git_repo) as process:
        try:
            until(lambda: (git_repo / ".git" / "waits").exists())
            yield process
        finally:
            process.kill()


def run_id(root: Path) -> str:
    return str(events_of(next(root.rglob("events.jsonl")).read_text())[0]["run_id"])


def ending(root: Path) -> list[dict[str, Any]]:
    """The request that ended the run, and the end itself."""
    kinds = ("abort_requested", "stop_requested", "run_finished")
    events = events_of(next(root.rglob("events.jsonl")).read_text())
    return [event for event in events if event["kind"] in kinds]


@pytest.mark.parametrize("how", ["abort", signal.SIGTERM])
def test_a_run_ends_whatever_git_does(
    git_repo: Path, stuck: Started, how: str | signal.Signals
) -> None:
    marked = run_id(git_repo)
    assert processes_of(marked)
    if isinstance(how, signal.Signals):
        stuck.send_signal(how)
    else:
        assert here("abort", "--yes", cwd=git_repo).returncode == 0
    assert stuck.stdout is not None
    out = stuck.stdout.read()
    stuck.wait()
    _, over = ending(git_repo)
    assert over["kind"] == "run_finished"
    assert "git diff-files was still running and was stopped with the run" in out
    assert processes_of(marked) == []


def test_no_git_stays_when_a_run_is_killed(git_repo: Path, stuck: Started) -> None:
    marked = run_id(git_repo)
    assert processes_of(marked)
    stuck.kill()
    until(lambda: processes_of(marked) == [])


def test_pipes_in_the_users_configuration_hold_no_command(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent has set them; every later command continues and reports them."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    pipe = home / "pipe"
    keys = ("trace2.eventTarget", "include.path", "core.excludesFile", "core.fsmonitor")
    # Its own git would be the first to wait for them, so the agent writes the file.
    lines = [f"[{section}]\n{key} = {pipe}\n" for section, key in (k.split(".") for k in keys)]
    (tmp_path / "config").write_text("".join(lines))
    script = f"cat >/dev/null; mkfifo {pipe}; cp {tmp_path}/config {home}/.gitconfig; echo x >>a"
    words = ("run", "x", "-c", "false", *agent(script), "--max-iterations", "1")

    done = run(*words, "--headless", cwd=git_repo, HOME=str(home))

    assert done.returncode == 3, done.stdout + done.stderr
    resumed = run("resume", "--headless", "--max-iterations", "2", *agent("true"), cwd=git_repo)
    assert resumed.returncode == 3, resumed.stdout + resumed.stderr
    assert here("status", cwd=git_repo).returncode == 0
    assert "your git configuration names ~/pipe, which is not a file" in flat(
        here("doctor", cwd=git_repo).stdout
    )


def flat(text: str) -> str:
    return " ".join(text.split())
