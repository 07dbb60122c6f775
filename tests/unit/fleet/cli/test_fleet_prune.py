"""Pruning describes what past fleets left, and leaves live work alone."""

import os
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from ralph_tui.adapters.clones.making import Origin, make_clone
from ralph_tui.adapters.clones.places import (
    HOME_FILE,
    WORKER_LOCK,
    PlaceRecord,
    TreeFolder,
    home_of,
)
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.records.lock import acquire
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.base.file_lock import locked
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.cli.pruning import REMOVED
from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.events import LoopRequeued
from ralph_tui.fleet.records import create_fleet, find_fleet, read_fleet, take_lock
from ralph_tui.fleet.runtime.preflight import check_home, check_trees, resume_notices
from tests.e2e.cli import here
from tests.fleet_events import a_loop, a_plan, started
from tests.hosted import FLEET, committed, git, place_in
from tests.world import FakeClock


@pytest.fixture
def root(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return committed(git_repo)


@pytest.fixture
def base(root: Path, tmp_path: Path) -> Path:
    """The base folder of a worker's worktrees."""
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / WORKER_LOCK).touch()
    return folder


def a_tree(root: Path, base: Path, loop: str, run: str = "task-001/001") -> TreeFolder:
    """A loop's worktree, with or without a run."""
    place = place_in(root, loop)
    folder = TreeFolder.of(base, FLEET, loop, 1)
    folder.create()
    make_clone(folder.tree, Origin(root, users=True), place.source, place.branch)
    folder.write(PlaceRecord(place=place, ready=True, run=run, run_id=run and "r"))
    return folder


def a_fleet(root: Path, *events: ev.FleetEvent) -> None:
    """The repository's ended fleet of five attempts."""
    tries = [a_loop(f"1{one}", tries_at="1") for one in "abcde"]
    there = ev.Reach(trees=str(root.parent / "base"))
    start = started(a_plan(*tries)).model_copy(
        update={"fleet_id": FLEET, "root": str(root), "reach": there}
    )
    journal = Journal(create_fleet(root).journal, FakeClock())
    over = ev.FleetFinished(outcome="completed")
    for event in (start, *events, over):
        journal.append(event)
    journal.close()


def ended(loop: str, **more: Any) -> list[ev.FleetEvent]:
    return [
        ev.LoopPlaced(loop=loop, attempt=1, host="here", branch=f"ralph/fleet-001/{loop}"),
        ev.LoopEnded.model_validate({"loop": loop, "outcome": "completed", **more}),
    ]


def test_what_goes_is_said_truly(root: Path, base: Path) -> None:
    commit = git(root, "rev-parse", "HEAD")
    a_fleet(
        root,
        *ended("1a"),
        *ended("1b", outcome="failed", never_began=True),
        *ended("1c", outcome="interrupted"),
        *ended("1d"),
        ev.ResultCollected(loop="1d", branch="ralph/fleet-001/1d", commit=commit),
        *ended("1e", outcome="interrupted", never_began=True),
    )
    for loop in ("1a", "1c", "1d"):
        a_tree(root, base, loop)
    for loop in ("1b", "1e"):
        a_tree(root, base, loop, run="")
    asked = here("fleet", "prune", cwd=root)  # its journal records their location
    lines = dict(line.split(":", 1) for line in asked.stdout.splitlines())
    only = "its work was not collected and exists nowhere else"
    assert lines["fleet-001 loop 1a"].endswith(f"; stays: {only}; --resumable removes it too")
    for loop in ("1b", "1e"):
        assert lines[f"fleet-001 loop {loop}"].endswith("; no work was started in it")
    assert lines["fleet-001 loop 1c"].endswith(
        "; stays: 'ralph-tui fleet resume' continues in it; --resumable removes it too"
    )
    assert lines["fleet-001 loop 1d"].endswith("/1d-1")
    assert "use --yes to confirm" in asked.stderr
    done = here("fleet", "prune", "--yes", cwd=root)
    assert "removed 3 trees" in done.stdout
    assert "could not be collected" not in here("fleet", "status", cwd=root).stdout
    done = here("fleet", "prune", "--yes", "--resumable", cwd=root)
    assert "removed 2 trees" in done.stdout
    assert not (base / FLEET).exists(), "nothing is left of a fleet without trees"


def begun(loop: str) -> ev.FleetEvent:
    return ev.LoopBegan(loop=loop, run_id="r", run="task-001/001", folder="/t")


def test_work_that_went_with_its_tree_is_promised_to_nobody(root: Path, base: Path) -> None:
    failed = [ev.CollectionFailed(loop=f"1{one}", reason="its git is gone") for one in "ab"]
    a_fleet(
        root,
        *(event for one in "ab" for event in (*ended(f"1{one}"), begun(f"1{one}"))),
        *(ev.LoopEnded(loop=f"1{one}", outcome="completed") for one in "ab"),
        *failed,
    )
    a_tree(root, base, "1a")
    again = "'ralph-tui fleet resume' tries to collect it again"
    assert again in here("fleet", "status", cwd=root).stdout
    journal = find_fleet(root).journal
    with journal.open("ab") as file:
        file.write(b'{"kind": "torn')  # by a crash
    lock = take_lock(root, "f2", "now")
    try:
        lock.rename("fleet-002")
        beside = here("fleet", "prune", "--yes", "--resumable", cwd=root)
    finally:
        lock.release()
    kept = "stays: prune can record the loss of its work only when fleet-002 has ended"
    assert kept in beside.stdout

    pruned = here("fleet", "prune", "--yes", "--resumable", cwd=root)

    assert "removed 1 tree " in pruned.stdout, pruned.stderr
    status = here("fleet", "status", cwd=root).stdout
    assert f"its work could not be collected: {REMOVED}" in status
    assert "its work could not be collected: its git is gone" in status
    assert again in status, "that of the other one may be there"
    states = read_fleet(journal).state().loops
    assert [states[one].work_gone for one in ("1a", "1b")] == [True, False]
    a_tree(root, base, "1b")
    assert here("fleet", "prune", "--yes", "--resumable", cwd=root).returncode == 0
    assert again not in here("fleet", "status", cwd=root).stdout


def test_a_loop_that_resume_continues_is_kept_unless_named(root: Path, base: Path) -> None:
    """Its work is already a branch; pruned anyway, it starts over, with a warning."""
    commit = git(root, "rev-parse", "HEAD")
    a_fleet(
        root,
        *ended("1a", outcome="interrupted"),
        begun("1a"),
        ev.LoopEnded(loop="1a", outcome="interrupted"),
        ev.ResultCollected(loop="1a", branch="ralph/fleet-001/1a", commit=commit),
    )
    tree = a_tree(root, base, "1a")
    assert "nothing to prune" in here("fleet", "prune", "--yes", cwd=root).stdout
    assert tree.tree.exists()
    assert "starts it over" not in here("fleet", "status", cwd=root).stdout

    done = here("fleet", "prune", "--yes", "--resumable", cwd=root)

    assert "removed 1 tree " in done.stdout, done.stderr
    status = " ".join(here("fleet", "status", cwd=root).stdout.split())
    assert "its clone was pruned: 'ralph-tui fleet resume' starts it over" in status
    state = read_fleet(find_fleet(root).journal).state()
    notice = next(iter(resume_notices(state)))
    assert isinstance(notice, ev.FleetNoticed)
    assert "loop 1a starts over: its clone was removed by" in notice.text
    state.apply(ev.FleetResumed(by="you", seq=state.seq + 1))
    requeued = [one for one in decide(state, state.at) if isinstance(one, LoopRequeued)]
    assert [(one.loop, one.resume) for one in requeued] == [("1a", False)]


def test_of_a_fleet_that_was_given_up_nothing_is_said_to_go_on(root: Path, base: Path) -> None:
    a_fleet(root, *ended("1a", outcome="interrupted"), ev.StopAsked(by="you", abort=True))
    a_tree(root, base, "1a")
    asked = here("fleet", "prune", cwd=root)
    assert "; stays: its work was not collected and exists nowhere else; " in asked.stdout


def test_a_worker_and_a_run_are_left_alone(root: Path, base: Path) -> None:
    folder, other = a_tree(root, base, "1a"), a_tree(root, base, "1b")
    words = ("fleet", "prune", "--trees", str(base), "--yes")
    with locked(base / WORKER_LOCK):
        refused = here(*words, cwd=root)
    assert (refused.returncode, "a worker (process " in refused.stderr) == (2, True)
    lock = acquire(folder.tree / ".aiwg" / "ralph" / "lock", "task-001/001", "r", "now")
    try:
        done = here(*words, cwd=root)
    finally:
        lock.release()
    assert "stays: a run works in it (process " in done.stdout
    assert "removed 1 tree " in done.stdout
    assert folder.tree.exists()
    assert not other.folder.exists()


def test_a_workers_machine_needs_no_repository(root: Path, base: Path, tmp_path: Path) -> None:
    """For a fleet on another machine, the message says that collection is unknown here."""
    tree = a_tree(root, base, "1a")
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    asked = here("fleet", "prune", "--trees", str(base), cwd=nowhere)
    assert "night loop 1a" in asked.stdout
    assert "work that was not collected is lost with it" in asked.stdout
    assert here("fleet", "prune", "--trees", str(base), "--yes", cwd=nowhere).returncode == 0
    assert not tree.folder.exists()
    assert here("fleet", "prune", cwd=nowhere).returncode != 0, "without a folder it needs one"


def test_branches_that_stay_are_named_with_the_reason(root: Path) -> None:
    commit = git(root, "rev-parse", "HEAD")
    branches = [f"ralph/fleet-001/1{one}" for one in "abcde"]
    collected = [
        ev.ResultCollected(loop=name.rpartition("/")[2], branch=name, commit=commit)
        for name in branches
    ]
    won = ev.WinnerChosen(tries_at="1", loop="1a", reason="it completed first")
    a_fleet(root, *(event for one in "abcde" for event in ended(f"1{one}")), *collected, won)
    for name in branches:
        git(root, "branch", name)
    git(root, "checkout", "-q", branches[1])
    git(root, "checkout", "-q", branches[2])
    git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    git(root, "checkout", "-q", branches[1])
    git(root, "worktree", "add", "-q", "../beside", branches[4])
    done = here("fleet", "prune", "--branches", "--yes", cwd=root)
    for number, place in ((1, root), (4, root.parent / "beside")):
        stays = f"of an attempt that was not chosen; stays: it is checked out in {place}"
        assert f"{branches[number]}, {stays}" in done.stdout
    stays = "of an attempt that was not chosen; stays: it has commits that were not collected"
    assert f"{branches[2]}, {stays}" in done.stdout
    assert "removed 1 branch" in done.stdout
    left = git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/ralph")
    assert left.split() == [*branches[:3], branches[4]]


def test_a_copy_of_the_repository_leaves_the_fleet_of_the_first_alone(
    root: Path, base: Path, tmp_path: Path
) -> None:
    stopped = ev.LoopEnded(loop="1a", outcome="interrupted")
    a_fleet(root, *ended("1a", outcome="interrupted"), begun("1a"), stopped)
    tree = a_tree(root, base, "1a")
    other = tmp_path / "copy"
    copytree(root, other, symlinks=True)

    pruned = here("fleet", "prune", "--yes", "--resumable", cwd=other)
    resumed = here("fleet", "resume", "--headless", cwd=other)

    copied = f"this record of fleet-001 is a copy: the fleet was started in {root};"
    assert pruned.stdout.startswith(f"{copied} prune it there\nnothing to prune")
    assert tree.tree.exists()
    assert (resumed.returncode, resumed.stdout) == (2, "")
    assert f"{copied} resume it there" in resumed.stderr


def test_a_fleet_whose_journal_breaks_off_keeps_all_of_it(root: Path, base: Path) -> None:
    a_fleet(root, *ended("1a", outcome="interrupted"))
    tree = a_tree(root, base, "1a")
    journal = find_fleet(root).journal
    *before, last = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(before) + '{"fake\n' + last)
    content = journal.read_text()

    resumed = here("fleet", "resume", "--headless", cwd=root)
    pruned = here("fleet", "prune", "--yes", "--resumable", cwd=root)

    broken = (
        f"the fleet's journal breaks off: .aiwg/ralph/fleets/fleet-001/events.jsonl:"
        f"{len(before) + 1} cannot be read; remove that line if ralph-tui did not write it"
    )
    assert f"stays: {broken}\n" in pruned.stdout
    assert tree.tree.exists()
    assert resumed.returncode == 2
    assert f"fleet-001 cannot continue: {broken}, and resume again" in resumed.stderr
    assert journal.read_text() == content


def damaged(place: Path) -> None:
    place.write_text('{"place": ')


def of_another_loop(place: Path) -> None:
    place.write_text(place.read_text().replace('"id": "1a"', '"id": "1b"'))


def a_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def in_a_locked_folder(place: Path) -> None:
    place.parent.chmod(0)


@pytest.mark.parametrize("damage", [damaged, of_another_loop, a_folder, in_a_locked_folder])
@pytest.mark.parametrize("known", [True, False])
def test_a_tree_stays_of_which_nobody_can_read_what_it_is(
    root: Path,
    base: Path,
    damage: Callable[[Path], None],
    known: bool,  # noqa: FBT001
) -> None:
    if damage is in_a_locked_folder and os.geteuid() == 0:
        pytest.skip("nothing is locked for the superuser")
    if known:
        a_fleet(root, *ended("1a"))
    tree = a_tree(root, base, "1a")
    other = a_tree(root, base, "1b")
    damage(tree.folder / "place.json")
    done = here("fleet", "prune", "--trees", str(base), "--yes", "--resumable", cwd=root)
    tree.folder.chmod(0o700)
    (said,) = [line for line in done.stdout.splitlines() if "loop 1a" in line]
    assert f"; stays: {tree.folder / 'place.json'} " in said
    assert (tree.tree.exists(), other.tree.exists()) == (True, False)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is locked for the superuser")
def test_what_cannot_be_listed_is_not_taken_for_empty(root: Path, base: Path) -> None:
    a_fleet(root, *ended("1a"))
    tree = a_tree(root, base, "1a")
    (tree.tree / "locked" / "in").mkdir(parents=True)
    (tree.tree / "locked").chmod(0)
    (base / FLEET).chmod(0)
    done = here("fleet", "prune", "--yes", cwd=root)
    (base / FLEET).chmod(0o700)
    assert f"{base / FLEET} stays: it cannot be read; make it readable\n" in done.stdout
    assert tree.tree.exists()
    assert "removed 1 tree " in here("fleet", "prune", "--yes", cwd=root).stdout
    assert not (base / FLEET).exists()


def test_a_path_that_no_system_takes_names_no_repository(root: Path, base: Path) -> None:
    tree = a_tree(root, base, "1a")
    place = tree.folder / "place.json"
    place.write_text(place.read_text().replace(str(root), f"/{'x' * 5000}"))
    done = here("fleet", "prune", "--trees", str(base), cwd=root)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "use --yes to confirm" in done.stderr


def test_the_name_of_a_folder_of_trees_is_told_where_it_was_lost(root: Path, base: Path) -> None:
    """Otherwise the loops would wait for a host of that name."""
    name, home = base / HOME_FILE, home_of(base)
    joined = ev.HostJoined(host="here", slots=1, machine="m", home=home)
    a_fleet(root, joined, *ended("1a", outcome="interrupted"))
    a_tree(root, base, "1a")
    state = read_fleet(find_fleet(root).journal).state()
    check_home(state, FLEET, base)
    for damage in (damaged, a_folder):
        damage(name)
        with pytest.raises(WorkspaceError, match=f"{name}, the id of this folder of clones"):
            check_trees(root, base)
    name.rmdir()
    with pytest.raises(UsageError, match=f"made: write {home} into it, and resume again"):
        check_home(state, FLEET, base)
    name.write_text(f"{home}\n")
    check_home(state, FLEET, base)


def test_the_command_that_confirms_is_the_one_that_was_given(root: Path, base: Path) -> None:
    a_fleet(root, *ended("1a"))
    a_tree(root, base, "1a")
    asked = here("fleet", "prune", "--trees", str(base), "--resumable", cwd=root)
    assert f"ralph-tui fleet prune --trees {base} --resumable --yes" in asked.stderr
