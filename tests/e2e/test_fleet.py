"""A fleet as its user runs it: real runs of scripted agents, in clones, on this machine."""

import json
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.remote.peer import STARTED_BY_RUN
from ralph_tui.adapters.workspace.hidden_refs import saved_snapshots
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import RalphError
from ralph_tui.events import Event, WorktreeRestored
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.records import find_fleet, read_fleet
from ralph_tui.fleet.state import FleetState
from ralph_tui.state import RunState
from tests.e2e.cli import GATE, Done, here, processes_of, run, start
from tests.e2e.test_killed_keeper import CROSS
from tests.hosted import committed, git
from tests.waiting import until

DOES_ALL = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt; echo done"
WAITS = "cat >/dev/null; touch begun; setsid sleep 300 & sleep 300"
"""An agent that does nothing, and leaves something behind."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the checks, its trees beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return committed(folder)


def plan(root: Path, *objectives: str, agent: str = DOES_ALL, **fleet: object) -> Path:
    """A fleet file beside the repository."""
    common = {"agents": 3, "start_every": "0s", "agent": "command", "command": GATE, **fleet}
    lines = [f"{name} = {json.dumps(value)}" for name, value in common.items()]
    tables = [f"[[objective]]\ntext = {json.dumps(text)}" for text in objectives]
    path = root.parent / "night.toml"
    agent_line = f"agent_command = {json.dumps(agent)}"
    path.write_text("\n".join(["[fleet]", *lines, agent_line, *tables]) + "\n")
    return path


def state_of(root: Path) -> FleetState:
    return read_fleet(find_fleet(root).journal).state()


def mirror_of(root: Path, loop: str) -> Sequence[Event]:
    """The fleet's mirror of the journal of a loop's first attempt."""
    return read_journal(find_fleet(root).mirror(loop, 1) / "events.jsonl").events


def status(root: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(here("fleet", "status", "--json", cwd=root).stdout)
    return answer


def said(done: Done) -> str:
    return done.stdout + done.stderr


def nothing_is_left(root: Path) -> bool:
    """True if no process works in a worktree and none of a run is alive."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                where = str((entry / "cwd").readlink())
            except OSError:
                continue
            if where.startswith(str(root.parent / "state")):
                return False
    ran = [loop.run_id for loop in state_of(root).loops.values() if loop.run_id]
    return not any(map(processes_of, ran))


def runs(root: Path, *loops: str) -> bool:
    try:
        state = state_of(root)
    except RalphError:  # it is just starting
        return False
    return all(state.loops[loop].phase in ("waiting", "agent") for loop in loops)


def test_a_file_of_objectives_becomes_branches_and_nothing_else_changes(root: Path) -> None:
    """A fresh clone confirms the best of several."""
    before = git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")
    mine = f"{DOES_ALL}; echo $RALPH_FLEET_LOOP >mine.txt"
    file = plan(root, "First", agent=mine)
    file.write_text(file.read_text() + '[[objective]]\ntext = "Once"\nbest_of = 2\n')

    done = run("fleet", "run", str(file), "--json", cwd=root)

    assert done.returncode == 0, said(done)
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert kinds.count("winner_verified") == 1
    assert kinds[-1] == "fleet_finished"
    state = state_of(root)
    assert state.finished is not None
    assert "2 of 2 objectives completed" in state.finished.reason
    assert (git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")) == before
    places = {name: loop.place for name, loop in state.loops.items()}
    assert sorted(places.values()) == ["", "beaten", "chosen"]
    (first,), (chosen,), (beaten,) = (
        [name for name, place in places.items() if place == which]
        for which in ("", "chosen", "beaten")
    )
    for name, other in ((first, chosen), (chosen, first)):
        one = state.loops[name]
        files = git(root, "ls-tree", "--name-only", one.branch).splitlines()
        assert {f"done-{number}.txt" for number in range(4)} <= set(files)
        mirrored = mirror_of(root, name)
        assert [event.seq for event in mirrored] == [*range(1, len(mirrored) + 1)]
        assert mirrored[-1].kind == "run_finished"
        assert one.conflicts.keys() == {state.loops[other].branch}, "only one will be merged"
    assert not state.loops[beaten].conflicts
    assert nothing_is_left(root)
    assert not any((root.parent / "state").rglob("tree")), "trees of collected loops are removed"
    assert "nothing to prune" in here("fleet", "prune", cwd=root).stdout


BACK_AND_FORTH = (
    "cat >/dev/null; if [ -e done-0.txt ]; then rm done-*.txt; [ $RALPH_FLEET_LOOP = 1 ] || "
    "touch done-0.txt other.txt; else touch done-0.txt done-1.txt; fi; echo turned"
)
"""An agent that spoils what it has reached; in loop 1 nothing is left of it."""
NOTHING = ("--agent-command", "cat >/dev/null", "--max-iterations", "1", "--headless")


def test_the_best_of_a_loop_that_ended_worse_is_kept_and_named(root: Path) -> None:
    file = plan(root, "First", "Second", agent=BACK_AND_FORTH, agents=2, max_iterations=2)

    done = run("fleet", "run", str(file), "--headless", cwd=root)

    assert done.returncode == 3, said(done)
    loops = state_of(root).loops
    assert not loops["1"].branch
    assert loops["2"].branch
    for name, loop in loops.items():
        record = f".aiwg/ralph/fleets/fleet-001/loops/{name}/attempts/001"
        assert not Path(loop.folder).exists(), "its clone is removed"
        assert loop.better is not None
        assert f"'ralph-tui restore best --run {record}' restores it here" in done.stdout
        state = RunState().apply_all(mirror_of(root, name))
        best = state.best_span
        assert best is not None
        assert best.boundary is not None
        files = git(root, "ls-tree", "--name-only", best.boundary.ref).splitlines()
        assert {"done-0.txt", "done-1.txt"} <= {*files}
        taken = [*state.timeline.snapshots.values()]
        assert saved_snapshots(open_repository(root), taken) == {each.number for each in taken}
    assert "has changed nothing" not in said(done)
    report_leads_to_itself(root)
    is_restored(root)


def report_leads_to_itself(root: Path) -> None:
    """Also beside a run of the name that the loop has in its own journal."""
    ran = here("run", "Another task", "-c", "exit 1", *NOTHING, cwd=root)
    assert ran.returncode == 3, said(ran)
    record = ".aiwg/ralph/fleets/fleet-001/loops/2/attempts/001"
    page = here("report", record, cwd=root).stdout
    assert page.startswith("# Report on fleet-001/2\n")
    command = page.rstrip().splitlines()[-1].partition("`")[2].rstrip("`")
    assert command == "ralph-tui report fleet-001/2 --full"
    full = here(*shlex.split(command)[1:], cwd=root).stdout
    assert "> Second" in full
    assert f"{record}" in full


def is_restored(root: Path) -> None:
    """Restore the best snapshot of loop 1 here; refuse it where the loop could continue."""
    record = ".aiwg/ralph/fleets/fleet-001/loops/1/attempts/001"
    (root / "mine.txt").write_text("mine\n")
    back = here("restore", "best", "--run", record, "--yes", cwd=root)
    assert back.returncode == 0, said(back)
    assert sorted(path.name for path in root.glob("*.txt")) == ["done-0.txt", "done-1.txt"]
    restored = mirror_of(root, "1")[-2]
    assert isinstance(restored, WorktreeRestored)
    assert f"ralph-tui restore {restored.present} --run {record}" in back.stdout
    undone = here("restore", str(restored.present), "--run", record, "--yes", cwd=root)
    assert undone.returncode == 0, said(undone)
    assert [path.name for path in root.glob("*.txt")] == ["mine.txt"]
    assert {path.name for path in (root / record).iterdir()} == {"events.jsonl", "status.json"}

    journal = root / record / "events.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[: [*map(kind_of, lines)].index("run_finished")]))
    refused = here("restore", "best", "--run", record, "--yes", cwd=root)
    assert refused.returncode == 2
    assert "the loop may continue in its clone" in refused.stderr
    assert "git has the snapshot as refs/ralph/" in refused.stderr


def kind_of(line: str) -> str:
    return str(json.loads(line)["kind"])


def test_no_loop_commands_itself_or_the_fleet(root: Path) -> None:
    script, heard = root.parent / "cross.py", root.parent / "heard"
    script.write_text(CROSS)
    locks = f"'{root.parent}/state/**/.aiwg/ralph/lock' {root}/.aiwg/ralph/fleets/lock"
    both = f"until [ $(wc -l <{heard}) -ge 8 ]; do sleep 0.1; done"
    cross = f"{sys.executable} {script} 2 {locks} >>{heard}; {both}"
    file = plan(root, "First", agent=cross, max_iterations=1, command="false")

    run("fleet", "run", str(file), "--headless", cwd=root)

    assert heard.read_text().split("\n")[:-1] == [STARTED_BY_RUN] * 8


def test_what_a_killed_fleet_ran_ends_and_goes_on_in_its_trees(root: Path) -> None:
    """Loops that had not begun start again from the current commit; finished ones stay finished."""
    git(root, "commit", "-q", "--allow-empty", "-m", "as the fleet begins")
    base, places = git(root, "rev-parse", "HEAD"), root.parent
    works = f"[ $RALPH_FLEET_LOOP != 2 ] || [ -e {places}/mended ]"
    works += " || { echo no package >&2; exit 3; }"
    waits = f"[ $RALPH_FLEET_LOOP = 3 ] || [ -e {places}/go ] || {{ {WAITS}; }}"
    agent = f"{waits}; {DOES_ALL}; echo ours >plan.md"
    file = plan(root, "First", "Second", "Third", agent=agent, setup=works)
    with start("fleet", "run", str(file), "--headless", cwd=root) as fleet:
        until(lambda: runs(root, "1") and state_of(root).loops["3"].commit)
        assert state_of(root).loops["2"].never_began
        assert "no package" in state_of(root).loops["2"].reason
        second = here("fleet", "run", str(file), "--headless", cwd=root)
        assert second.returncode == 2
        assert "a fleet is already running in" in second.stderr
        fleet.kill()
    until(lambda: nothing_is_left(root))
    shown = here("fleet", "status", cwd=root).stdout
    assert "the fleet's process is gone" in shown
    assert "been deleted" not in shown
    works_on_without_the_base(root, state_of(root).loops["3"].branch)
    before = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")
    for name in ("go", "mended"):
        (places / name).touch()
    refused_where_somebody_listens(root, "resume")
    done = run("fleet", "resume", "--headless", cwd=root)

    assert done.returncode == 0, said(done)
    assert "loop 3 has ended and will not be retried; loop 2 will be retried" in done.stdout
    assert "is lost" not in done.stdout, "its process died with the fleet's"
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == before
    assert (root / "plan.md").read_text() == "not even committed\n"
    loops = state_of(root).loops
    assert [loops[one].conflicts for one in "12"] == [{"HEAD": ("plan.md",)}] * 2
    assert [git(root, "merge-base", loops[one].branch, base) for one in "12"] == [base] * 2
    until(lambda: not git(root, "for-each-ref", "refs/ralph/fleets"))
    shown = here("fleet", "status", cwd=root).stdout
    assert "conflicts with HEAD: plan.md" in shown
    assert shown.count("; the branch has since been deleted") == 1
    recorded = read_fleet(find_fleet(root).journal).events
    placed = [event for event in recorded if isinstance(event, ev.LoopPlaced)]
    assert sorted((one.loop, one.attempt, one.resumed) for one in placed) == [
        ("1", 1, False), ("1", 1, True), ("2", 1, False), ("2", 2, False), ("3", 1, False),
    ]  # fmt: skip
    again = {e.reason for e in recorded if isinstance(e, ev.LoopRequeued) and e.loop == "1"}
    assert again == {"its process died"}, "no signal was sent"
    kinds = [event.kind for event in mirror_of(root, "1")]
    assert (kinds.count("run_started"), "run_resumed" in kinds) == (1, True)
    assert nothing_is_left(root)
    over = here("fleet", "resume", "--headless", cwd=root)
    assert (over.returncode, "all its loops have ended" in over.stderr) == (2, True)


def works_on_without_the_base(root: Path, branch: str) -> None:
    """The user removes the fleet's first commit from every branch and snapshot."""
    (root / "plan.md").write_text("mine\n")
    git(root, "add", "plan.md")
    git(root, "commit", "-q", "--amend", "-m", "Meanwhile")
    git(root, "branch", "-q", "-D", branch)
    for ref in git(root, "for-each-ref", "--format=%(refname)", "refs/ralph").split():
        if not ref.startswith("refs/ralph/fleets/"):
            git(root, "update-ref", "-d", ref)
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    (root / "plan.md").write_text("not even committed\n")


def test_it_is_steered_and_stopped_from_another_terminal(root: Path) -> None:
    file = plan(root, "First", "Second", "Third", agent=WAITS, agents=2)
    with start("fleet", "run", str(file), "--headless", cwd=root) as fleet:
        until(lambda: runs(root, "1", "2"))
        paused = here("fleet", "pause", "all", cwd=root)
        assert "loop 1 pauses" in paused.stdout
        assert "loop 2 pauses" in paused.stdout
        again = here("fleet", "pause", "all", cwd=root).stderr
        assert all(f"loop {one}: a pause is already requested" in again for one in "12")
        assert "is waiting for a slot" in here("fleet", "guide", "3", "x", cwd=root).stderr
        assert "loop 1 has no open question" in here("fleet", "decide", "1", cwd=root).stderr
        assert (
            "not a terminal; use --yes to confirm: ralph-tui fleet abort 1 --yes"
            in here("fleet", "abort", "1", cwd=root).stderr
        )
        unbegun = here("fleet", "abort", "3", "--yes", cwd=root).stdout
        assert unbegun == "loop 3 is aborted; it had not started\n"
        given_up = here("fleet", "abort", "1", "--yes", cwd=root).stdout
        assert given_up == "loop 1 is aborted; its work will be collected\n"
        until(lambda: state_of(root).loops["1"].outcome == "aborted")
        here("fleet", "stop", "--now", cwd=root)
        assert fleet.wait() == 130, "its user stopped it"
    assert not status(root)["alive"]
    until(lambda: nothing_is_left(root))
    left = here("fleet", "prune", cwd=root)
    assert "loop 2: " in left.stdout
    assert "stays: 'ralph-tui fleet resume' continues in it" in left.stdout
    assert "removed" in here("fleet", "prune", "--yes", "--resumable", cwd=root).stdout


def test_of_a_worktree_in_which_nothing_began_prune_leaves_nothing(root: Path) -> None:
    file = plan(root, "First", setup="false", isolation="worktree")
    git(root, "branch", "ralph")
    refused = run("fleet", "run", str(file), "--headless", cwd=root)
    assert refused.returncode == 2
    assert "a branch is called ralph" in refused.stderr
    git(root, "branch", "-m", "ralph", "mine")
    before = git(root, "branch"), git(root, "worktree", "list")

    assert run("fleet", "run", str(file), "--headless", cwd=root).returncode == 1
    assert "ralph/fleet-001/1" in git(root, "branch")
    pruned = run("fleet", "prune", "--yes", cwd=root)

    assert pruned.returncode == 0, said(pruned)
    assert (git(root, "branch"), git(root, "worktree", "list")) == before


def test_all_that_is_wrong_in_a_file_is_told_before_anything_begins(root: Path) -> None:
    file = plan(root, "First", agents=0, lease="soon", base="nowhere")
    done = here("fleet", "run", str(file), "--headless", cwd=root)
    assert done.returncode == 2
    assert [line.split(" (")[0] for line in done.stderr.splitlines()] == [
        "ralph-tui: fleet.lease", "ralph-tui: fleet.base",
    ]  # fmt: skip
    plan(root, "First", agents=0)
    done = here("fleet", "run", str(file), "--headless", cwd=root)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "fleet.agents is 0 and no other machine can join; pass --agents 1" in done.stderr
    plan(root, "First", command="")
    done = here("fleet", "run", str(file), "--detach", cwd=root)
    assert (done.returncode, "checking the completion command" in done.stderr) == (2, False)
    assert "fleet.command" in done.stderr
    assert not (root / ".aiwg").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nacht.toml"], "there is no file nacht.toml"),
        (["./"], "./ is a folder: pass a fleet file"),
        (["/dev/null"], "/dev/null is not a plain file: pass a fleet file"),
        (["Do it"], "a loop needs a command that checks whether the work is done"),
        ([], "pass one thing to run"),
        (["Do it", "-c", "true", "--base", "nowhere"], "nowhere is not a commit in "),
        (["Do it", "-c", "true", "--best-of", "99"], "--best-of must be from 1 to 26"),
        (
            ["Do it", "-c", "true", "--choice", "all"],
            "--first needs several attempts; pass --best-of N",
        ),
        (["Do it", "-c", "true", "--budget", "much"], "--budget takes dollars"),
        (["Do it", "-c", "true", "--agents", "0"], "--agents must be from 1 to 100"),
        (
            ["Do it", "-c", "true", "--listen", "tcp://0.0.0.0:1"],
            "would let anyone who can reach it run programs as you",
        ),
        (["Do it", "-c", "true", "--listen", "tls://0.0.0.0:1"], "needs --tls FOLDER"),
        (["--from-issues", "ralph", "-c", "true"], "issues need a tracker"),
        (["Do it", "-c", "true", "--trees", "./x"], "is in the repository"),
        (["Do it", "-c", "true", "--trees", "/proc/x"], "cannot write /proc/x"),
        (["Do it", "-c", "true", "--best-of", "3", "--agent-command", "/no/agent"], "/no/agent"),
    ],
)
def test_what_cannot_be_gets_a_sentence_and_leaves_nothing(
    root: Path, words: list[str], sentence: str
) -> None:
    done = here("fleet", "run", "--agent-command", "true", *words, "--headless", cwd=root)

    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list((root / ".aiwg").rglob("events.jsonl"))
    assert not (root / "x").exists()


def test_an_agent_that_is_not_here_is_told_once_and_nothing_begins(root: Path) -> None:
    words = ("Do it", "-c", "true", "--best-of", "3", "--agent", "claude")
    missing = ("--set", "agent.binary=/no/claude", "--headless")

    done = here("fleet", "run", *words, *missing, cwd=root)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("install one, or use a program of your own") == 1
    assert "demo" not in done.stderr
    assert not list((root / ".aiwg").rglob("events.jsonl"))
    assert not (root.parent / "state").exists() or not list((root.parent / "state").rglob("tree"))


def test_a_fleet_that_cannot_listen_is_none(root: Path) -> None:
    refused_where_somebody_listens(root, "run", str(plan(root, "Make the checks pass")))
    assert not list((root / ".aiwg").glob("ralph/fleets/fleet-*"))


def refused_where_somebody_listens(root: Path, *words: str) -> None:
    """One sentence, and nothing is recorded."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tls://127.0.0.1:{taken.getsockname()[1]}"
        keys = ("--tls", str(root.parent / "keys"))
        before = sorted((root / ".aiwg").rglob("events.jsonl"))
        lengths = [path.stat().st_size for path in before]
        done = run("fleet", *words, "--headless", "--listen", address, *keys, cwd=root)
        assert (done.returncode, done.stdout) == (2, "")
        sentence = (
            f"ralph-tui: cannot listen at {address}: Address already in use; choose another port\n"
        )
        assert done.stderr == sentence
        assert sorted((root / ".aiwg").rglob("events.jsonl")) == before
        assert [path.stat().st_size for path in before] == lengths


def test_only_what_an_answer_cannot_do_without_is_called_missing(root: Path) -> None:
    assert "LOOP is missing;" in here("fleet", "decide", cwd=root).stderr


def test_without_a_fleet_each_command_says_what_to_do(root: Path) -> None:
    for words in (["status"], ["attach"], ["pause", "all"], ["stop"], ["resume"]):
        done = here("fleet", *words, cwd=root)
        assert (done.returncode, done.stdout) == (2, "")
        assert "start one with 'ralph-tui fleet run'" in done.stderr


def test_looking_on_loads_no_engine(root: Path) -> None:
    """Status and screens are quick: what carries orders is loaded by the fleet's process alone."""
    program = (
        "import sys\nfrom ralph_tui.cli import main\nmain(['fleet', 'status'])\n"
        "print([name for name in ('dask', 'distributed', 'tornado') if name in sys.modules])"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
