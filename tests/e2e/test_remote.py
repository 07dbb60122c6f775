"""A live run watched and commanded from other terminals, each a process of its own."""

import json
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import (
    CLI,
    GATE,
    Command,
    events_of,
    here,
    processes_of,
    project,
    run,
    start,
)  # fmt: skip
from tests.e2e.tmux import Terminal
from tests.forks import Started
from tests.waiting import until

WAITING_AGENT = ("--agent", "command", "--agent-command", "cat >/dev/null; exec sleep 500")
UNATTENDED = (
    *("--agent", "command", "--agent-command", "cat >/dev/null"),
    *("--max-iterations", "4", "--detached"),
)
"""Achieves nothing and asks after iteration 3, near its last; the default answer applies."""


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of our own, with a path as short as sockets need it."""
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@dataclass
class Elsewhere:
    """A run in another process."""

    root: Path
    process: Started

    @property
    def journal(self) -> Path:
        return next(self.root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl"))

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        whole = self.journal.read_text().rpartition("\n")[0]
        return [event for event in events_of(whole) if event["kind"] in kinds]

    def reaches(self, kind: str, number: int = 1) -> dict[str, Any]:
        """Wait until so many such events are recorded; the last of them."""
        until(lambda: [*self.root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")])
        until(lambda: len(self.events(kind)) >= number)
        return self.events(kind)[number - 1]

    def status(self) -> dict[str, Any]:
        status = json.loads(here("status", "--json", cwd=self.root).stdout)
        assert isinstance(status, dict)
        return status

    def asks_at_a_pause(self) -> dict[str, Any]:
        """Wait for the overseer's pause; its question, as the journal has it."""
        self.reaches("question_asked")
        found = until(lambda: [e for e in self.events("question_asked") if e["topic"] == "pause"])
        # The status, from which other terminals know of it, is written a moment later.
        asked = found[-1]["question_id"]
        until(lambda: (self.status().get("question") or {}).get("question_id") == asked)
        return found[-1]

    @property
    def owner(self) -> dict[str, Any]:
        owner = json.loads((self.root / ".aiwg/ralph/lock").read_text())
        assert isinstance(owner, dict)
        return owner

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        return self.process.wait()


@contextmanager
def running(root: Path, *arguments: str, command: str = "false") -> Iterator[Elsewhere]:
    """A run, ended behind the test if it still lives."""
    with start("run", "Make it work", "-c", command, *arguments, cwd=root) as process:
        try:
            yield Elsewhere(root, process)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


def is_found_out(by: str) -> bool:
    """True if it names what the run can find out about the sender."""
    return by.startswith(("a script (process ", "the terminal "))


def said(*arguments: str, cwd: Path, by: Command = here) -> str:
    """The output of a command that succeeds."""
    done = by(*arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments: str, cwd: Path, code: int = 1, by: Command = here) -> str:
    """The one-sentence error of a command that fails."""
    done = by(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_a_run_is_commanded_from_elsewhere(git_repo: Path, runtime: Path) -> None:
    with running(git_repo, *WAITING_AGENT) as there:
        there.reaches("session_started")
        address = Path(there.owner["socket"])
        assert address.parent == runtime / "ralph-tui"
        assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(address.stat().st_mode) == 0o600

        assert "pauses before iteration 2" in said("pause", cwd=git_repo, by=run)
        # A script that wants a pause has one.
        assert "a pause is already requested; continue the run with ralph-tui unpause" in said(
            "pause", cwd=git_repo
        )
        assert "task-001/001 continues" in said("unpause", cwd=git_repo)
        assert "the run is not paused; pause it with" in said("unpause", cwd=git_repo)

        subfolder = git_repo / "deep"
        subfolder.mkdir()
        words = ("guide", "try\x1b[2J again", "--run", "task-001")
        assert "queued" in said(*words, cwd=subfolder, by=run)
        (guidance,) = there.events("guidance_queued")
        assert guidance["text"] == "try again"
        assert is_found_out(guidance["by"])

        assert "iteration 1" in said("checkpoint", "--note", "before lunch", cwd=git_repo)
        until(lambda: [e for e in there.events("checkpoint_captured") if e["trigger"] == "key"])
        assert "has no open question" in refused("decide", cwd=git_repo)
        assert "has no open question" in refused("decide", "approve", cwd=git_repo)

        assert "--yes" in refused("abort", cwd=git_repo, code=2)
        assert there.process.poll() is None
        folder = str(there.journal.parent)
        assert "is kept" in said("abort", "--yes", "--run", folder, cwd=Path("/"))
        there.process.communicate()
        assert there.events("run_finished")[0]["outcome"] == "aborted"
        assert not address.exists()
    over = refused("pause", cwd=git_repo, code=2)
    assert "ralph-tui run" in over
    assert "ralph-tui resume" in over
    assert "has ended" in refused("pause", "--run", "task-001", cwd=git_repo, code=2)


def test_a_pause_is_decided_elsewhere_and_the_first_answer_counts(git_repo: Path) -> None:
    with running(git_repo, *UNATTENDED) as there:
        asked = there.asks_at_a_pause()
        shown = said("status", cwd=git_repo)
        assert "needs you" in shown
        assert asked["text"][:60] in shown
        assert "answers     continue, " in shown
        assert "decide      ralph-tui decide\n" in shown
        line = said("status", "--line", cwd=git_repo)
        assert line.startswith("! ")
        assert "needs you" in line
        assert len(line) <= 61

        output = said("decide", cwd=git_repo)
        assert asked["text"] in output
        assert all(reason in output for reason in asked["evidence"])
        assert all(option["verb"].split(None, 1)[-1] in output for option in asked["options"])
        # A question waits without a limit only if a user is present.
        assert asked["default"] == "abort"
        assert "if you do not answer: aborts in " in output

        assert "'zork' is not a valid answer" in refused("decide", "zork", cwd=git_repo, code=2)
        assert "needs text" in refused("decide", "guide", cwd=git_repo, code=2)
        assert "needs --iterations" in refused("decide", "extend", cwd=git_repo, code=2)
        assert "use ralph-tui decide extend" in refused(
            "decide", "--iterations", "3", cwd=git_repo, code=2
        )
        assert "takes no text" in refused("decide", "continue", "x", cwd=git_repo, code=2)
        assert "neither" in refused("decide", "continue", "--budget", "1", cwd=git_repo, code=2)
        assert "1000" in refused("decide", "extend", "--iterations", "-1", cwd=git_repo, code=2)
        assert "million" in refused("decide", "extend", "--budget", "nan", cwd=git_repo, code=2)
        before = len(there.events("question_answered"))

        with ThreadPoolExecutor() as terminals:
            answers = [
                ("decide", "guide", "do it differently"),
                ("decide", "extend", "--iterations", "2"),
            ]
            done = list(terminals.map(lambda answer: run(*answer, cwd=git_repo), answers))
        assert sorted(each.returncode for each in done) == [0, 1]
        (late,) = [each for each in done if each.returncode]
        # The run reports it; or, a moment later, its journal does.
        assert "already" in late.stderr or "no open question" in late.stderr
        assert len(there.events("question_answered")) == before + 1


def test_a_roll_back_restores_the_best_files(git_repo: Path, tmp_path: Path) -> None:
    project(git_repo)
    works = (
        f"cat >/dev/null; echo >>{tmp_path}/n; case $(wc -l <{tmp_path}/n) in "
        "1) touch done-0.txt done-1.txt done-2.txt;; 2) rm done-2.txt;; 3) rm done-1.txt;; "
        "*) exec sleep 500;; esac"
    )
    agent = ("--agent", "command", "--agent-command", works)
    with running(git_repo, *agent, "--detached", command=GATE) as there:
        asked = there.reaches("question_asked")
        assert asked["topic"] == "redirect"
        offer = asked["rollback"]
        assert offer["paths"] == ["done-1.txt", "done-2.txt"]
        assert not (git_repo / "done-1.txt").exists()
        until(lambda: (there.status().get("question") or {}).get("topic") == "redirect")
        index = (git_repo / ".git" / "index").read_bytes()
        said("decide", "roll_back", cwd=git_repo)
        begun = there.reaches("session_started", asked["iteration"] + 1)
        name = f"results/iter-{begun['iteration']:03}/prompt.md"
        assert "The files were restored to" in (there.journal.parent / name).read_text()
        (restored,) = there.events("worktree_restored")
        trees = {event["number"]: event["tree"] for event in there.events("snapshot_taken")}
        assert restored["tree"] == trees[offer["snapshot"]] == trees[restored["present"] + 1]
        # The previous files are saved, so the restore can be undone.
        assert trees[restored["present"]] != restored["tree"]
        assert (git_repo / "done-1.txt").exists()
        assert (git_repo / ".git" / "index").read_bytes() == index


def test_a_socket_that_was_taken_away_is_waited_for(git_repo: Path, runtime: Path) -> None:
    """As a cleaner of old files or the end of another login would do."""
    with running(git_repo, *WAITING_AGENT) as there:
        there.reaches("session_started")
        shutil.rmtree(runtime / "ralph-tui")
        assert "pauses before iteration 2" in said("pause", cwd=git_repo)


def test_an_abort_asks_on_a_terminal_and_rolls_back(git_repo: Path) -> None:
    work = "cat >/dev/null; echo changed > README.md; exec sleep 500"
    agent = ("--agent", "command", "--agent-command", work)
    with running(git_repo, *agent) as there:
        there.reaches("session_started")
        until(lambda: (git_repo / "README.md").read_text() == "changed\n")
        until(lambda: there.status().get("best_snapshot"))
        terminal = Terminal(["abort", "--roll-back"], git_repo, width=120, height=10)
        try:
            terminal.shows("Abort task-001/001", "files are restored to the start", "[y/N]")
            terminal.type("y")
            terminal.press("Enter")
            assert terminal.exit_code() == 0
        finally:
            terminal.close()
        there.process.communicate()
        assert there.events("abort_requested")[0]["by"].startswith("the terminal pts/")
        assert there.events("run_finished")[0]["outcome"] == "aborted"
    assert (git_repo / "README.md").read_text() == "# sample\n"


def test_whatever_is_said_into_socket_or_standard_input_the_run_goes_on(git_repo: Path) -> None:
    with running(git_repo, *WAITING_AGENT) as there:
        there.reaches("session_started")
        address = there.owner["socket"]
        for said_there in (
            b"x" * (10 << 20),
            b"GET / HTTP/1.1\r\n\r\n",
            b"\x00\xff\n",
            b'{"version":7}\n',
        ):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(address)
                try:
                    client.sendall(said_there)
                except OSError:
                    assert len(said_there) > 1 << 20
                with client.makefile("rb") as stream:
                    assert "refused" in json.loads(stream.readline())
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(address)
            assert "pauses" in said("pause", cwd=git_repo, by=run)
        assert len(there.events("pause_requested")) == 1
        words = [*CLI, "guide", "-"]
        subprocess.run(words, cwd=git_repo, input="語".encode() * 100_000, check=True)
        (guidance,) = there.events("guidance_queued")
        assert guidance["text"] == "語" * 100_000


def test_a_killed_run_leaves_a_whole_journal_and_nothing_alive_or_blocked(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", "setsid sleep 500 & sleep 500")
    with running(git_repo, *agent) as there:
        there.reaches("session_started")
        run_id = there.events("run_started")[0]["run_id"]
        until(lambda: len(processes_of(run_id)) >= 2)
        leftover = Path(there.owner["socket"])
        there.process.kill()
        there.process.communicate()
        assert leftover.exists()
        until(lambda: not processes_of(run_id))
        until(lambda: "no active run" in here("pause", cwd=git_repo).stderr)
        status = there.status()
        assert (status["phase"], status["alive"]) == ("died", False)
    with running(git_repo, *WAITING_AGENT) as there:
        until(lambda: there.owner["run"] == "task-001/002")
        until(lambda: here("pause", cwd=git_repo).returncode == 0)


def test_without_a_place_for_a_socket_the_run_goes_on(
    git_repo: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = runtime / ("d" * 120)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setenv("TMPDIR", str(deep))
    with running(git_repo, *WAITING_AGENT) as there:
        there.reaches("session_started")
        notices = [event["text"] for event in there.events("noticed")]
        assert [text for text in notices if "no other terminal can command" in text]
        assert there.owner["socket"] == ""
        assert "no command socket" in refused("pause", cwd=git_repo)
        assert there.end() == 130


def test_quick_commands_load_nothing_heavy(git_repo: Path) -> None:
    with running(git_repo, *WAITING_AGENT) as there:
        there.reaches("session_started")
        until(lambda: (there.journal.parent / "status.json").exists())
        look = (
            "import sys; from ralph_tui.cli import main\n"
            "for words in (['pause'], ['status', '--line'], ['decide']): main(words)\n"
            "print({'pydantic', 'textual', 'rich', 'git', 'asyncio', 'httpx'} & set(sys.modules))"
        )
        command = [sys.executable, "-c", look]
        done = subprocess.run(command, cwd=git_repo, capture_output=True, text=True, check=True)
        assert "pauses before" in done.stdout
        assert done.stdout.splitlines()[-1] == "set()"
