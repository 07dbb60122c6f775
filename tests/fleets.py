"""A whole fleet as users run it (its process, hosts and loops), and its invariants.

The invariants are checked on the records: the fleet's journal, its mirrors, and the loops' own
journals. Each agent of `agent_script` keeps a hard link to its journal, because a worktree is
removed once its work is collected.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.e2e.cli import run
from tests.fleet_programs import free_port
from tests.forks import FLEET, Forked, Program
from tests.hosted import git
from tests.processes import Child
from tests.small_disk import mounted
from tests.waiting import until

Event = dict[str, Any]

IMPATIENT = replace(FLEET, module="tests.doubles.impatient_fleet")
"""A fleet program that drops a host after a second of silence."""
OLDER = replace(FLEET, module="tests.doubles.older_version")
HOSTS = ("one", "two", "three")
ENDS_S = 40.0
"""In which every process ends that was asked to."""
SLOW_S = 60.0
"""Timeout for a step that takes a second on an idle machine."""


@dataclass
class WholeFleet:
    """A fleet of the repository `root`; all else lies below `folder`."""

    folder: Path
    root: Path
    port: int = field(default_factory=free_port)
    processes: dict[str, Forked | Child[str]] = field(default_factory=dict)
    """Host processes by host name; the fleet's own is ``fleet``."""

    def __post_init__(self) -> None:
        for path in (self.kept, self.permits):
            path.mkdir()

    # -- what its parts are called ---------------------------------------------------------------

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def kept(self) -> Path:
        """Second names of loops' journals."""
        return self.folder / "kept"

    @property
    def permits(self) -> Path:
        """Files that let agents continue, by loop."""
        return self.folder / "going"

    @property
    def address(self) -> str:
        return f"tls://127.0.0.1:{self.port}"

    @property
    def records(self) -> Path:
        return self.root / ".aiwg" / "ralph" / "fleets" / "fleet-001"

    # -- its processes ---------------------------------------------------------------------------

    def plan(self, *objectives: str, **fleet: object) -> Path:
        """A file of objectives, each an agent's script; `fleet`: keys of its table."""
        settings = {"name": "night", "start_every": "0s", "ports": 0, "lease": "60s", **fleet}
        table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        text = f"[fleet]\n{table}"
        for script in objectives:
            command = json.dumps(script)
            text += f'[[objective]]\ntext = "Do it"\nagent_command = {command}\n'
            text += 'command = "test -e done"\nmax_iterations = 4\n'
        path = self.folder / "night.toml"
        path.write_text(text)
        return path

    def start(self, plan: Path, *words: str, program: Program = FLEET) -> None:
        """Run the fleet; on this machine alone unless hosts are given."""
        self._begin("fleet", program, "run", str(plan), *self._front_options, *words)

    def resume(self, *words: str) -> None:
        """Resume the fleet in another process."""
        self._begin("fleet", FLEET, "resume", *self._front_options, *words)

    @property
    def listening(self) -> tuple[str, ...]:
        """Arguments that leave the loops to other processes."""
        return ("--agents", "0", "--listen", self.address, "--tls", str(self.keys))

    @property
    def _front_options(self) -> tuple[str, ...]:
        return ("--headless", "--json", "--trees", str(self.folder / "here"))

    def join(self, *names: str, port: int = 0) -> None:
        """Let hosts join, with a slot each; when they have."""
        before = {name: self.count("host_joined", host=name) for name in names}
        for name in names:
            self.begin_host(name, port=port)
        for name in names:
            until(lambda n=name: self.count("host_joined", host=n) > before[n], SLOW_S)  # type: ignore[misc]

    def begin_host(self, name: str, *, port: int = 0, program: Program = FLEET) -> None:
        """One with a slot, and a folder of its own."""
        self._begin(name, program, *self._host_words(name, self.folder / name, port))

    def join_on_full_disk(self, name: str) -> None:
        """A host without room for a tree, when it has joined; skips where that cannot be made."""
        words, environ = mounted(self.folder, "64k")
        full = [*words, sys.executable, "-P", "-m", "ralph_tui", "fleet"]
        host = self._host_words(name, Path(environ["DISK"]), 0)
        child = Child([*full, *host], env=environ, stdout=subprocess.DEVNULL)
        self.processes[name] = child
        until(lambda: self.count("host_joined", host=name), SLOW_S)

    def start_second(self) -> subprocess.CompletedProcess[str]:
        """Try to begin another fleet in the same repository."""
        words = ("fleet", "run", "Again", "-c", "false", "--agent-command", "true", "--headless")
        return run(*words, cwd=self.root)

    def _host_words(self, name: str, base: Path, port: int) -> tuple[str, ...]:
        until(lambda: (self.keys / "fleet-cert.pem").exists(), SLOW_S)
        address = f"tls://127.0.0.1:{port or self.port}"
        where = ("--base", str(base), "--tls", str(self.keys))
        return ("worker", address, "--name", name, "--agents", "1", *where)

    def output_of(self, name: str) -> str:
        """The output of a process."""
        return (self.folder / f"{name}.out").read_text()

    def _begin(self, name: str, program: Program, *words: str) -> None:
        with Path(os.devnull).open() as nobody, (self.folder / f"{name}.out").open("a") as out:
            streams = (nobody.fileno(), out.fileno(), out.fileno())
            words = ("fleet", *words)
            begun = Forked(program, words, self.root, dict(os.environ), streams)
        self.processes[name] = begun

    def send(self, name: str, number: int) -> None:
        """To one of its processes."""
        self.processes[name].send_signal(number)

    def kill(self, name: str) -> None:
        """And forget it."""
        killed = self.processes.pop(name)
        killed.kill()
        killed.wait()

    def end(self, name: str, number: int = signal.SIGTERM) -> int:
        """Ask a process to end; its exit code."""
        self.send(name, number)
        return self.ended(name)

    def ended(self, name: str = "fleet") -> int:
        """The exit code of a process that ends."""
        try:
            code = self.processes[name].wait(ENDS_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name} does not end: {self.output_of(name)[-4000:]}") from None
        del self.processes[name]
        return code

    def close(self) -> None:
        """End all processes, whatever the test's result."""
        for name in list(self.processes):
            self.send(name, signal.SIGCONT)
            self.kill(name)
        until(lambda: not self.alive())

    # -- what is recorded ------------------------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        """The fleet's journal."""
        return complete_lines(self.records / "events.jsonl")

    def events_of(self, kind: str, **fields: object) -> list[Event]:
        """Events of this kind, with these fields."""
        found = [event for event in self.events if event["kind"] == kind]
        return [each for each in found if all(each.get(n) == v for n, v in fields.items())]

    def count(self, kind: str, **fields: object) -> int:
        return len(self.events_of(kind, **fields))

    def wait(self, kind: str, number: int = 1, **fields: object) -> Event:
        """The event of this number among them, when it is there."""
        return until(lambda: self.events_of(kind, **fields)[number - 1 :], SLOW_S)[0]

    def host_of(self, loop: str) -> str:
        """The host of a loop's latest placement."""
        return str(self.events_of("loop_placed", loop=loop)[-1]["host"])

    def tree_of(self, loop: str) -> Path:
        return Path(until(lambda: self.events_of("loop_began", loop=loop), SLOW_S)[-1]["folder"])

    def wait_for_sessions(self, *loops: str, number: int = 1) -> None:
        """Wait until each of these loops has begun this many sessions."""
        for loop in loops:
            until(lambda n=loop: len(self.sessions_begun(n)) >= number, SLOW_S)  # type: ignore[misc]

    def sessions_begun(self, loop: str) -> list[str]:
        with suppress(FileNotFoundError):
            return (self.kept / f"{loop}.begun").read_text().splitlines()
        return []

    def let_work(self, *loops: str) -> None:
        """Let the agents of these loops do their work."""
        for loop in loops:
            (self.permits / loop).touch()

    # -- what is alive ---------------------------------------------------------------------------

    def alive(self, *, below: Path | None = None) -> list[int]:
        """Processes that work below the folder, or bear the mark of this fleet."""
        ids = {event["fleet_id"] for event in self.events_of("fleet_started")}
        marks = {f"RALPH_FLEET_ID={one}".encode() for one in ids}
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if not entry.name.isdigit() or int(entry.name) == os.getpid():
                    continue
                inside = (entry / "cwd").readlink().is_relative_to(below or self.folder)
                marked = below is None and marks & {*(entry / "environ").read_bytes().split(b"\0")}
                if inside or marked:
                    found.append(int(entry.name))
        return found

    # -- what must hold --------------------------------------------------------------------------

    def check(self, *collected: str) -> None:
        """Check the invariants of a finished fleet; the work of these loops must be collected."""
        numbers = [event["seq"] for event in self.events]
        assert numbers == list(range(1, len(numbers) + 1))
        assert not (self.kept / "twice").exists(), (self.kept / "twice").read_text()
        attempts = {event["loop"]: event["attempt"] for event in self.events_of("loop_placed")}
        sessions: dict[str, list[tuple[str, str]]] = {}
        for mirror in sorted(self.records.glob("loops/*/attempts/*/events.jsonl")):
            loop, attempt = mirror.parts[-4], mirror.parts[-2]
            lines = complete_lines(mirror)
            assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1)), mirror
            own = self.kept / f"{loop}-{int(attempt)}.jsonl"
            if own.exists():
                assert own.read_text().startswith(mirror.read_text()), mirror
            if loop in collected and int(attempt) == attempts[loop]:
                assert mirror.read_text() == own.read_text(), mirror
            sessions.setdefault(loop, []).extend(sessions_in(lines))
        for loop, spans in sessions.items():
            for (_, end), (begin, _) in pairwise(sorted(spans)):
                assert end <= begin, f"two sessions of loop {loop} at once"
        branches = {event["loop"]: event for event in self.events_of("result_collected")}
        for loop in collected:
            branch = branches[loop]["branch"]
            assert git(self.root, "rev-parse", branch) == branches[loop]["commit"]
            assert "done" in git(self.root, "ls-tree", "--name-only", branch).split()
        until(lambda: not self.alive())


def complete_lines(journal: Path) -> list[Event]:
    """Complete lines of a journal; none if it does not exist."""
    if not journal.exists():
        return []
    whole = journal.read_text().rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def sessions_in(lines: list[Event]) -> Iterator[tuple[str, str]]:
    """Beginning and end of each session; one that was killed ends with the last line behind it."""
    begun, last = "", ""
    for line in lines:
        if line["kind"] in ("session_started", "run_resumed") and begun:
            yield begun, last
            begun = ""
        if line["kind"] == "session_started":
            begun = line["at"]
        elif line["kind"] == "session_finished" and begun:
            yield begun, line["at"]
            begun = ""
        last = line["at"]
    if begun:
        yield begun, last


def agent_script(whole: WholeFleet, then: str = "", *, waits: bool = True) -> str:
    """An agent that begins, leaves a process behind, waits for permission to continue, and ends.

    It reports a second session of its loop: everything it starts holds a lock.
    """
    kept, permits = whole.kept, whole.permits
    wait = f'until [ -e "{permits}/$RALPH_FLEET_LOOP" ]; do sleep 0.1; done; ' if waits else ""
    return (
        "cat >/dev/null; "
        f'exec 9>>"{kept}/$RALPH_FLEET_LOOP.lock"; '
        f'flock -n 9 || echo "$RALPH_FLEET_LOOP" >>"{kept}/twice"; '
        "ln -f .aiwg/ralph/tasks/*/attempts/*/events.jsonl "
        f'"{kept}/$RALPH_FLEET_LOOP-$RALPH_FLEET_ATTEMPT.jsonl"; '
        f'echo "$PWD" >>"{kept}/$RALPH_FLEET_LOOP.begun"; setsid sleep 300 & '
        f"{wait}{then}touch done"
    )
