"""A host's loops, with real runs of a scripted agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.fleet.host.worker_host import WorkerHost
from ralph_tui.ports.fleet import Adopt, Began, End, Stage, Stands
from tests.hosted import FLEET, Seen, committed, git, place_in
from tests.waiting import until


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def root(git_repo: Path) -> Path:
    return committed(git_repo)


@pytest.fixture
def host(tmp_path: Path, seen: Seen) -> Iterator[WorkerHost]:
    made = WorkerHost("here", 3, tmp_path / "fleets", seen)
    yield made
    made.close()
    assert not any(held.alive for held in made.holds())


def test_a_loop_runs_in_a_clone_and_is_told_without_a_gap(
    host: WorkerHost, seen: Seen, root: Path, tmp_path: Path
) -> None:
    before = git(root, "status", "--porcelain", "--branch")
    host.obey(place_in(root))
    over = seen.over()
    assert (over.outcome, over.never_began) == ("completed", False), over
    assert [stage.stage for stage in seen.of(Stage)] == ["fetching", "cloning", "starting"]
    (began,) = seen.of(Began)
    tree = tmp_path / "fleets" / FLEET / "1-1" / "tree"
    assert began.folder == str(tree)
    task, attempt = began.run.split("/")
    journal = tree / ".aiwg/ralph/tasks" / task / "attempts" / attempt / "events.jsonl"
    assert seen.lines() == journal.read_text().splitlines()
    assert over.seq == len(seen.lines())
    assert seen.of(Stands)[-1].status["outcome"] == "completed"
    assert git(tree, "branch", "--show-current") == "ralph/night/1"
    assert git(tree, "remote") == ""
    assert git(root, "status", "--porcelain", "--branch") == before
    assert not (root / "done-0.txt").exists()


def test_three_loops_at_once(host: WorkerHost, seen: Seen, root: Path) -> None:
    for loop in "123":
        host.obey(place_in(root, loop, ports=10))
    assert {seen.over(loop).outcome for loop in "123"} == {"completed"}
    blocks = [began.ports for began in seen.of(Began)]
    assert len(set(blocks)) == 3
    for loop in "123":
        seen.lines(loop)


def test_a_loop_is_ended_in_order(host: WorkerHost, seen: Seen, root: Path) -> None:
    host.obey(place_in(root, agent="cat >/dev/null; touch begun; sleep 100"))
    tree = Path(seen.wait(Began).folder)
    until(lambda: (tree / "begun").exists())
    host.obey(End(loop="1"))
    over = seen.over()
    assert (over.outcome, over.reason) == ("interrupted", "the fleet has ended it")
    assert '"kind":"run_finished"' in seen.lines()[-1]


def test_one_that_is_over_is_told_again_from_any_event(
    host: WorkerHost, seen: Seen, root: Path
) -> None:
    host.obey(place_in(root))
    first = seen.over()
    lines = seen.lines()
    seen.all.clear()
    host.obey(Adopt(loop="1", attempt=1, seen=5))
    assert seen.over() == first
    from ralph_tui.ports.fleet import Recorded

    again = seen.of(Recorded)
    assert again[0].seq == 6
    assert [line for recorded in again for line in recorded.lines] == lines[5:]
