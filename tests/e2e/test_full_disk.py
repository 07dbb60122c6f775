"""Runs on a disk that fills up: they pause, report it, and finish once there is room.

The disk is a small one in its own user and mount namespace. A limit on file sizes is different:
waiting does not help there.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from tests.e2e.cli import CLI, Done, events_of, here, name_of, processes_of
from tests.forks import RALPH, Started
from tests.processes import Child
from tests.waiting import PATIENCE_S, until

ONE_THEN_TWO = "cat >/dev/null; if [ -e one.txt ]; then echo 2 >two.txt; else echo 1 >one.txt; fi"
"""An agent that needs two sessions."""

ON_A_SMALL_DISK = """\
mount -t tmpfs -o size=8m tmpfs "$DISK" && cp -a "$REPO" "$DISK/repo" && cd "$DISK/repo" || exit 99
"$@"
code=$?
cp -a "$DISK/repo" "$KEPT"
exit $code
"""


def order(agent: str, gate: str) -> list[str]:
    return [
        *("run", "x", "-c", gate, "--json", "--max-iterations", "3"),
        *("--agent", "command", "--agent-command", agent),
    ]


class Run:
    """A run under way, and the events it has printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.pid = process.pid
        self.lines: list[str] = []

    def until_it_waits(self) -> dict[str, Any]:
        """Read on to the next full disk."""
        for line in self.output:
            self.lines.append(line)
            event: dict[str, Any] = json.loads(line)
            if event["kind"] == "wait_started":
                assert event["cause"] == "disk_full"
                assert "safe" in event["reason"]
                assert "\n" not in event["reason"]
                return event
        raise AssertionError(f"it never waited: {self.lines}")

    def to_the_end(self) -> list[dict[str, Any]]:
        """Read on to a good end; all its events."""
        self.lines += list(self.output)
        errors = self.process.stderr.read() if self.process.stderr else ""
        assert (self.process.wait(PATIENCE_S), errors) == (0, ""), self.lines
        return events_of("".join(self.lines))

    @property
    def output(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[Run]:
    process = Child(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    with process:
        try:
            yield Run(process)
        finally:
            if process.poll() is None:  # its keepers end with it
                process.kill()


class Disk:
    """A disk of 8 MB with a copy of a repository."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder / "disk"
        self.kept = folder / "kept"
        self.folder.mkdir()
        self.once = folder / "once"
        self.environ = {"DISK": self.folder, "REPO": repository, "KEPT": self.kept}
        # Fills it to the last byte, the first time it is run.
        self.fill = f"dd if=/dev/zero of={self.folder}/filler bs=4k 2>/dev/null; touch {self.once}"

    def run(self, *command: str) -> list[str]:
        return ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *command]

    def options(self) -> dict[str, Any]:
        return {"env": {**os.environ, **{name: str(path) for name, path in self.environ.items()}}}

    def as_seen_by(self, pid: int) -> Path:
        """The disk from outside its namespace."""
        return Path(f"/proc/{pid}/root{self.folder}")

    def make_room(self, pid: int) -> None:
        (self.as_seen_by(pid) / "filler").unlink()


@pytest.fixture
def disk(git_repo: Path, tmp_path: Path) -> Disk:
    disk = Disk(git_repo, tmp_path)
    try:
        tried = subprocess.run(disk.run("true"), check=False, capture_output=True, **disk.options())
    except FileNotFoundError:
        pytest.skip("there is no unshare(1) to make a small disk with")
    if tried.returncode:
        pytest.skip(f"no small disk can be mounted here: {tried.stderr.decode().strip()}")
    subprocess.run(["rm", "-rf", disk.kept], check=True)
    return disk


def assert_nothing_is_lost(root: Path, events: list[dict[str, Any]]) -> None:
    """Completed in two iterations, the journal without gaps, `replay` and `status` agree."""
    finished = [event for event in events if event["kind"] == "iteration_finished"]
    assert [event["status"] for event in finished] == ["incomplete", "completed"]
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "completed")
    recorded = events_of(here("replay", "--json", cwd=root).stdout)
    assert [event["seq"] for event in recorded] == list(range(1, len(recorded) + 1))
    # What could not be recorded while the disk was full was shown all the same.
    shown_only = [event for event in events if event not in recorded]
    assert {event["kind"] for event in shown_only} <= {"wait_started"}
    assert [event for event in events if event in recorded] == recorded
    assert any(event["kind"] == "wait_ended" for event in recorded)
    status = json.loads(here("status", "--json", cwd=root).stdout)
    assert (status["outcome"], status["completion"]) == ("completed", 100.0)
    taken = [event["commit"] for event in recorded if event["kind"] == "snapshot_taken"]
    fsck = ["git", "fsck", "--strict", *taken]
    checked = subprocess.run(fsck, cwd=root, check=False, capture_output=True)
    assert checked.returncode == 0, checked.stderr


def leaves_little(disk: Disk) -> str:
    """An agent that creates a file too large for a snapshot."""
    return (
        f"[ -e {disk.once} ] || {{ head -c 2000000 /dev/urandom >new.bin; {disk.fill};"
        f" truncate -s -500000 {disk.folder}/filler; }}"
    )


def test_while_the_gate_runs_the_agent_works_and_a_snapshot_is_taken(
    disk: Disk, tmp_path: Path
) -> None:
    """The disk becomes full three times: each time the run waits, and does that work again."""
    gate, agent = tmp_path / "gate", tmp_path / "agent"
    fills_in_the_gate = f"[ -e {gate} ] || {{ {disk.fill}; touch {gate}; seq 20000; exit 1; }}"
    fills_in_the_agent = f"[ -e {agent} ] || {{ rm {disk.once}; touch {agent}; {filling(disk)}; }}"
    small = f"[ -e new.bin ] || rm -f {disk.once}"
    work = f"{fills_in_the_agent}; {small}; {leaves_little(disk)}; {ONE_THEN_TWO}"
    command = disk.run(*CLI, *order(work, f"{fills_in_the_gate}; test -e two.txt"))
    with started(command, **disk.options()) as working:
        # What the gate says on a full disk is no measurement: it runs again.
        assert working.until_it_waits()["iteration"] == 0
        disk.make_room(working.pid)
        # The journal cannot be written: the agent is stopped, and works again when there is room.
        assert "journal" in working.until_it_waits()["reason"]
        run_id = json.loads(working.lines[0])["run_id"]
        # The gits of snapshots stay open for the run.
        until(lambda: all(name_of(pid) in ("git", "") for pid in processes_of(run_id)))
        journal = next(disk.as_seen_by(working.pid).rglob("events.jsonl"))
        asked = here("status", str(journal), "--json", cwd=disk.folder)
        assert asked.returncode == 0, asked.stderr
        status = json.loads(asked.stdout)
        assert ("outcome" in status, status["alive"]) == (False, True)
        assert status["waiting"]["cause"] == "disk_full"
        assert "free some space" in status["verdict"]
        disk.make_room(working.pid)
        # There is room for the journal, and none for what the agent made.
        working.until_it_waits()
        disk.make_room(working.pid)
        events = working.to_the_end()
    assert_nothing_is_lost(disk.kept, events)
    gates = [event for event in events if event["kind"] == "gate_finished"]
    assert [event["exit_code"] for event in gates] == [1, 1, 0]
    assert [event["tail"] for event in gates] == ["", "", ""]
    sessions = [event for event in events if event["kind"] == "session_finished"]
    assert [(e["iteration"], e["outcome"]) for e in sessions] == [
        (1, "stopped"),
        (1, "success"),
        (2, "success"),
    ]
    taken = [event for event in events if event["kind"] == "snapshot_taken"]
    assert all(event["missing"] == [] for event in taken)
    names = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", taken[-2]["commit"]],
        cwd=disk.kept,
        capture_output=True,
        text=True,
        check=True,
    )
    assert names.stdout.split() == ["README.md", "new.bin", "one.txt"]


def test_from_the_start(disk: Disk) -> None:
    """A run that cannot be recorded does not begin; one sentence says why."""
    command = disk.run("sh", "-c", f'{disk.fill}; exec "$@"', "sh", *CLI, *order("true", "false"))
    done = subprocess.run(command, check=False, capture_output=True, text=True, **disk.options())
    assert done.returncode == 1, done.stdout + done.stderr
    assert "No space left on device" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


LIMITED = replace(RALPH, module="tests.limited")


def limited(size: int, *words: str, cwd: Path) -> Done:
    """Run ralph-tui where no file may become larger; it can raise this limit again."""
    # Its output goes through pipes: the limit would hold for files.
    with Started(LIMITED, [str(size), *words], cwd, dict(os.environ)) as process:
        out, err = process.communicate()
    return Done(words, process.wait(), out, err)


ORDER = order(ONE_THEN_TWO, "test -e two.txt")


def test_a_limit_on_file_sizes_at_the_first_snapshot(git_repo: Path) -> None:
    (git_repo / "large.bin").write_bytes(os.urandom(600_000))
    done = limited(300_000, *ORDER, cwd=git_repo)
    events = events_of(done.stdout)
    assert done.returncode == 1
    assert [event for event in events if event["kind"] == "wait_started"] == []
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "failed")
    assert "size limit of the shell" in events[-1]["reason"]
    assert "raise it with 'ulimit -f unlimited'" in events[-1]["reason"]
    assert here("resume", "--headless", cwd=git_repo).returncode == 0


def test_a_limit_on_file_sizes_that_not_even_the_first_event_fits_into(git_repo: Path) -> None:
    """A shorter event that would fit, such as that of the end, does not begin a journal."""
    for size in (300, 900):
        done = limited(size, *ORDER, cwd=git_repo)
        assert done.returncode == 1
        (said,) = done.stderr.splitlines()
        assert said.startswith("ralph-tui: cannot ")
        assert said.endswith("raise it with 'ulimit -f unlimited'")
        assert {path.read_text() for path in git_repo.rglob("events.jsonl")} <= {""}
    assert here(*ORDER, cwd=git_repo).returncode == 0


def test_a_limit_on_file_sizes_that_the_transcript_meets(git_repo: Path) -> None:
    """The run reports it and loses neither the session nor the record."""
    talk = f"[ -e two.txt ] || seq 1 8000; {ONE_THEN_TWO}"
    words = ("run", "x", "-c", "test -e two.txt", "--agent", "command", "--headless")
    done = limited(30_000, *words, "--agent-command", talk, cwd=git_repo)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "transcript is incomplete" in line]
    (said,) = {line.partition("agent ")[2].strip() for line in lines}
    assert said.startswith("The transcript is incomplete: ")
    assert said.endswith("raise it with 'ulimit -f unlimited'.")


def test_a_limit_on_file_sizes_that_the_journal_meets(git_repo: Path) -> None:
    talk = f"seq 1 3000; sleep 1; {ONE_THEN_TWO}"
    done = limited(9_000, *order(talk, "test -e two.txt"), cwd=git_repo)
    assert done.returncode == 1
    assert "wait_started" not in done.stdout
    (said,) = done.stderr.splitlines()
    assert "cannot append to the journal" in said
    assert "raise it with 'ulimit -f unlimited'" in said
    assert not processes_of(json.loads(done.stdout.splitlines()[0])["run_id"])
    assert here("resume", "--headless", cwd=git_repo).returncode == 0


FILLS = "[ -e {once} ] || {{ {fill}; while :; do echo {words}; sleep 0.05; done; }}; true"


def filling(disk: Disk) -> str:
    """An agent that fills the disk and writes enough output for the journal to need more."""
    return FILLS.format(once=disk.once, fill=disk.fill, words="x" * 500)


def owner_of(disk: Disk, working: Run) -> int:
    """The process of ralph-tui itself."""
    lock = disk.as_seen_by(working.pid) / "repo" / ".aiwg" / "ralph" / "lock"
    return int(json.loads(lock.read_text())["pid"])


def test_its_owner_need_not_wait_for_room(disk: Disk) -> None:
    """There is room for the journal, and none for what the agent made."""
    command = disk.run(*CLI, *order(leaves_little(disk), "false"))
    with started(command, **disk.options()) as held:
        held.until_it_waits()
        os.kill(owner_of(disk, held), signal.SIGINT)
        held.lines += list(held.output)
        assert held.process.wait(PATIENCE_S) == 130
    last = json.loads(held.lines[-1])
    assert (last["kind"], last["outcome"]) == ("run_finished", "interrupted")
    assert not any('"reflection_written"' in line for line in held.lines), "the end needs the room"


def test_killed_while_the_disk_was_full(disk: Disk) -> None:
    agent = f"{filling(disk)}; {ONE_THEN_TWO}"
    command = disk.run(*CLI, *order(agent, "test -e two.txt"))
    with started(command, **disk.options()) as held:
        held.until_it_waits()
        os.kill(owner_of(disk, held), signal.SIGKILL)
        assert held.process.wait(PATIENCE_S) == 137
    assert here("resume", "--headless", cwd=disk.kept).returncode == 0
