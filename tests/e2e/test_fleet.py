"""A fleet as its user runs it: real runs of scripted agents, in clones, on this machine."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.remote.peer import STARTED_BY_RUN
from ralph_tui.errors import RalphError
from ralph_tui.fleet import events as told
from ralph_tui.fleet.records.folders import find_fleet
from ralph_tui.fleet.records.reading import read_fleet
from ralph_tui.fleet.state import FleetState
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
    told_agent = f"agent_command = {json.dumps(agent)}"
    path.write_text("\n".join(["[fleet]", *lines, told_agent, *tables]) + "\n")
    return path


def state_of(root: Path) -> FleetState:
    return read_fleet(find_fleet(root).journal).state()


def status(root: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(here("fleet", "status", "--json", cwd=root).stdout)
    return answer


def said(done: Done) -> str:
    return done.stdout + done.stderr


def nothing_is_left(root: Path) -> bool:
    """No process works in a tree, and none of a run is alive."""
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
    before = git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")
    mine = f"{DOES_ALL}; echo $RALPH_FLEET_LOOP >mine.txt"
    file = plan(root, "First", "Second", "Third", agent=mine)

    done = run("fleet", "run", str(file), "--headless", cwd=root)

    assert done.returncode == 0, said(done)
    assert "3 of 3 objectives completed" in done.stdout
    assert (git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD")) == before
    for loop in "123":
        files = git(root, "ls-tree", "--name-only", f"ralph/fleet-001/{loop}").splitlines()
        assert {f"done-{number}.txt" for number in range(4)} <= set(files)
    state = state_of(root)
    for name, one in state.loops.items():
        mirrored = read_journal(find_fleet(root).mirror(name, 1) / "events.jsonl").events
        assert [event.seq for event in mirrored] == [*range(1, len(mirrored) + 1)]
        assert mirrored[-1].kind == "run_finished"
        assert one.conflicts.keys() == {
            f"ralph/fleet-001/{other}" for other in "123" if other != name
        }
    assert nothing_is_left(root)
    assert not any((root.parent / "state").rglob("tree")), "trees of collected loops are removed"
    assert "nothing to prune" in here("fleet", "prune", cwd=root).stdout


def test_no_loop_commands_another_or_the_fleet(root: Path) -> None:
    script, heard = root.parent / "cross.py", root.parent / "heard"
    script.write_text(CROSS)
    locks = f"'{root.parent}/state/**/.aiwg/ralph/lock' {root}/.aiwg/ralph/fleets/lock"
    both = f"until [ $(wc -l <{heard}) -ge 24 ]; do sleep 0.1; done"
    cross = f"{sys.executable} {script} 3 {locks} >>{heard}; {both}"
    file = plan(root, "First", "Second", agent=cross, max_iterations=1, command="false")

    run("fleet", "run", str(file), "--headless", cwd=root)

    assert heard.read_text().split("\n")[:-1] == [STARTED_BY_RUN] * 24


def test_the_best_of_several_tries_is_confirmed_in_a_fresh_clone(root: Path) -> None:
    file = plan(root, agent=DOES_ALL)
    file.write_text(file.read_text() + '[[objective]]\ntext = "Once"\nbest_of = 2\n')

    done = run("fleet", "run", str(file), "--json", cwd=root)

    assert done.returncode == 0, said(done)
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert kinds.count("winner_verified") == 1
    assert kinds[-1] == "fleet_finished"
    state = state_of(root)
    assert {loop.place for loop in state.loops.values()} == {"chosen", "beaten"}
    assert all(not loop.conflicts for loop in state.loops.values()), "only one will be merged"


def test_what_a_killed_fleet_ran_ends_and_goes_on_in_its_trees(root: Path) -> None:
    file = plan(root, "First", "Second", agent=f"[ -e {root.parent}/go ] || {{ {WAITS}; }}; "
                f"{DOES_ALL}; echo ours >plan.md")  # fmt: skip
    detached = run("fleet", "run", str(file), "--detach", cwd=root)
    assert "fleet-001 runs in the background" in detached.stdout, said(detached)
    until(lambda: runs(root, "1", "2"))
    second = run("fleet", "run", str(file), "--headless", cwd=root)
    assert second.returncode == 2
    assert "a fleet runs in" in second.stderr

    owner = find_fleet(root).owner()
    assert owner is not None
    os.kill(owner.pid, signal.SIGKILL)
    until(lambda: nothing_is_left(root))
    assert "the fleet's process is gone" in here("fleet", "status", cwd=root).stdout
    (root / "plan.md").write_text("mine\n")  # its owner works on, meanwhile
    git(root, "add", "plan.md")
    git(root, "commit", "-qm", "Meanwhile")
    (root / "plan.md").write_text("not even committed\n")
    before = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")
    (root.parent / "go").touch()
    refused_where_somebody_listens(root, "resume")
    done = run("fleet", "resume", "--headless", cwd=root)

    assert done.returncode == 0, said(done)
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == before
    assert (root / "plan.md").read_text() == "not even committed\n"
    assert {one: loop.conflicts for one, loop in state_of(root).loops.items()} == {
        "1": {"HEAD": ("plan.md",)}, "2": {"HEAD": ("plan.md",)},
    }  # fmt: skip
    shown = here("fleet", "status", cwd=root).stdout
    assert "conflicts with HEAD: plan.md" in shown
    assert "was deleted" not in shown
    git(root, "branch", "-q", "-D", state_of(root).loops["1"].branch)
    assert here("fleet", "status", cwd=root).stdout.count("; the branch was deleted since") == 1
    recorded = read_fleet(find_fleet(root).journal).events
    placed = [event for event in recorded if isinstance(event, told.LoopPlaced)]
    assert [(one.attempt, one.resumed) for one in placed] == [(1, False)] * 2 + [(1, True)] * 2
    again = {event.reason for event in recorded if isinstance(event, told.LoopRequeued)}
    assert again == {"the process that ran it was gone"}, "nobody has sent a signal"
    for name in "12":
        mirrored = read_journal(find_fleet(root).mirror(name, 1) / "events.jsonl").events
        assert [event.kind for event in mirrored].count("run_started") == 1
        assert "run_resumed" in [event.kind for event in mirrored]
    assert nothing_is_left(root)
    over = run("fleet", "resume", "--headless", cwd=root)
    assert (over.returncode, "all its loops have ended" in over.stderr) == (2, True)


def test_it_is_steered_and_stopped_from_another_terminal(root: Path) -> None:
    file = plan(root, "First", "Second", "Third", agent=WAITS, agents=2)
    with start("fleet", "run", str(file), "--headless", cwd=root) as fleet:
        until(lambda: runs(root, "1", "2"))
        paused = here("fleet", "pause", "all", cwd=root)
        assert "loop 1 pauses" in paused.stdout
        assert "loop 2 pauses" in paused.stdout
        again = here("fleet", "pause", "all", cwd=root).stderr
        assert all(f"loop {one}: a pause was asked for already" in again for one in "12")
        assert "waits for a place" in here("fleet", "guide", "3", "x", cwd=root).stderr
        assert "no question of loop 1 is open" in here("fleet", "decide", "1", cwd=root).stderr
        assert "say fleet abort 1 --yes" in here("fleet", "abort", "1", cwd=root).stderr
        unbegun = here("fleet", "abort", "3", "--yes", cwd=root).stdout
        assert unbegun == "loop 3 is aborted; it never began\n"
        given_up = here("fleet", "abort", "1", "--yes", cwd=root).stdout
        assert given_up == "loop 1 is aborted; its work is collected\n"
        until(lambda: state_of(root).loops["1"].outcome == "aborted")
        here("fleet", "stop", "--now", cwd=root)
        assert fleet.wait() == 130, "its user stopped it"
    assert not status(root)["alive"]
    until(lambda: nothing_is_left(root))
    left = here("fleet", "prune", cwd=root)
    assert "loop 2: " in left.stdout
    assert "stays: 'ralph-tui fleet resume' continues in it" in left.stdout
    assert "removed" in here("fleet", "prune", "--yes", "--resumable", cwd=root).stdout


def test_a_setup_that_fails_costs_nothing_and_is_told_with_its_words(root: Path) -> None:
    file = plan(root, "First", setup="echo no such package >&2; exit 3", agent=WAITS)

    done = run("fleet", "run", str(file), "--headless", cwd=root)

    assert done.returncode == 1
    assert "no such package" in done.stdout
    assert state_of(root).loops["1"].never_began


def test_resume_tries_what_never_began_once_more_and_says_what_stays_ended(root: Path) -> None:
    works = f"[ $RALPH_FLEET_LOOP = 2 ] || [ -e {root.parent}/mended ]"
    file = plan(root, "First", "Second", setup=works, agent=DOES_ALL)
    assert run("fleet", "run", str(file), "--headless", cwd=root).returncode == 1
    (root.parent / "mended").touch()

    done = run("fleet", "resume", "--headless", cwd=root)

    assert done.returncode == 0, said(done)
    assert "loop 2 has ended and stays so; loop 1 is tried again" in done.stdout
    assert [loop.attempt for loop in state_of(root).loops.values()] == [2, 1]


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


def test_what_is_missing_on_the_machine_costs_its_loop_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of an agent, that of a completion command, a git that can tell conflicts."""
    program = root.parent / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\ncase " $* " in *" merge-tree "*) exit 129;; *" version "*) '
        "echo git version 2.34.1; exit;; esac\n"
        f'exec {shlex.quote(shutil.which("git") or "git")} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    file = plan(root, "First", "Second", agent=f"{DOES_ALL}; echo $RALPH_FLEET_LOOP >mine")
    file.write_text(
        f'{file.read_text()}[[objective]]\ntext = "a"\nagent_command = "no-such-program -x"\n'
        '[[objective]]\ntext = "b"\ncommand = "no-such-check"\nmax_iterations = 1\n'
    )

    done = run("fleet", "run", str(file), "--headless", "--agents", "4", cwd=root)

    assert done.returncode == 1, said(done)
    loops = state_of(root).loops
    assert [one.outcome for one in loops.values()] == ["completed", "completed", "failed", "failed"]
    assert "begins with 'no-such-program', which is not on PATH" in loops["3"].reason
    assert "`no-such-check` was not found" in loops["4"].reason
    shown = here("fleet", "status", cwd=root).stdout
    told = "conflicts are not known: git version 2.34.1 cannot tell conflicts beforehand"
    assert shown.count(told) == 2
    assert "2 of 4 objectives completed" in shown


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
    assert "fleet.agents is 0, and nobody else could run its loops" in done.stderr
    assert not (root / ".aiwg").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nacht.toml"], "there is no file nacht.toml"),
        (["./"], "./ is a folder: name a fleet file"),
        (["/dev/null"], "/dev/null is no plain file: name a fleet file"),
        (["Do it"], "a loop needs a command that tells when the work is done"),
        ([], "say one thing to run"),
        (["Do it", "-c", "true", "--base", "nowhere"], "nowhere is no commit"),
        (["Do it", "-c", "true", "--best-of", "99"], "--best-of takes a number from 1 to 26"),
        (["Do it", "-c", "true", "--choice", "all"], "say how many with --best-of"),
        (["Do it", "-c", "true", "--budget", "much"], "--budget takes dollars"),
        (["Do it", "-c", "true", "--agents", "0"], "--agents takes a number from 1 to 100"),
        (["Do it", "-c", "true", "--listen", "tcp://0.0.0.0:1"], "would let everybody"),
        (["Do it", "-c", "true", "--listen", "tls://0.0.0.0:1"], "needs --tls FOLDER"),
        (["--from-issues", "ralph", "-c", "true"], "issues need a tracker"),
        (["Do it", "-c", "true", "--trees", "./x"], "lies in the repository"),
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
    assert done.stderr.count("install one, name a program of your own") == 1
    assert not list((root / ".aiwg").rglob("events.jsonl"))
    assert not (root.parent / "state").exists() or not list((root.parent / "state").rglob("tree"))


def test_what_it_began_with_stays_though_its_owner_takes_it_out_of_every_branch(
    root: Path,
) -> None:
    goes_on = f"until [ -e {root.parent}/go ]; do sleep 0.05; done; {DOES_ALL}"
    file = plan(root, "First", "Second", agent=goes_on)
    base = git(root, "rev-parse", "HEAD")
    detached = run("fleet", "run", str(file), "--agents", "1", "--detach", cwd=root)
    assert detached.returncode == 0, said(detached)
    until(lambda: runs(root, "1"))
    git(root, "commit", "-q", "--amend", "-m", "another")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    (root.parent / "go").touch()
    until(lambda: state_of(root).finished)
    branches = [loop.branch for loop in state_of(root).loops.values()]
    assert branches == ["ralph/fleet-001/1", "ralph/fleet-001/2"]
    assert git(root, "merge-base", branches[1], base) == base
    until(lambda: not git(root, "for-each-ref", "refs/ralph/fleets"))


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
            f"ralph-tui: cannot listen at {address}: Address already in use; name another port\n"
        )
        assert done.stderr == sentence
        assert sorted((root / ".aiwg").rglob("events.jsonl")) == before
        assert [path.stat().st_size for path in before] == lengths


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
