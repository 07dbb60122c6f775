"""A host's loops, with real runs of a scripted agent."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.clones.places import TreeFolder
from ralph_tui.adapters.clones.receiving import receive
from ralph_tui.adapters.clones.sources import base_bundle
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.fleet.host.worker_host import WorkerHost
from ralph_tui.fleet.ports import (
    Adopt,
    Began,
    Collect,
    CommandAnswered,
    End,
    Ended,
    HostNoticed,
    NeedsBase,
    NotCollected,
    Observation,
    Order,
    Recorded,
    Remove,
    SendCommand,
    Stage,
    StatusChanged,
)
from ralph_tui.ports.clones import Base, Collected, Place
from tests.doubles.launch import STUB, environment
from tests.e2e.cli import GATE
from tests.fleet_programs import program
from tests.hosted import ALL_DONE, FLEET, Seen, committed, git, place_in
from tests.processes import state_of
from tests.small_disk import run_on_small_disk
from tests.waiting import until

WAITS = "sleep 100"
UNTIL_GO = "while [ ! -e go ]; do sleep 0.02; done"
ENDS = "exit 3"
"""A set-up command that ends its loop, for tests of worktrees that need no run."""


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def root(git_repo: Path) -> Path:
    return committed(git_repo)


@pytest.fixture
def host(tmp_path: Path, seen: Seen) -> Iterator[WorkerHost]:
    made = WorkerHost("here", 3, tmp_path / "fleets", seen)
    made.on_fleet_found(FLEET)
    yield made
    made.close()
    assert not made.alive


@dataclass
class Done:
    """A host whose loop has ended."""

    host: WorkerHost
    root: Path
    tree: Path
    place: Place
    observed: Seen
    """Earlier observations."""
    seen: Seen
    """Current observations."""

    def next_over(self, order: Order) -> Ended:
        """The next reported end after an order."""
        self.seen.all.clear()
        self.host.obey(order)
        return self.seen.over()


SAY = 'echo "$RALPH_FLEET $RALPH_FLEET_LOOP $RALPH_FLEET_SLOT $PORT_BASE $PORT_COUNT" > '
LOOK = "for f in /proc/self/fd/*; do readlink $f; done | grep -c socket: > "


@pytest.fixture(scope="module")
def done(first_repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    folder = tmp_path_factory.mktemp("done")
    root = committed(Path(shutil.copytree(first_repo, folder / "repo")))
    place = place_in(
        root,
        setup=f"{SAY} of-setup",
        agent=f"{SAY} of-agent; {LOOK} agent-sockets; {ALL_DONE}",
        command=f"{LOOK} gate-sockets; {GATE}",
        ports=7,
        budget_usd=2.5,
    )
    seen, reported = Seen(), Seen()
    with closing(WorkerHost("here", 3, folder / "fleets", seen)) as host:
        host.on_fleet_found(FLEET)
        host.obey(place)
        host.obey(Collect(loop="1", attempt=1))
        seen.over()
        reported.all += seen.all
        yield Done(host, root, folder / "fleets" / FLEET / "1-1" / "tree", place, reported, seen)


def test_a_loop_runs_in_a_clone_and_is_told_without_a_gap(done: Done) -> None:
    reported, root, tree = done.observed, done.root, done.tree
    over = reported.over()
    assert (over.outcome, over.never_began) == ("completed", False), over
    stages = [stage.stage for stage in reported.of(Stage)]
    assert stages == ["fetching", "cloning", "setup", "starting"]
    (began,) = reported.of(Began)
    assert began.folder == str(tree)
    task, attempt = began.run.split("/")
    journal = tree / ".aiwg/ralph/tasks" / task / "attempts" / attempt / "events.jsonl"
    assert reported.lines() == journal.read_text().splitlines()
    assert json.loads(reported.lines()[0])["budget_usd"] == 2.5
    assert over.seq == len(reported.lines())
    assert reported.of(StatusChanged)[-1].status["outcome"] == "completed"
    assert git(tree, "branch", "--show-current") == "ralph/night/1"
    assert git(tree, "remote") == ""
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "branch", "--show-current") == "main"


def test_one_that_is_over_is_told_again_from_any_event(done: Done) -> None:
    assert done.next_over(Adopt(loop="1", attempt=1, seen=5)) == done.observed.over()
    again = done.seen.of(Recorded)
    assert again[0].seq == 6
    assert [line for recorded in again for line in recorded.lines] == done.observed.lines()[5:]


def test_a_run_that_cannot_go_on_keeps_what_it_had(done: Done) -> None:
    lines = done.observed.lines()
    over = done.next_over(done.place.model_copy(update={"resume": True, "seen": len(lines)}))
    assert "is already completed; start another one with 'ralph-tui run'" in over.reason
    assert (over.never_began, over.seq) == (False, len(lines))
    over = done.next_over(done.place)
    assert "resume or collect it" in over.reason
    assert not over.never_began
    assert not done.seen.of(Recorded)


def test_neither_agent_nor_completion_command_inherits_the_hosts_socket(done: Done) -> None:
    """They have only the three streams and what they opened themselves."""
    assert (done.tree / "agent-sockets").read_text().strip() == "0"
    assert (done.tree / "gate-sockets").read_text().strip() == "0"


def test_the_set_up_command_and_the_run_know_where_they_are(done: Done) -> None:
    (began,) = done.observed.of(Began)
    assert began.ports is not None
    words = (done.tree / "of-setup").read_text().split()
    assert words == ["night", "1", "0", str(began.ports[0]), "7"]
    assert (done.tree / "of-agent").read_text().split() == words


def collected_from(host: WorkerHost, seen: Seen, root: Path, lines: list[str]) -> set[str]:
    """The files of a loop's collected work, with its snapshots."""
    host.obey(Collect(loop="1", attempt=1))
    collected = seen.wait(Collected)
    base = git(root, "rev-parse", "HEAD")
    run_id = json.loads(lines[0])["run_id"]
    received = receive(open_repository(root), collected, base, run_id)
    assert git(root, "rev-parse", received.branch) == collected.commit
    taken = [json.loads(line)["ref"] for line in lines if '"snapshot_taken"' in line]
    there = git(root, "for-each-ref", "--format=%(refname)", "refs/ralph/").split()
    assert taken
    assert sorted(taken) == sorted(there)
    return set(git(root, "ls-tree", "--name-only", received.branch).split())


def test_its_work_is_collected_with_its_snapshots_when_it_is_over(done: Done) -> None:
    assert "its run continues" in done.observed.of(NotCollected)[0].reason
    names = collected_from(done.host, done.seen, done.root, done.observed.lines())
    assert names >= {"of-agent", *(f"done-{number}.txt" for number in range(4))}
    assert "of-setup" not in names, "it is no work of the loop"


def test_a_worktree_is_made_and_removed(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    host.obey(place_in(root, isolation="worktree", setup=ENDS))
    assert seen.over().never_began
    assert len(git(root, "worktree", "list").splitlines()) == 2
    host.obey(Remove(loop="1", attempt=1))
    until(lambda: not host.holds())
    assert not (tmp_path / "fleets" / FLEET / "1-1").exists()
    assert len(git(root, "worktree", "list").splitlines()) == 1


CANNOT_BEGIN: dict[str, tuple[dict[str, Any], str]] = {
    "1": ({"setup": "echo all is well; echo no network here >&2; exit 3"}, "no network here"),
    "2": ({"copied": {"../x": ""}}, "cannot be copied into a clone"),
    "../up": ({}, "is not a valid fleet or loop name"),
    "3": ({"resume": True}, "no longer on this host"),
}


def test_a_loop_that_cannot_begin_says_why(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    for loop, (changes, _) in CANNOT_BEGIN.items():
        host.obey(place_in(root, loop, **changes))
    for loop, (_, reason) in CANNOT_BEGIN.items():
        over = seen.over(loop)
        assert (over.never_began, over.outcome) == (True, "failed"), over
        assert reason in over.reason
        assert "\n" not in over.reason
        assert not seen.of(Began, loop=loop)
    host.obey(Remove(loop="1", attempt=1))
    until(lambda: not (tmp_path / "fleets" / FLEET / "1-1").exists())


@pytest.mark.parametrize("resume", [True, False])
def test_a_damaged_record_of_a_tree_is_said_and_its_tree_stays(
    host: WorkerHost,
    seen: Seen,
    root: Path,
    tmp_path: Path,
    resume: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path / "fleets" / FLEET / "1-1"
    (folder / "tree").mkdir(parents=True)
    (folder / "tree" / "work").touch()
    (folder / "place.json").write_text('{"place": ')
    host.obey(place_in(root, "1", resume=resume))
    over = seen.over("1")
    assert (over.never_began, over.outcome) == (True, "failed"), over
    assert f"{folder / 'place.json'} is damaged; save what you need" in over.reason
    assert (folder / "tree" / "work").exists()


def test_orders_and_commands_for_a_loop_that_runs(host: WorkerHost, seen: Seen, root: Path) -> None:
    place = place_in(root, agent="cat >/dev/null; echo x >> sessions; sleep 100")
    host.obey(place)
    tree = Path(seen.wait(Began).folder)
    until(lambda: (tree / "sessions").exists())
    # The same order again starts no second run.
    host.obey(place)
    host.obey(place)
    until(lambda: len(seen.of(Began)) == 3)
    assert (tree / "sessions").read_text() == "x\n"
    seen.wait(Recorded)
    seen.all.clear()
    host.obey(Adopt(loop="1", attempt=1, seen=0))
    again = seen.wait(Recorded, seq=1)
    del seen.all[: seen.all.index(again)]  # lines that were on their way before
    commands: dict[str, dict[str, object]] = {
        "p": {"name": "pause", "by": "the terminal pts/7"},
        "g": {"name": "guide", "text": "Look at it again", "by": "the terminal pts/7"},
        "s": {"name": "permissions", "mode": "skip", "by": "the terminal pts/7"},
        "x": {"name": "sing"},
    }
    for request, command in commands.items():
        host.obey(SendCommand(id=request, loop="1", command=command))
    fields = {request: seen.wait(CommandAnswered, id=request) for request in commands}
    assert fields["x"].refused == "unknown command"
    assert fields["p"].accepted
    assert fields["g"].accepted
    # A privileged command reaches the run, which answers it.
    assert "terminal" not in fields["s"].refused
    until(lambda: any('"pause_requested"' in line for line in seen.lines()))
    asked = next(line for line in seen.lines() if '"pause_requested"' in line)
    assert json.loads(asked)["by"] == "the terminal pts/7"
    # Its lines are reported again from any event, and no later line is missing or doubled.
    seen.all.clear()
    host.obey(Adopt(loop="1", attempt=1, seen=3))
    until(lambda: seen.of(Recorded))
    # A later attempt begins when the previous one has ended.
    host.obey(place_in(root, setup=WAITS, attempt=2))
    assert "later attempt" in seen.over().reason
    lines = seen.of(Recorded, attempt=1)
    assert '"kind":"run_finished"' in lines[-1].lines[-1]
    assert [each.seq for each in lines] == [
        4 + sum(len(before.lines) for before in lines[:number]) for number in range(len(lines))
    ]
    seen.wait(Stage, attempt=2, stage="setup")
    alive = [each for each in host.holds() if each.alive]
    assert [(each.loop, each.attempt) for each in alive] == [("1", 2)]
    host.obey(End(loop="1"))
    over = seen.wait(Ended, attempt=2)
    assert (over.outcome, over.never_began) == ("interrupted", True)
    assert over.reason == "the fleet has ended it"
    host.obey(SendCommand(id="late", loop="1", command={"name": "pause"}))
    assert seen.wait(CommandAnswered, id="late").refused == "the loop is not running"
    host.obey(SendCommand(id="who", loop="7", command={"name": "pause"}))
    assert "does not have" in seen.wait(CommandAnswered, id="who").refused


def test_what_its_agent_asks_is_allowed_by_who_is_with_the_fleet(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run trusts its host's word that a person at a terminal decided; see `starter`."""
    use = {"name": "Bash", "input": {"command": "git tag allowed", "description": "for you"}}
    scenario = tmp_path / "scenario.json"
    answers = [{"tools": [use]}, {"text": "done"}]
    scenario.write_text(json.dumps({"about": "it asks", "answers": answers}))
    base = {"RALPH_TUI_AGENT__BINARY": str(STUB)}
    for name, value in environment(scenario, state=tmp_path / "state", base=base).items():
        monkeypatch.setenv(name, value)
    settings = {"agent.name": "claude", "permissions.mode": "ask", "limits.max_iterations": "1"}
    loop = {"settings": settings, "command": "git rev-parse -q --verify allowed"}
    place = place_in(root)
    changed = place.loop.model_copy(update=loop)
    host.obey(place.model_copy(update={"loop": changed, "unattended": False}))
    tree = Path(seen.wait(Began).folder)

    def asked() -> list[dict[str, Any]]:
        events = [json.loads(line) for line in seen.lines()]
        return [event for event in events if event["kind"] == "question_asked"]

    question = until(asked)[0]
    assert git(tree, "tag") == ""
    until(lambda: any(each.status.get("question") for each in seen.of(StatusChanged)))
    answer = {"name": "answer", "question_id": question["question_id"], "answer": "once"}
    host.obey(SendCommand(id="y", loop="1", command={**answer, "by": "the terminal pts/3"}))
    assert seen.wait(CommandAnswered, id="y").accepted, seen.of(CommandAnswered)
    assert seen.over().outcome == "completed"
    assert git(tree, "tag") == "allowed"
    answered = next(json.loads(line) for line in seen.lines() if '"question_answered"' in line)
    assert (answered["answer"], answered["by"]) == ("once", "the terminal pts/3")


def test_two_loops_at_once_when_their_fleet_is_lost_and_another_one_comes(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    host.obey(place_in(root, "1", f"cat >/dev/null; {WAITS}", lease_s=1.0, ports=10))
    host.obey(place_in(root, "2", f"{UNTIL_GO}; {ALL_DONE}", lease_s=300.0, ports=10))
    began = [seen.wait(Began, loop=loop) for loop in "12"]
    assert None not in (ports := [each.ports for each in began])
    assert ports[0] != ports[1]
    # The loop whose lease ended is stopped, the other one continues.
    host.on_fleet_lost()
    host.on_fleet_found(FLEET)
    host.on_fleet_lost()
    over = seen.over("1")
    assert over.outcome == "interrupted"
    assert over.reason == "its host has had no contact with the fleet for 1s"
    assert '"kind":"run_finished"' in seen.lines("1")[-1]
    assert not seen.of(Ended, loop="2")
    host.on_fleet_found(FLEET)
    held = {each.loop: (each.alive, each.seq) for each in host.holds()}
    assert held["1"] == (False, over.seq)
    assert held["2"][0]
    host.on_fleet_lost()
    host.on_fleet_found("another")
    assert host.holds() == ()
    seen.all.clear()
    # Its loop has the same name, but is a different one.
    host.obey(place_in(root, "2", setup=ENDS, fleet_id="another"))
    assert seen.over("2").never_began
    tree = tmp_path / "fleets" / "another" / "2-1" / "tree"
    assert tree.exists()
    assert [(each.loop, each.alive) for each in host.holds()] == [("2", False)]
    host.obey(End(loop="2"))
    host.obey(Remove(loop="2", attempt=1))
    until(lambda: not tree.exists())
    assert host.alive == 1
    seen.all.clear()
    (Path(began[1].folder) / "go").touch()
    until(lambda: host.alive == 0)
    assert seen.all == []
    host.on_fleet_lost()
    host.on_fleet_found(FLEET)
    assert {(each.loop, each.alive) for each in host.holds()} == {("1", False), ("2", False)}
    host.obey(Adopt(loop="2", attempt=1, seen=0))
    assert seen.over("2").outcome == "completed"


def test_a_place_is_waited_for_while_loops_of_the_fleet_before_have_all(
    seen: Seen, root: Path, tmp_path: Path
) -> None:
    reported: list[tuple[str, type[Observation]]] = []
    with closing(
        WorkerHost(
            "here", 1, tmp_path / "fleets", seen, lambda what, of: reported.append((of, type(what)))
        )
    ) as host:
        host.on_fleet_found(FLEET)
        host.obey(place_in(root, setup=f"{UNTIL_GO}; {ENDS}", lease_s=300.0))
        seen.wait(Stage, stage="setup")
        host.on_fleet_lost()
        host.on_fleet_found("another")
        seen.all.clear()
        host.obey(place_in(root, "1", setup=ENDS, fleet_id="another"))
        host.obey(place_in(root, "2", setup=ENDS, fleet_id="another"))
        assert "loops of the previous fleet use" in seen.wait(HostNoticed, loop="1").text
        host.obey(End(loop="2"))
        assert seen.over("2").never_began
        assert not seen.of(Stage)
        (tmp_path / "fleets" / FLEET / "1-1" / "tree" / "go").touch()
        seen.over("1")
    assert {(FLEET, Ended), ("another", Stage)} <= {*reported}


def test_work_that_a_fleet_has_asked_for_is_not_sent_to_the_next(
    host: WorkerHost, seen: Seen, root: Path
) -> None:
    host.obey(place_in(root, setup=ENDS))
    seen.over()
    (held,) = host._loops.values()
    with held.busy:  # git takes its time
        host.obey(Collect(loop="1", attempt=1))
        host.on_fleet_lost()
        host.on_fleet_found("another")
        seen.all.clear()
    (work,) = host._working
    work.join()
    assert seen.all == []


def test_what_a_fleet_sends_is_asked_for_again_when_it_is_found_again(
    host: WorkerHost, seen: Seen, root: Path
) -> None:
    """Its bundle may have been lost with the connection; other loops do not wait behind it."""

    def away(fleet_id: str) -> Place:
        place = place_in(root, setup=ENDS, lease_s=300.0, fleet_id=fleet_id)
        source = place.source.model_copy(update={"machine": "elsewhere"})
        return place.model_copy(update={"source": source})

    host.obey(away(FLEET))
    commit = seen.wait(NeedsBase).commit
    host.on_fleet_lost()
    host.on_fleet_found("another")
    seen.all.clear()
    host.obey(away("another"))
    seen.wait(NeedsBase)
    host.obey(Base(commit=commit, bundle=base_bundle(open_repository(root), commit)))
    seen.wait(Stage, stage="setup")
    seen.over()
    host.on_fleet_lost()
    host.on_fleet_found(FLEET)
    seen.all.clear()
    seen.wait(NeedsBase)
    host.obey(Base(commit=commit, bundle=base_bundle(open_repository(root), commit)))
    seen.wait(Stage, stage="setup")
    seen.over()


def test_a_host_without_loops_watches_no_lease(host: WorkerHost) -> None:
    for number in range(5):
        host.on_fleet_lost()
        host.on_fleet_found(f"fleet-{number}")
    until(lambda: not any(thread.name == "leases" for thread in threading.enumerate()))


def test_the_lease_of_a_fleet_ends_also_while_another_one_is_heard(
    host: WorkerHost, seen: Seen, root: Path
) -> None:
    host.obey(place_in(root, setup=WAITS, lease_s=0.1))
    seen.wait(Stage, stage="setup")
    host.on_fleet_lost()
    host.on_fleet_found("another")
    until(lambda: host.alive == 0)
    host.on_fleet_found(FLEET)
    host.obey(Adopt(loop="1", attempt=1, seen=0))
    assert seen.over("1").outcome == "interrupted"


def test_a_host_that_is_closed_has_told_the_end_of_its_loops(
    seen: Seen, root: Path, tmp_path: Path
) -> None:
    closed = threading.Event()

    def observe(what: Observation) -> None:
        if isinstance(what, Ended):
            closed.wait(0.5)  # long enough for a caller that does not wait
        seen(what)

    host = WorkerHost("here", 1, tmp_path / "fleets", observe)
    host.on_fleet_found(FLEET)
    host.obey(place_in(root, setup=WAITS))
    seen.wait(Stage, stage="setup")
    host.close()
    closed.set()
    assert [over.reason for over in seen.of(Ended)] == ["its host was stopped"]


STUBBORN = """\
cat >/dev/null
if [ -e stubborn ]; then touch done-0.txt done-1.txt done-2.txt done-3.txt; exit; fi
setsid sh -c 'trap "" INT TERM HUP; touch stubborn; while :; do sleep 0.1; done' &
wait
"""


def test_nothing_outlives_a_host_that_is_killed_and_its_loop_goes_on(
    seen: Seen, root: Path, tmp_path: Path
) -> None:
    place = place_in(root, agent=STUBBORN)
    words = (str(tmp_path / "fleets"), place.model_dump_json())
    with program("tests.doubles.fleet_loops", *words) as killed:
        tree = Path(killed.wait_for("/").strip())
        until(lambda: (tree / "stubborn").exists())
        assert below(tree)
        killed.kill()
        killed.wait()
    until(lambda: not below(tree))
    # Its host returns: the loop was interrupted, and continues in the same worktree.
    with closing(WorkerHost("killed", 1, tmp_path / "fleets", seen)) as host:
        host.on_fleet_found(FLEET)
        assert [(held.loop, held.alive) for held in host.holds()] == [("1", False)]
        host.obey(Adopt(loop="1", attempt=1, seen=0))
        assert seen.over().outcome == "interrupted"
        lines = seen.lines()
        assert '"kind":"run_finished"' in lines[-1]
        host.obey(place.model_copy(update={"resume": True, "seen": len(lines)}))
        until(lambda: len(seen.of(Ended)) == 2)
    assert seen.of(Ended)[-1].outcome == "completed"
    (run,) = {began.run for began in seen.of(Began)}
    assert [json.loads(line)["kind"] for line in seen.lines()].count("run_resumed") == 1
    # As if the host was killed before it saw the run begin: the run is found in its worktree.
    folder = TreeFolder.of(tmp_path / "fleets", FLEET, "1", 1)
    record = folder.read()
    assert record is not None
    folder.write(record.model_copy(update={"run": "", "run_id": ""}))
    seen.all.clear()
    with closing(WorkerHost("killed", 1, tmp_path / "fleets", seen)) as third:
        third.on_fleet_found(FLEET)
        third.obey(Adopt(loop="1", attempt=1, seen=0))
        over = seen.over()
    assert (over.outcome, over.never_began) == ("completed", False)
    assert {began.run for began in seen.of(Began)} == {run}


def below(folder: Path) -> list[int]:
    """Live processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                here = (entry / "cwd").readlink()
                if here.is_relative_to(folder) and state_of(int(entry.name)) != "Z":
                    found.append(int(entry.name))
    return found


def test_a_host_elsewhere_gets_the_commit_from_the_fleet(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    place = place_in(root)
    away = place.source.model_copy(update={"machine": "another", "path": "/nowhere"})
    host.obey(place.model_copy(update={"source": away, "isolation": "worktree"}))
    needs = seen.wait(NeedsBase)
    host.obey(Base(commit=needs.commit, bundle=base_bundle(open_repository(root), needs.commit)))
    assert seen.over().outcome == "completed"
    host.obey(Collect(loop="1", attempt=1))
    collected = seen.wait(Collected)
    assert receive(open_repository(root), collected, needs.commit, "").files == 4
    # The next one finds it here.
    host.obey(place_in(root, "2", setup=ENDS).model_copy(update={"source": away}))
    seen.wait(Stage, loop="2", stage="setup")
    assert len(seen.of(NeedsBase)) == 1


def test_a_host_elsewhere_gets_the_commit_from_the_remote(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(root), "remote.git")
    remote = {"machine": "another", "path": "/nowhere", "remote": str(tmp_path / "remote.git")}
    place = place_in(root, setup=ENDS)
    host.obey(place.model_copy(update={"source": place.source.model_copy(update=remote)}))
    seen.wait(Stage, stage="setup")
    assert not seen.of(NeedsBase)
    tree = tmp_path / "fleets" / FLEET / "1-1" / "tree"
    assert git(tree, "remote", "get-url", "origin") == remote["remote"]


def test_a_completion_command_that_measures_another_tree_is_told_of_once(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    """The fleet's user has an editable install: the tests import the user's code."""
    (root / "src").mkdir()
    (root / "src" / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "sums")
    command = f"PYTHONPATH={root}/src {sys.executable} -S -c 'import sums'"
    for loop in "12":
        host.obey(place_in(root, loop, command=command, settings={"limits.max_iterations": "no"}))
    for loop in "12":
        assert seen.over(loop).never_began
        assert "max-iterations" in seen.over(loop).reason
        tree = tmp_path / "fleets" / FLEET / f"{loop}-1" / "tree"
        assert (tree / "src" / "sums.py").read_text().startswith("def add")
    (noted,) = seen.of(HostNoticed)
    assert "it tests other files" in noted.text
    assert len(seen.of(Stage, stage="checking")) == 1


SMALL = """\
import sys
from pathlib import Path
from ralph_tui.fleet.host.worker_host import WorkerHost

from tests.hosted import FLEET, Seen, committed, place_in
root = Path({root!r})
seen = Seen()
full = WorkerHost("small", 1, Path.cwd(), seen)
roomy = WorkerHost("roomy", 1, Path({roomy!r}), seen)
full.on_fleet_found(FLEET)
roomy.on_fleet_found(FLEET)
fill()
full.obey(place_in(root, "1"))
roomy.obey(place_in(root, "2", setup="echo has room >&2; exit 3"))
print(seen.over("1").model_dump_json())
print(seen.over("2").model_dump_json())
full.close()
roomy.close()
"""


def test_a_full_disk_of_one_host_costs_its_loop_alone(root: Path, tmp_path: Path) -> None:
    script = SMALL.format(root=str(root), roomy=str(tmp_path / "roomy"))
    first, second = run_on_small_disk(script, tmp_path).splitlines()
    full, roomy = (Ended.model_validate_json(each) for each in (first, second))
    assert full.never_began
    assert "No space left on device" in full.reason
    assert "\n" not in full.reason
    assert "has room" in roomy.reason


def test_a_host_that_is_stopped_just_as_work_begins_is_closed(
    host: WorkerHost, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = threading.Thread.start

    def closed_before(thread: threading.Thread) -> None:
        if thread.name.startswith("collect-"):
            host.close()
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", closed_before)
    host.obey(Collect(loop="1", attempt=1))
    assert seen.wait(NotCollected).loop == "1"
