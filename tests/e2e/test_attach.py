"""The engine outlives the screen: closed terminals, left screens, screens of other terminals."""

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import GATE, ONE_MORE, here, processes_of, project, run, start
from tests.e2e.test_asked_run import leave
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

WAITS = (
    "echo hello; while [ ! -e go ]; do sleep 0.05; done; "
    "for n in 0 1 2 3; do touch done-$n.txt; done"
)
"""An agent that waits to be let go, and then does everything at once."""


class Windows:
    """Opens terminals."""

    def __init__(self) -> None:
        self.opened: list[Terminal] = []

    def open(self, root: Path, *words: str, width: int = 100, height: int = 30) -> Terminal:
        self.opened.append(Terminal(words, root, width=width, height=height))
        return self.opened[-1]

    def run(self, root: Path, *options: str) -> Terminal:
        """A run in a terminal, at the point where its agent waits."""
        screen = self.open(root, *order(), *options)
        screen.shows("hello")
        return screen

    def attach(self, root: Path, **size: int) -> Terminal:
        """Another screen on it."""
        screen = self.open(root, "attach", **size)
        screen.shows("hello")
        return screen


def order(agent: str = WAITS) -> list[str]:
    return ["run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command", agent]


@pytest.fixture
def windows() -> Iterator[Windows]:
    opened = Windows()
    yield opened
    for each in opened.opened:
        each.close()


@pytest.fixture
def root(git_repo: Path) -> Iterator[Path]:
    """A repository with a gate; a run that was left there does not outlive the test."""
    yield project(git_repo)
    for pid in pids(git_repo):
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGKILL)


def journal(root: Path) -> list[dict[str, Any]]:
    found = sorted(root.rglob("events.jsonl"))
    if not found:
        return []
    lines = found[0].read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def pids(root: Path) -> list[int]:
    events = journal(root)
    return [events[0]["pid"]] if events else []


def log_of(root: Path) -> str:
    return "".join(path.read_text() for path in root.rglob("terminal.log"))


def ended(root: Path, outcome: str) -> list[dict[str, Any]]:
    """Wait for the end of run and process; the journal, found whole, with nothing left alive."""
    until(lambda: journal(root) and journal(root)[-1]["kind"] == "run_finished")
    events = journal(root)
    assert events[-1]["outcome"] == outcome, events[-1]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in pids(root)))
    assert processes_of(events[0]["run_id"]) == []
    return events


def let_go(root: Path) -> None:
    (root / "go").touch()


def test_two_screens_show_the_same_and_closing_the_first_loses_nothing(
    windows: Windows, root: Path
) -> None:
    first = windows.run(root)
    second = windows.attach(root)
    second.press("p")
    screens = (first, second)
    until(lambda: all("pausing" in screen.screen.lower() for screen in screens))
    first.press("p")
    until(lambda: not any("pausing" in screen.screen.lower() for screen in screens))
    first.close()
    until(lambda: list(root.rglob("terminal.log")))
    second.shows("hello")
    let_go(root)
    second.shows("completed", "100 %")
    events = ended(root, "completed")
    assert "stop_requested" not in [event["kind"] for event in events]
    said = log_of(root)
    assert "completed: the completion command passed" in said
    assert "\x1b" not in said, "the last screen updates were not written"
    second.press("q")
    assert second.exit_code() == 0


def test_a_paused_run_whose_screen_is_left_says_so_and_how_it_ends(
    windows: Windows, root: Path
) -> None:
    one_more = f"echo hello; while [ ! -e go ]; do sleep 0.05; done; {ONE_MORE}"
    screen = windows.open(root, *order(one_more))
    screen.shows("hello")
    assert here("pause", cwd=root).returncode == 0
    let_go(root)
    until(lambda: any(event["kind"] == "paused" for event in journal(root)))
    again = windows.attach(root)
    again.press("q")
    assert again.exit_code() == 0
    again.shows("the run task-001/001 is paused\n", "let it continue:   ralph-tui unpause\n")
    screen.press("q")
    screen.shows("leave only the screen")
    until(lambda: pressed(screen, "l", "is paused and waits here"))
    screen.press("C-c")
    screen.shows("ralph-tui resume")
    assert "SIGINT" in ended(root, "interrupted")[-1]["reason"]
    output = here("status", cwd=root).stdout
    assert "\nnext        ralph-tui resume task-001/001" in output


def pressed(screen: Terminal, key: str, words: str) -> bool:
    """True if the words are shown; otherwise press the key again, as a new dialog ignores keys."""
    if words not in screen.screen:
        screen.press(key)
    return words in screen.screen


def test_lines_follow_a_screen_that_is_left_and_closing_them_leaves_the_run_alone(
    windows: Windows, root: Path
) -> None:
    screen = windows.run(root)
    screen.press("q")
    screen.shows("leave only the screen")
    until(lambda: pressed(screen, "l", "here as plain lines"))
    assert "ralph-tui attach" in screen.screen
    again = windows.attach(root)
    again.press("q")
    assert again.exit_code() == 0
    again.shows("the run task-001/001 continues\n", "reopen the screen: ralph-tui attach")
    screen.close()
    until(lambda: list(root.rglob("terminal.log")))
    os.kill(pids(root)[0], signal.SIGTERM)
    assert "SIGTERM" in ended(root, "interrupted")[-1]["reason"]
    assert "stopped by SIGTERM" in log_of(root)


def test_detached_then_attached_then_stopped(windows: Windows, root: Path) -> None:
    started = run(*order(), "--detach", cwd=root)
    assert started.returncode == 0, started.stderr
    assert "task-001/001 runs in the background" in started.stdout
    pid = int(re.findall(r"process (\d+)", started.stdout)[0])
    assert journal(root)[0]["pid"] == pid
    assert journal(root)[0]["mode"] == "detached"
    assert os.getsid(pid) == pid
    assert json.loads(here("status", "--json", cwd=root).stdout)["alive"]
    refused = run(*order(), "--detach", cwd=root)
    assert refused.returncode == 2
    assert "owns this worktree" in refused.stderr
    screen = windows.attach(root)
    screen.press("C-c")
    screen.shows("leave this screen")
    until(lambda: pressed(screen, "s", "stopping:") or screen.ended)
    assert screen.exit_code() == 0
    ended(root, "interrupted")
    assert "stopped by" in log_of(root)


def test_what_cannot_begin_in_the_background_says_why(git_repo: Path) -> None:
    (git_repo / ".aiwg").mkdir()
    (git_repo / ".aiwg" / "ralph").write_text("in the way")
    refused = run(*order(), "--detach", cwd=git_repo)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith("ralph-tui: ")
    assert len(refused.stderr.splitlines()) == 1


def test_attach_to_a_detached_run_that_is_over_is_its_replay(windows: Windows, root: Path) -> None:
    let_go(root)
    assert run(*order(), "--detach", cwd=root).returncode == 0
    ended(root, "completed")
    screen = windows.open(root, "attach")
    screen.shows("has ended; showing its replay", "completed")
    leave(screen)  # what happened while you were away is shown first


def test_attach_sees_the_death_of_the_run(windows: Windows, root: Path) -> None:
    with start(*order(), cwd=root) as process:
        until(lambda: any(event["kind"] == "session_started" for event in journal(root)))
        screen = windows.attach(root)
        process.kill()
        screen.shows("died", "ralph-tui resume")
    screen.press("q")
    assert screen.exit_code() == 0
    until(lambda: not processes_of(journal(root)[0]["run_id"]))


def test_without_a_terminal_attach_prints_the_lines_until_the_end(git_repo: Path) -> None:
    refused = here("attach", cwd=git_repo)
    assert refused.returncode == 2
    assert "no run recorded in" in refused.stderr
    here(*order("true"), "--max-iterations", "1", "--headless", cwd=git_repo)
    shown = here("attach", cwd=git_repo)
    outcome = here("status", "--json", cwd=git_repo).stdout
    assert shown.returncode == {"completed": 0, "limit_reached": 3}[json.loads(outcome)["outcome"]]
    assert "ctrl+c leaves it running" not in shown.stderr, "it has ended"
    assert "iteration 1" in shown.stdout
    events = here("attach", "--json", cwd=git_repo).stdout.splitlines()
    assert json.loads(events[-1])["kind"] == "run_finished"
    # A run that died ends the lines, too, amid its last one.
    (journal,) = git_repo.rglob("events.jsonl")
    journal.write_text(journal.read_text()[:-9])
    (journal.parent / "status.json").unlink()
    shown = here("attach", cwd=git_repo)
    assert (shown.returncode, "task-001/001 died: its process is gone" in shown.stderr) == (1, True)
    # What somebody else has written into the record is no line of the run.
    forged = json.loads(events[-1]) | {"seq": 1, "reason": "so says the agent"}
    for bad in (json.dumps(forged), '{"fake'):
        content = journal.read_text()
        whole = content.rpartition("\n")[0]
        journal.write_text(f"{whole}\n{bad}\n")
        shown, output = here("attach", cwd=git_repo), here("report", cwd=git_repo).stdout
        journal.write_text(content)
        assert "its record ends abruptly here, without an outcome" in output
        assert "process is gone" not in output
        assert shown.returncode == 1
        assert "ralph-tui: the journal " in shown.stderr.splitlines()[-1]
        assert "so says the agent" not in shown.stdout


def test_of_an_empty_journal_no_command_is_named_that_refuses_it(git_repo: Path) -> None:
    here(*order("true"), "--max-iterations", "1", "--headless", cwd=git_repo)
    (journal,) = git_repo.rglob("events.jsonl")
    status = journal.parent / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"outcome": None}))
    journal.write_bytes(b"")
    attached, shown = here("attach", cwd=git_repo), here("status", cwd=git_repo)
    resumed = here("resume", "--headless", cwd=git_repo)
    assert (attached.returncode, "is empty" in attached.stderr) == (1, True)
    assert "its journal is empty; it cannot be resumed" in shown.stdout
    assert "ralph-tui resume" not in attached.stderr + shown.stdout
    assert (resumed.returncode, "is empty" in resumed.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "or describe the goal with --criterion"),
        (("--criterion", "It is done", "--until-promise"), "omit --until-promise or"),
        (("-c", "true", "--detach", "--json"), "cannot be combined with --headless or --json"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    git_repo: Path, words: tuple[str, ...], sentence: str
) -> None:
    refused = here(
        "run", "x", "--agent", "command", "--agent-command", "true", *words, cwd=git_repo
    )
    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert not (git_repo / ".aiwg").exists()
