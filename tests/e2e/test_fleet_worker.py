"""``fleet worker``: a host of a fleet as a process, with real runs of a scripted agent."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.sweep import RUN_MARK
from ralph_tui.fleet.dispatch import KEY_HOLDERS, Address
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher
from ralph_tui.fleet.dispatch.wire import make_files
from ralph_tui.fleet.ports import Adopt, Began, Collect, Disconnected, Joined, Recorded
from ralph_tui.ports.clones import Collected
from tests.fleet_programs import free_port, program
from tests.hosted import ALL_DONE, FLEET, Seen, committed, place_in
from tests.processes import storm
from tests.waiting import PATIENCE_S, until

WORKER = ["ralph_tui", "fleet", "worker"]
SLEEPS = "cat >/dev/null; touch begun; setsid sleep 300 & sleep 300"
"""An agent that does nothing, and leaves something behind."""


class Cluster:
    """A fleet in this process that can be taken away and come back, and a repository."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root
        self.port = free_port()
        self.seen = Seen()
        self.start()

    def start(self) -> None:
        address = Address.parse(f"tls://127.0.0.1:{self.port}")
        log, keys = self.folder / "log.txt", self.folder / "keys"
        self.dispatcher = DaskDispatcher(log, FLEET, "fleet-001 of repo", listen=address, keys=keys)
        self.dispatcher.start(self.seen)

    def worker(self, *more: str, base: str = "base", port: int = 0) -> list[str]:
        address = f"tls://127.0.0.1:{port or self.port}"
        where = ("--base", str(self.folder / base), "--tls", str(self.folder / "keys"))
        return [*WORKER, address, "--name", "far", "--agents", "3", *where, *more]

    def begin(self, agent: str) -> Path:
        """A loop whose agent has begun; its tree."""
        self.dispatcher.send("far", place_in(self.root, agent=agent))
        tree = Path(self.seen.wait(Began).folder)
        until(lambda: (tree / "begun").exists())
        return tree

    def joined(self, number: int) -> Joined:
        return until(lambda: self.seen.of(Joined)[number - 1 :])[0]

    def lines(self) -> dict[int, str]:
        """The loop's journal lines by number, including those sent without a request."""
        reported = self.seen.of(Recorded)
        return {at: line for each in reported for at, line in enumerate(each.lines, each.seq)}

    def close(self) -> None:
        self.dispatcher.stop()


@pytest.fixture
def cluster(tmp_path: Path, git_repo: Path) -> Iterator[Cluster]:
    with closing(Cluster(tmp_path, committed(git_repo))) as cluster:
        yield cluster


def test_without_a_fleet_it_says_so_once_and_still_ends_when_it_is_told_to(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    make_files(keys)
    where = ("--base", str(tmp_path / "base"), "--tls", str(keys))
    words = [*WORKER, f"tls://127.0.0.1:{free_port()}", *where]
    with program(*words, "--name", "far") as far:
        said = far.wait_for("cannot reach the fleet")
        assert said.endswith("trying again: Connection refused\n")
        far.send_signal(signal.SIGTERM)
        far.send_signal(signal.SIGTERM)
        assert far.wait(PATIENCE_S) == 0
    assert far.lines[1].endswith(f" {KEY_HOLDERS}\n")
    assert far.lines[2] == said
    assert far.lines[3].endswith(" stopping\n")
    assert len(far.lines) == 4
    assert not (tmp_path / "base" / "scratch").exists()


@pytest.mark.skipif(
    "RALPH_TEST_FAILURES" not in os.environ, reason="a fleet's storm is as strong: make failures"
)
def test_a_storm_of_signals_ends_it_and_leaves_nothing(cluster: Cluster) -> None:
    with program(*cluster.worker()) as far:
        cluster.joined(1)
        tree = cluster.begin(SLEEPS)
        with storm(far.pid, 1):
            far.wait(PATIENCE_S)
    until(lambda: not at_work(tree))
    assert "Traceback" not in "".join(far.lines)


def test_what_a_killed_host_ran_ends_and_goes_on_with_its_next_process(cluster: Cluster) -> None:
    """Which stops it in order at a signal."""
    with program(*cluster.worker()) as far:
        cluster.joined(1)
        tree = cluster.begin(SLEEPS)
        far.kill()
        cluster.seen.wait(Disconnected)
        until(lambda: not at_work(tree))
    with program(*cluster.worker()) as far:
        cluster.joined(2)
        cluster.seen.all.clear()
        again = place_in(cluster.root, agent=SLEEPS, resume=True)
        cluster.dispatcher.send("far", again)
        assert Path(cluster.seen.wait(Began).folder) == tree
        until(lambda: at_work(tree))
        far.send_signal(signal.SIGINT)
        assert far.wait(PATIENCE_S) == 0, far.lines
    assert at_work(tree) == []
    over = cluster.seen.over()
    assert (over.outcome, over.reason) == ("interrupted", "its host was stopped")
    (last,) = cluster.seen.of(Recorded)[-1].lines[-1:]
    assert '"kind":"run_finished"' in last


def test_a_loop_goes_on_without_the_fleet_and_its_work_comes_home_line_by_line(
    cluster: Cluster,
) -> None:
    agent = f"touch begun; until [ -e go ]; do sleep 0.1; done; {ALL_DONE}"
    with program(*cluster.worker()) as far:
        assert (cluster.joined(1).host, cluster.joined(1).slots) == ("far", 3)
        far.wait_for("connected to fleet-001 of repo")
        tree = cluster.begin(agent)
        until(lambda: cluster.seen.of(Recorded))
        cluster.dispatcher.stop()
        far.wait_for("the fleet has ended; waiting for the next at")
        cluster.start()
        held = cluster.joined(2).holds
        assert [(each.loop, each.alive) for each in held] == [("1", True)]
        (tree / "go").touch()
        seen = next(number for number in count(1) if number not in cluster.lines()) - 1
        cluster.dispatcher.send("far", Adopt(loop="1", attempt=1, seen=seen))
        assert cluster.seen.over().outcome == "completed"
        lines = cluster.lines()
        journal = next(tree.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")).read_text()
        assert [lines[number] for number in sorted(lines)] == journal.splitlines()
        assert journal.count('"run_started"') == 1
        cluster.dispatcher.send("far", Collect(loop="1", attempt=1))
        assert cluster.seen.wait(Collected).bundle
        far.send_signal(signal.SIGTERM)
        assert far.wait(PATIENCE_S) == 0, far.lines
    gone = until(lambda: [each for each in cluster.seen.of(Disconnected) if each.left])[0]
    assert gone.reason == "it was stopped by SIGTERM"
    output = [line.partition(" ")[2].rstrip() for line in far.lines]
    assert output[0].startswith("far runs up to 3 loops at once, in "), output
    assert "loop 1: preparing its working copy" in output
    assert any(line.startswith("loop 1 completed: ") for line in output), output
    assert "loop 1: its work was sent to the fleet" in output


def test_a_second_worker_in_the_same_folder_is_refused(cluster: Cluster) -> None:
    with program(*cluster.worker()) as far:
        cluster.joined(1)
        with program(*cluster.worker()) as second:
            second.wait_for(f"another worker (process {far.pid}) is using")
            assert second.wait(PATIENCE_S) == 2
        with program(*cluster.worker(base="other")) as third:
            third.wait_for("a host named far already exists; pass another --name")
            assert third.wait(PATIENCE_S) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tcp://10.0.0.1:1"], "use tls://10.0.0.1:1 and --tls FOLDER"),
        (["tls://far:1"], "needs --tls FOLDER"),
        (["tls://far:0", "--tls", "x"], "has no port"),
        (["tls://far:1", "--tls", "/nowhere"], "copy the folder"),
        (["tls://localhost:1", "--agents", "0"], "from 1 to 1000"),
        (["tls://localhost:1", "--lease", "soon"], "such as 90s, 30m or 8h"),
        (["tls://localhost:1", "--name", "../x"], "cannot be the name of a host"),
    ],
)
def test_what_cannot_be_gets_a_sentence(tmp_path: Path, words: list[str], sentence: str) -> None:
    base = [] if "0" in words[-1:] else ["--base", str(tmp_path)]
    with program(*WORKER, *words, *base) as worker:
        said = worker.wait_for(sentence)
        assert worker.wait(PATIENCE_S) == 2
    assert said.startswith("ralph-tui: ")
    assert len(worker.lines) == 1


def test_an_agent_cannot_start_a_host(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_MARK, "any")
    with program(*cluster.worker()) as worker:
        worker.wait_for("a process started by a run cannot join a fleet")
        assert worker.wait(PATIENCE_S) == 2


def at_work(tree: Path) -> list[int]:
    """Processes whose working folder is the tree, or within it."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(tree):
                found.append(int(entry.name))
    return [pid for pid in found if pid != os.getpid()]
