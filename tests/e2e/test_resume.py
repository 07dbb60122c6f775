"""``ralph-tui resume`` after every kind of end: continues, or explains why it cannot."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.config.sources import load
from ralph_tui.events import RunResumed
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.runtime.assembly import resumed_run
from ralph_tui.runtime.request import ResumeRequest
from ralph_tui.runtime.resumption import plan_resume
from ralph_tui.text.secrets import HIDDEN
from tests.e2e.cli import CLI, GATE, ONE_MORE, Command, here, processes_of, project, start
from tests.forks import Started
from tests.soak.program import Program
from tests.waiting import until

ALL_DONE = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"
WAITS = f"until [ -e go ]; do sleep 0.05; done; {ALL_DONE}"
"""An agent that begins when it is let go, and needs no second session."""
NOTHING = "cat >/dev/null; echo nothing"
SHORT = 3
"""Iterations of the recorded run; four are needed."""


def order(agent: str, *options: str) -> list[str]:
    return ["run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command", agent,
            *options]  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a run that has used up its three iterations; only to be copied."""
    root = tmp_path_factory.mktemp("recorded") / "repo"
    root.mkdir()
    git(root, "init", "-q")
    project(root)
    git(root, "add", ".")
    git(root, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "first")
    (root / "mine.txt").write_text("untracked\n")
    done = here(*order(ONE_MORE), "--headless", "--max-iterations", str(SHORT), cwd=root)
    assert done.returncode == ExitCode.LIMIT_REACHED, done.stderr
    return root


@pytest.fixture
def limited(recorded: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(recorded, tmp_path / "repo", symlinks=True)


@pytest.fixture
def repo(git_repo: Path) -> Path:
    """A repository without a run."""
    return project(git_repo)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def journal(root: Path) -> Path:
    (found,) = root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_resume_and_report_say_what_the_checkpoints_come_to(repo: Path) -> None:
    held = "import time; held = bytearray(60 << 20); time.sleep(1.5)"
    agent = f"{sys.executable} -c '{held}'; touch x y z; {ONE_MORE}"
    done = here(*order(agent), "--headless", "--max-iterations", "1", cwd=repo)
    assert done.returncode == ExitCode.LIMIT_REACHED, done.stderr
    again = here("resume", "--headless", "--max-iterations", "2", cwd=repo)
    rows = [line.removeprefix("ralph-tui: ") for line in again.stderr.splitlines()]
    assert rows[0] == "3 checkpoints: 2 at the start, 1 at the end"
    assert re.fullmatch(r"1 session, \ds in all, 4 files changed", rows[1])
    known = re.fullmatch(r"the agent's peak memory: (\d+) MB, in iteration 1", rows[2])
    assert known
    assert 60 < int(known[1]) < 400
    last = r"last: iteration 1, at the end, [\d:]+, \ds into its session, snapshot 2, 4 files ch.*"
    assert re.fullmatch(f"{last}: done-0.txt, x, y and 1 more", rows[3])
    assert len(rows) == 4
    resumed = next(e for e in read_journal(journal(repo)).events if isinstance(e, RunResumed))
    assert resumed.checkpoints.split("\n") == rows, "and the screen has it as the evidence"
    page = here("report", "--full", cwd=repo).stdout
    assert "## Checkpoints\n\n- 5 checkpoints: 3 at the start, 2 at the end\n- 2 sessions, " in page


def events(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(root).read_bytes().splitlines()]


def kinds(root: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in events(root) if event["kind"] == kind]


def everything(root: Path) -> dict[str, bytes]:
    """Every file with its bytes, including git's and ours, except git's scratch folder."""
    files = (path for path in root.rglob("*") if path.is_file() or path.is_symlink())
    view = root / ".git" / "ralph-tui" / "view"
    own = (path for path in files if not path.is_relative_to(view))
    return {str(path.relative_to(root)): path.read_bytes() for path in own}


def resume(root: Path, *words: str, by: Command = here) -> "subprocess.CompletedProcess[str]":
    return by("resume", "--headless", *words, cwd=root)


def refused(root: Path, *words: str, code: int = 2) -> str:
    """The reason for a refused resume; asserts that the repository is unchanged."""
    before = everything(root)
    done = resume(root, *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("ralph-tui: ")
    first, *ways = done.stderr.splitlines()
    assert first
    assert all(way.startswith("  ") for way in ways)
    assert everything(root) == before
    return done.stderr


def completes(root: Path, *words: str, by: Command = here) -> tuple[list[dict[str, Any]], str]:
    """Resume to the end in one journal without a gap; return the events and the output."""
    known = events(root) if journal_is_whole(root) else []
    done = resume(root, *words, by=by)
    assert done.returncode == 0, done.stdout + done.stderr
    after = events(root)
    assert after[: len(known)] == known
    assert [event["seq"] for event in after] == list(range(1, len(after) + 1))
    times = [datetime.fromisoformat(event["at"]) for event in after]
    assert times == sorted(times)
    assert (after[-1]["kind"], after[-1]["outcome"]) == ("run_finished", "completed")
    records = [event["iteration"] for event in after if event["kind"] == "iteration_finished"]
    assert records == list(range(1, len(records) + 1))
    snapshots = [event["number"] for event in after if event["kind"] == "snapshot_taken"]
    assert len(set(snapshots)) == len(snapshots)
    assert [event for event in after if event["kind"] == "run_resumed"]
    assert "completed" in here("status", cwd=root).stdout
    return after, done.stdout


def journal_is_whole(root: Path) -> bool:
    lines = journal(root).read_bytes().splitlines(keepends=True)
    try:
        return all(line.endswith(b"\n") and json.loads(line) for line in lines)
    except ValueError:
        return False


@contextmanager
def working(root: Path, *options: str, agent: str = WAITS) -> Iterator[Started]:
    """A run whose agent has been started and waits."""
    with start(*order(agent, *options), "--headless", cwd=root) as process:
        try:
            until(lambda: processes(root))
            yield process
        finally:
            process.kill()
            process.communicate()


def processes(root: Path) -> list[int]:
    found = list(root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl"))
    if not found or b'"session_started"' not in found[0].read_bytes():
        return []
    return processes_of(events(root)[0]["run_id"])


def rewrite(root: Path, number: int, line: bytes) -> None:
    """Replace a line of the journal, counted from 1; -1 adds one."""
    lines = journal(root).read_bytes().splitlines(keepends=True)
    if number == -1:
        lines.append(line)
    else:
        lines[number - 1] = line
    journal(root).write_bytes(b"".join(lines))


def changed(repo: Path, number: int, **fields: object) -> None:
    """Change fields of an event."""
    event = events(repo)[number - 1]
    rewrite(repo, number, json.dumps(event | fields).encode() + b"\n")


# -- ends ----------------------------------------------------------------------------------------


def test_limits_are_raised_by_settings_as_well(limited: Path) -> None:
    assert "is already" not in refused(limited, "--set", "limits.max_iterations=3")
    after, _ = completes(limited, "--set", "limits.max_iterations=4")
    assert after[-1]["iterations"] == 4


def test_the_interval_of_checkpoints_is_set_for_a_run_and_anew_for_its_resume(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[float] = []
    start_timer = Scheduler.start_timer

    def noted(scheduler: Scheduler, seconds: float, act: Callable[[], None]) -> None:
        timers.append(seconds)
        start_timer(scheduler, seconds, act)

    monkeypatch.setattr(Scheduler, "start_timer", noted)
    here(*order(ONE_MORE, "--set", "checkpoints.interval_s=600"), "--headless",
         "--max-iterations", "2", cwd=repo)  # fmt: skip
    again = ("--set", "limits.max_iterations=4")
    after, _ = completes(repo, *again, "--set", "checkpoints.interval_s=15m")
    begun = [
        (event["iteration"], event["interval_s"])
        for event in after
        if event["kind"] == "checkpoint_captured" and event["trigger"] == "start"
    ]
    assert [interval for k, interval in begun if k] == timers == [600, 600, 900, 900]


def test_a_budget_of_an_iteration_is_changed_by_a_setting(limited: Path) -> None:
    found, sets = resolve_run(limited, None), ["limits.iteration_budget_tokens=90000"]
    more = ResumeRequest(max_iterations="4", mode="headless")
    plan = plan_resume(
        limited, found, more, lambda recorded: load(limited, {}, {}, sets, recorded).settings
    )
    assert plan.start.iteration_budget_tokens == 90_000


def test_a_used_up_token_budget_names_the_option_that_continues_the_run(git_repo: Path) -> None:
    spent = ("--set", "limits.budget_tokens=300000")
    done = here("demo", "--fast", "--headless", "--keep", "dz", *spent, cwd=git_repo)
    assert done.returncode == ExitCode.LIMIT_REACHED, done.stdout
    root = git_repo / "dz"
    (option,) = re.findall(r"task-001/001 --set (limits.budget_tokens=\d+)$", done.stdout, re.M)
    assert f"--set {option}" in here("status", cwd=root).stdout
    assert option in refused(root, "--max-iterations", "20")
    assert "can only add" in refused(root, "--set", "limits.budget_tokens=10")
    after, _ = completes(root, "--set", option, "--set", "limits.budget_tokens=90000000")
    changes = [event for event in after if event["kind"] == "limits_changed"]
    assert changes[-1]["budget_tokens"] == 90_000_000


def test_limit_reached_then_completed(limited: Path) -> None:
    said = refused(limited)
    assert "all 3 iterations are used up; allow more" in said
    assert "--max-iterations" in said
    assert "--max-iterations" in refused(limited, "--max-iterations", "3")
    after, lines = completes(limited, "--max-iterations", "4")
    counters = [m[1] for line in lines.splitlines() if (m := re.search(r" (\d+)/\d+ ", line))]
    assert min(map(int, counters)) == SHORT, "it counts on in plain lines"
    assert len([event for event in after if event["kind"] == "session_started"]) == 4
    assert after[-1]["iterations"] == 4
    assert (limited / "mine.txt").read_text() == "untracked\n"
    assert "task-001/001 is already completed" in refused(limited)
    # It was cut off before it could report that.
    changed(limited, len(events(limited)), outcome="interrupted", reason="it was killed")
    after, _ = completes(limited)
    assert len([event for event in after if event["kind"] == "session_started"]) == 4


def test_refused_while_it_lives_then_aborted(repo: Path) -> None:
    with working(repo) as process:
        living = resume(repo)
        assert living.returncode == 2
        assert "ralph-tui attach" in living.stderr
        assert "ralph-tui unpause" in living.stderr
        assert len(living.stderr.splitlines()) == 1
        assert here("abort", "--yes", cwd=repo).returncode == 0
        process.communicate()
    assert kinds(repo, "run_finished")[0]["outcome"] == "aborted"
    (repo / "go").touch()
    after, _ = completes(repo, "--max-iterations", "9")
    assert len([e for e in after if e["kind"] == "session_started"]) == 2


def test_killed(repo: Path) -> None:
    agent = f"[ -e go ] || {{ echo half >half.txt; touch begun; }}; {WAITS}"
    with working(repo, agent=agent) as process:
        until((repo / "begun").exists)
        process.kill()
    until(lambda: not processes(repo))
    until(lambda: "its process is gone" in here("status", cwd=repo).stdout)
    assert "last        checkpoint in iteration 1, " in here("status", cwd=repo).stdout
    (repo / "go").touch()
    completes(repo)
    found = kinds(repo, "run_resumed")[0]["found"]
    assert found.startswith("iteration 1, ")
    assert "last checkpoint " in found
    prompt = journal(repo).parent / "results" / "iter-002" / "prompt.md"
    assert "was interrupted" in prompt.read_text()
    assert "half.txt" in prompt.read_text()
    assert kinds(repo, "iteration_finished")[0]["status"] == "interrupted"
    assert (repo / "half.txt").read_text() == "half\n"


@pytest.mark.parametrize(("seq_off", "took"), [(0, "34m in"), (-1, "0s in")])
def test_a_session_that_was_silent_when_its_run_died_has_lasted(
    limited: Path, seq_off: int, took: str
) -> None:
    """An hour ago; its length is the one in the status file if that covers the last event."""
    lines = journal(limited).read_bytes().splitlines()
    past = [json.loads(line) for line in lines]
    second = [n for n, event in enumerate(past) if event["kind"] == "session_started"][1]
    for event in past[: second + 1]:
        at = datetime.fromisoformat(event["at"]) - timedelta(hours=1)
        event["at"] = at.isoformat()
    kept = [json.dumps(event).encode() + b"\n" for event in past[: second + 1]]
    journal(limited).write_bytes(b"".join(kept))
    status = journal(limited).parent / "status.json"
    fields = json.loads(status.read_text())
    del fields["outcome"]
    status.write_text(
        json.dumps(fields | {"seq": past[second]["seq"] + seq_off, "silent_s": 34 * 60.0})
    )
    completes(limited, "--max-iterations", "9")
    (resumed,) = kinds(limited, "run_resumed")
    assert resumed["found"].startswith(f"iteration 2, {took}")
    report = here("report", "--full", cwd=limited).stdout
    (row,) = [line for line in report.splitlines() if line.startswith("| 2 | interrupted | ")]
    assert ("| 34m" in row) == (seq_off == 0)


@pytest.mark.parametrize(("part", "torn"), [(0.55, True)])
def test_the_unsynced_tail_is_gone(limited: Path, part: float, torn: bool) -> None:  # noqa: FBT001
    whole = journal(limited).read_bytes()
    end = whole.index(b"\n", int(len(whole) * part)) + 1
    journal(limited).write_bytes(whole[: end + 25 if torn else end])
    kept = whole[:end]
    completes(limited, "--max-iterations", "5")
    assert journal(limited).read_bytes().startswith(kept)


def test_between_two_iterations(limited: Path) -> None:
    """Changes before or between the iterations are not attributed to the next one."""
    lines = journal(limited).read_bytes().splitlines(keepends=True)
    (end,) = [e["seq"] for e in kinds(limited, "reading_taken") if e["iteration"] == 1]
    journal(limited).write_bytes(b"".join(lines[:end]))
    for later in ("done-1.txt", "done-2.txt"):
        (limited / later).unlink()
    (limited / "mine.txt").write_text("changed while nothing ran\n")
    after, _ = completes(limited, "--max-iterations", "5")
    ends = [e for e in after if e["kind"] == "files_changed" and not e["live"] and e["seq"] > end]
    assert [(e["iteration"], [change["path"] for change in e["changes"]]) for e in ends] == [
        (iteration, [f"done-{iteration - 1}.txt"]) for iteration in (2, 3, 4)
    ]
    assert [(e["iteration"], e["files"]) for e in after if e["kind"] == "files_changed_away"] == [
        (1, 1)
    ]


def test_only_the_start_is_left(limited: Path) -> None:
    lines = journal(limited).read_bytes().splitlines(keepends=True)
    journal(limited).write_bytes(lines[0])
    completes(limited, "--max-iterations", "5")


def test_nothing_is_left(limited: Path) -> None:
    journal(limited).write_bytes(journal(limited).read_bytes()[:100])
    assert "the run never started" in refused(limited, code=1)


def test_an_open_question_is_asked_again(repo: Path) -> None:
    with start(*order(NOTHING), "--detached", cwd=repo) as process:
        until(lambda: [*repo.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")])
        until(lambda: kinds(repo, "question_asked"))
        process.kill()
    screen = Program(repo, "ralph_tui", "resume", attended=True)
    try:
        until(lambda: len(kinds(repo, "question_asked")) == 2)
        first, second = kinds(repo, "question_asked")
        assert first["text"] == second["text"]
        assert first["question_id"] != second["question_id"]
        until(lambda: "Make it pass" in screen.output.read_text(errors="replace"))
        assert "a question was open" in kinds(repo, "run_resumed")[0]["found"]
        until(lambda: second["text"].splitlines()[0] in here("decide", cwd=repo).stdout)
        assert here("unpause", cwd=repo).returncode == 0
        answered = until(lambda: kinds(repo, "question_answered"))[0]
        assert (answered["question_id"], answered["answer"]) == (second["question_id"], "continue")
    finally:
        screen.close()


# -- records -------------------------------------------------------------------------------------


def test_a_bad_line_in_the_middle(limited: Path) -> None:
    whole = journal(limited).read_bytes()
    rewrite(limited, 30, b'{"seq": 30, "kind"\n')
    said = refused(limited, "--max-iterations", "5")
    assert f"{journal(limited).relative_to(limited)}:30" in said
    # Every message about it names a command that works.
    works = "ralph-tui resume task-001/001 --from 29"
    assert f"'{works}' continues" in said
    assert f"{works} continues from here" in here("report", cwd=limited).stdout
    status = here("status", "task-001/001", cwd=limited).stdout
    assert f"{works} --max-iterations {SHORT + 5}" in status
    killed = journal(limited).with_name("status.json")
    fields = json.loads(killed.read_text()) | {"outcome": None, "phase": "agent"}
    killed.write_text(json.dumps(fields))
    assert f"unknown: its record ends abruptly here, without an outcome; {works}" in (
        here("status", cwd=limited).stdout
    )
    assert "--from" in refused(limited, "--from", "31", "--max-iterations", "5")
    broken = journal(limited).read_bytes()
    completes(limited, "--from", "29", "--max-iterations", "5")
    assert journal(limited).read_bytes().splitlines()[:29] == whole.splitlines()[:29]
    (aside,) = journal(limited).parent.glob("events.jsonl.*.bad")
    assert aside.read_bytes() == broken
    assert "without --from" in refused(limited, "--from", "29")


def test_of_a_bad_line_in_a_fleets_loop_no_way_of_a_single_run_is_named(
    limited: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "fleet" / "1-1" / "tree"
    shutil.copytree(limited, tree, symlinks=True)
    (tree.parent / "place.json").touch()
    rewrite(tree, 30, b'{"seq": 30, "kind"\n')
    said = refused(tree)
    assert "events.jsonl:30 cannot be read, so this loop of a fleet cannot continue" in said
    assert "'ralph-tui fleet run ... --base BRANCH'" in said
    output = [here(*words, cwd=tree).stdout for words in (["status"], ["report"])]
    assert "see ralph-tui fleet status" in output[1]
    for words in (said, *output):
        assert "ralph-tui resume" not in words


def test_a_newer_version_on_another_machine_whose_clock_is_ahead(limited: Path) -> None:
    last = events(limited)[-1]
    newer = {"seq": last["seq"] + 1, "at": last["at"], "kind": "teleported", "where": ["x"]}
    rewrite(limited, -1, json.dumps(newer).encode() + b"\n")
    elsewhere = {"host": "elsewhere", "root": "/home/somebody/project", "pid": 1}
    changed(limited, 1, schema_version=9, new_field={"a": 1}, **elsewhere)
    shifted = []
    for event in events(limited):
        at = datetime.fromisoformat(event["at"]) + timedelta(days=2)
        shifted.append(json.dumps(event | {"at": at.isoformat()}).encode() + b"\n")
    journal(limited).write_bytes(b"".join(shifted))
    after, _ = completes(limited, "--max-iterations", "4")
    assert events(limited)[newer["seq"] - 1]["where"] == ["x"]
    assert after[-1]["duration_s"] >= 0


def test_records_on_a_read_only_disk(limited: Path) -> None:
    script = 'mount --bind .aiwg .aiwg && mount -o remount,ro,bind .aiwg || exit 99; exec "$@"'
    words = ["resume", "--headless", "--max-iterations", "4"]
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *CLI, *words]
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare(1)")
    before = everything(limited)
    done = subprocess.run(command, cwd=limited, capture_output=True, text=True, check=False)
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 1, done.stderr
    assert "Read-only file system" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert everything(limited) == before


# -- the repository ------------------------------------------------------------------------------


def test_another_branch_and_hidden_refs_were_deleted(limited: Path) -> None:
    for ref in git(limited, "for-each-ref", "--format=%(refname)", "refs/ralph/").split():
        git(limited, "update-ref", "-d", ref)
    git(limited, "switch", "-qc", "other")
    git(limited, "add", "mine.txt")
    git(limited, "-c", "user.name=T", "-c", "user.email=t@e.x", "commit", "-qm", "second")
    head = git(limited, "rev-parse", "HEAD")
    git(limited, "reflog", "expire", "--expire=now", "--all")
    git(limited, "gc", "-q", "--prune=now")
    (limited / "mine.txt").write_text("changed\n")
    after, _ = completes(limited, "--max-iterations", "4")
    reported = [event["text"] for event in after if event["kind"] == "noticed"]
    assert any("snapshots are no longer in this repository" in t for t in reported)
    assert git(limited, "rev-parse", "HEAD") == head
    assert git(limited, "branch", "--show-current") == "other\n"


def test_cloned_again(limited: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(limited), "clone")
    clone = tmp_path / "clone"
    shutil.copytree(limited / ".aiwg", clone / ".aiwg")
    before = everything(limited)
    completes(clone, "--max-iterations", "7")
    assert everything(limited) == before


def test_the_repository_is_gone(limited: Path) -> None:
    shutil.rmtree(limited / ".git")
    assert "git" in refused(limited, "--max-iterations", "4")


# -- who asks ------------------------------------------------------------------------------------


def test_no_such_run(limited: Path, tmp_path: Path) -> None:
    assert "known runs: task-001/001" in refused(limited, "task-007")
    (tmp_path / "empty").mkdir()
    assert "no run recorded" in refused(tmp_path / "empty")


def test_no_agent_any_more(limited: Path) -> None:
    config = events(limited)[0]["config"] | {"agent.name": "claude"}
    changed(limited, 1, agent="claude", config=config)
    assert "no-claude-here" in refused(limited, "--max-iterations", "4")


def test_a_secret_in_the_command(limited: Path) -> None:
    changed(limited, 1, command=f"TOKEN={HIDDEN} {GATE}")
    assert "pass it again with -c" in refused(limited, "--max-iterations", "5")
    completes(limited, "--max-iterations", "5", "-c", f"TOKEN=tok_0123 {GATE}")


def test_one_that_waited_for_another_looks_again(limited: Path) -> None:
    found, more = resolve_run(limited, None), ResumeRequest(max_iterations="4", mode="headless")
    plan = plan_resume(
        limited, found, more, lambda recorded: load(limited, {}, {}, (), recorded).settings
    )
    completes(limited, "--max-iterations", "4")
    before = journal(limited).read_bytes()
    with (
        pytest.raises(UsageError, match="was continued by another resume"),
        resumed_run(limited, plan, print),
    ):
        pytest.fail("it resumed a completed run")
    assert journal(limited).read_bytes() == before


def test_a_copy_leaves_the_agent_of_the_original_alone(
    repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with working(repo) as process:
        copy = shutil.copytree(repo, tmp_path_factory.mktemp("copy") / "repo", symlinks=True)
        (copy / "go").touch()
        completes(copy)
        (repo / "go").touch()
        process.communicate()
    assert kinds(repo, "session_finished")[0]["outcome"] == "success"
    assert kinds(repo, "run_finished")[0]["outcome"] == "completed"
