"""``ralph-tui restore``: any point of a run comes back byte for byte, and can be undone."""

import json
import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.listing import list_rows
from ralph_tui.adapters.records.lock import acquire
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import header_lines
from tests.e2e.cli import GATE, Command, events_of, here, project, run, start
from tests.e2e.test_resume import everything, git, journal
from tests.e2e.tmux import Terminal
from tests.waiting import until

AGENT = (
    'cat >/dev/null; n=$(ls done-*.txt 2>/dev/null | wc -l); echo "step $n"; touch done-$n.txt; '
    r"case $n in 0) printf '#!/bin/sh\n' >tool.sh; chmod +x tool.sh; ln -s checks.sh link; "
    r"rm -r old.txt 'dir with space'; printf 'a\r\nb\n\0' >bytes.bin; echo more >>staged.txt;; "
    r"1) chmod -x tool.sh; ln -sfn README.md link; mkdir -p deep/er; echo x >deep/er/new.txt; "
    r"printf 'other\n' >bytes.bin; rm mine.txt;; esac"
)
"""Two iterations of everything that can become of a file."""
ORDER = ("run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command", AGENT)
WAITS = "cat >/dev/null; until [ -e go ]; do sleep 0.05; done"

World = dict[str, tuple[str, bytes, bool]]


def world(root: Path) -> World:
    """Every file of the user: its kind, its bytes, and whether it is executable."""
    found: World = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if name.startswith((".git/", ".aiwg")):
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()), False)
        elif path.is_file():
            found[name] = ("file", path.read_bytes(), os.access(path, os.X_OK))
        elif path.is_dir():
            found[name] = ("folder", b"", False)
    return found


def users_git(root: Path) -> dict[str, str | bytes]:
    return {
        "index": (root / ".git/index").read_bytes(),
        "head": (root / ".git/HEAD").read_bytes(),
        "refs": git(root, "for-each-ref", "refs/heads", "refs/stash"),
        "config": (root / ".git/config").read_bytes(),
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    """A run that has used both its iterations, and the state before it; tests copy it."""
    root = tmp_path_factory.mktemp("recorded") / "repo"
    (root / "dir with space").mkdir(parents=True)
    git(root, "init", "-q")
    project(root)
    for name in ("README.md", "old.txt", "staged.txt", "dir with space/ä.txt"):
        (root / name).write_text(f"{name}\n")
    (root / ".gitignore").write_text("*.log\n")
    me = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    git(root, "add", ".")
    git(root, *me, "commit", "-qm", "first")
    (root / "README.md").write_text("stashed\n")
    git(root, *me, "stash", "-q")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "staged.txt").write_text("staged, and changed again\n")
    (root / "mine.txt").write_text("untracked\n")
    (root / "own.log").write_text("ignored\n")
    before = world(root)
    done = here(*ORDER, "--headless", "--max-iterations", "2", cwd=root)
    assert done.returncode == ExitCode.LIMIT_REACHED, done.stderr
    return root, before


@pytest.fixture
def ended(recorded: tuple[Path, World], tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(recorded[0], tmp_path / "repo", symlinks=True))


@pytest.fixture
def before(recorded: tuple[Path, World]) -> World:
    """The files before the run."""
    return recorded[1]


def events(root: Path, *kinds: str) -> list[dict[str, Any]]:
    found = events_of(journal(root).read_text())
    return [event for event in found if not kinds or event["kind"] in kinds]


def restored(root: Path, *words: str, by: Command = here) -> str:
    done = by("restore", *words, cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(root: Path, *words: str, code: int = 1, by: Command = here) -> str:
    """The one-sentence refusal; asserts that the repository is unchanged."""
    untouched = everything(root)
    done = by("restore", *words, cwd=root)
    assert done.returncode == code, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("ralph-tui: ")
    now = everything(root)
    assert {**now, ".aiwg/ralph/lock": b""} == {**untouched, ".aiwg/ralph/lock": b""}
    return done.stderr


def test_it_comes_back_byte_for_byte_and_can_be_undone(ended: Path, before: World) -> None:
    after, mine, known = world(ended), users_git(ended), events(ended)
    said = restored(ended, "1", "--yes", by=run)
    assert world(ended) == before
    assert users_git(ended) == mine
    assert "undo: ralph-tui restore 4\n" in said
    new = events(ended)[len(known) :]
    assert [event["kind"] for event in new] == [
        *("snapshot_taken", "restore_began", "worktree_restored", "snapshot_taken")
    ]
    assert [event["seq"] for event in events(ended)] == list(range(1, len(known) + 5))
    assert (new[0]["number"], new[3]["number"]) == (4, 5)
    assert (new[2]["snapshot"], new[2]["present"]) == (1, 4)
    assert new[2]["by"].startswith(("a script (process ", "the terminal "))
    assert "undo: ralph-tui restore 6\n" in restored(ended, "4", "--yes")
    assert world(ended) == after
    assert users_git(ended) == mine
    listed = here("restore", cwd=ended).stdout.splitlines()
    assert [line.split()[0] for line in listed if line.startswith(" ↶")] == ["↶", "↶"]
    where = str(journal(ended).parent)
    said = restored(ended, "1", "--yes", "--run", where)
    assert f"undo: ralph-tui restore 8 --run {where}\n" in said
    restored(ended, "best", "--yes")
    assert world(ended) == after
    restored(ended, "iter-1", "--yes")
    between = world(ended)
    assert between["tool.sh"] == ("file", b"#!/bin/sh\n", True)
    assert between["link"] == ("link", b"checks.sh", False)
    assert between["bytes.bin"] == ("file", b"a\r\nb\n\0", False)
    assert {"mine.txt", "done-0.txt"} <= between.keys()
    assert not {"old.txt", "done-1.txt", "deep", "dir with space"} & between.keys()
    assert [line for line in listed if "before restoring snapshot 1" in line]


def test_the_list(ended: Path) -> None:
    out = restored(ended)
    lines = out.splitlines()
    assert lines[0] == "task-001/001: Make it pass"
    assert [line.strip("★ ").split()[0] for line in lines[1:4]] == ["1", "2", "3"]
    assert len(lines) == 5
    assert "0 %" in lines[1]
    assert "25 %" in lines[2]
    assert lines[3].startswith("★")
    assert "50 %" in lines[3]
    assert "★ best" in lines[4]
    assert restored(ended, "--run", "task-001/001") == out


def test_a_note_is_shown(ended: Path) -> None:
    """A note in the format of ``checkpoint --note``."""
    lines = journal(ended).read_text().splitlines(keepends=True)
    (last,) = [e["seq"] for e in events(ended, "checkpoint_captured") if e["snapshot"] == 3][-1:]
    lines[last - 1] = lines[last - 1].replace('"note":""', '"note":"before\\nthe big change"')
    journal(ended).write_text("".join(lines))
    (row,) = [line for line in restored(ended).splitlines() if "big change" in line]
    assert row.startswith("★    3 ")
    assert row.endswith("iteration 2: before⏎the big change")
    assert "iteration 2: before⏎the big change)" in restored(ended, "3", "--dry-run")
    report = here("report", "--full", cwd=ended).stdout
    assert "snapshot 3: before the big change\n" in report


def test_a_dry_run_only_shows(ended: Path) -> None:
    untouched = world(ended), journal(ended).read_bytes(), git(ended, "for-each-ref")
    said = restored(ended, "1", "--dry-run")
    assert (world(ended), journal(ended).read_bytes(), git(ended, "for-each-ref")) == untouched
    rows = {line.split()[1]: line.split()[0] for line in said.splitlines() if line[:2] == "  "}
    assert rows["old.txt"] == "added"
    assert rows["mine.txt"] == "added"
    assert rows["done-0.txt"] == "deleted"
    assert rows["deep/er/new.txt"] == "deleted"
    assert rows["staged.txt"] == "modified"
    assert "own.log" not in said


def test_changes_of_the_owner_are_shown_and_held(ended: Path) -> None:
    """Changes made since the run ended are never lost."""
    (ended / "later.txt").write_text("one\ntwo\n")
    (ended / "README.md").write_text("mine\n")
    after = world(ended)
    said = restored(ended, "iter-2", "--yes")
    assert "2 files, +1 −3 lines" in said
    assert "deleted   later.txt  +0 −2" in said
    assert not (ended / "later.txt").exists()
    restored(ended, "4", "--yes")
    assert world(ended) == after


def incomplete(root: Path, *words: str) -> tuple[list[str], list[str]]:
    """An incomplete restore: the plan's announcement, and the outcome."""
    done = here("restore", *words, "--yes", cwd=root)
    assert done.returncode == ExitCode.FAILED, done.stderr
    assert "undo: ralph-tui restore" in done.stdout
    lines = done.stdout.splitlines()
    named = [line.removeprefix("  unchanged: ") for line in lines if "  unchanged: " in line]
    number = f"{len(named)} file{'' if len(named) == 1 else 's'}"
    assert done.stderr.startswith(f"ralph-tui: {number} w")
    (reported,) = events(root, "worktree_restored")[-1:]
    rows = zip(reported["kept"], reported["reasons"], strict=True)
    assert [f"{path}: {why}" for path, why in rows] == named
    assert reported["kept_count"] == len(named)
    at = [index for index, line in enumerate(lines) if "of them cannot be restored:" in line]
    return [line.strip() for line in lines[at[0] + 1 :] if ": " in line] if at else [], named


def test_what_a_snapshot_does_not_hold_stays_and_is_said(ended: Path) -> None:
    with (ended / "huge.bin").open("wb") as file:
        file.truncate(10_000_001)
    (ended / "own.log").write_text("newer\n")
    _, named = incomplete(ended, "1")
    assert named == ["huge.bin: it is too large for a snapshot, unreadable, or one file too many"]
    assert (ended / "huge.bin").stat().st_size == 10_000_001
    assert (ended / "own.log").read_text() == "newer\n"
    said = restored(ended, "4", "--yes")
    assert "1 path that it does not contain stays unchanged: huge.bin" in said
    assert (ended / "huge.bin").stat().st_size == 10_000_001


def test_nothing_can_be_brought_back(ended: Path) -> None:
    restored(ended, "1", "--yes")
    with (ended / "huge.bin").open("wb") as file:
        file.truncate(10_000_001)
    known = len(events(ended))
    assert "nothing can be restored" in refused(ended, "1", "--yes")
    assert "  huge.bin: it is too large" in here("restore", "1", "--yes", cwd=ended).stdout
    assert len(events(ended)) == known


def test_each_that_is_left_alone_is_named_with_its_own_reason(ended: Path) -> None:
    (ended / "old.txt").mkdir()
    (ended / "old.txt" / "inner.log").write_text("ignored\n")
    (ended / "README.md").unlink()
    os.mkfifo(ended / "README.md")
    (ended / ".gitignore").write_text("*.log\nmine.txt\nnew/\n")
    (ended / "mine.txt").write_text("newer\n")
    (ended / "new").mkdir()
    (ended / "new" / "file").write_text("ignored until now\n")
    os.mkfifo(ended / "pipe")
    shown = restored(ended, "1", "--dry-run")
    there = world(ended)
    foretold, named = incomplete(ended, "1")
    assert "3 of them cannot be restored:\n" in shown
    assert all(f"  {row}\n" in shown for row in foretold[:3])
    reasons = [
        "mine.txt: a file, which no snapshot contains, is in its place",
        "new/file: git ignored it until now, so no snapshot contains it",
        "old.txt: a folder is in its place, with old.txt/inner.log, which no snapshot contains",
        "pipe: it is a named pipe, which no snapshot contains",
    ]
    assert named == reasons
    assert foretold[:3] == [reasons[0], reasons[2], reasons[3]]
    now = world(ended)
    assert now["mine.txt"] == there["mine.txt"]
    assert now["old.txt/inner.log"] == there["old.txt/inner.log"]
    assert (ended / "README.md").is_file(), "a pipe has no content to be lost"


def test_a_pipe_that_is_all_that_differs_gives_way(ended: Path) -> None:
    restored(ended, "1", "--yes")
    before = world(ended)
    (ended / "mine.txt").unlink()
    os.mkfifo(ended / "mine.txt")
    assert "cannot be restored" not in restored(ended, "1", "--dry-run")
    said = restored(ended, "1", "--yes")
    assert "1 file restored to snapshot 1" in said
    assert world(ended) == before
    undo = said.partition("undo: ralph-tui restore ")[2].split()[0]
    assert "1 path that it does not contain stays unchanged: mine.txt" in (
        here("restore", undo, "--dry-run", cwd=ended).stdout
    )
    _, named = incomplete(ended, undo)
    assert named == ["mine.txt: the snapshot could not save it"]


def test_a_repository_that_was_made_of_a_folder_is_named(ended: Path) -> None:
    restored(ended, "1", "--yes")
    before = world(ended)
    (ended / "dir with space/ä.txt").unlink()
    git(ended / "dir with space", "init", "-q")
    (ended / "dir with space/new.txt").write_text("new\n")
    foretold, named = incomplete(ended, "1")
    assert named == ["dir with space/.git/: it is a repository of its own, or cannot be read"]
    assert foretold[:1] == named
    made = {name for name in world(ended) if "/.git" in name}
    assert {name: what for name, what in world(ended).items() if name not in made} == before


def test_folders_that_go_are_not_in_the_way(ended: Path, before: World) -> None:
    """Some hold what was saved, some hold nothing."""
    (ended / "old.txt" / "one" / "two").mkdir(parents=True)
    (ended / "mine.txt" / "three").mkdir(parents=True)
    (ended / "mine.txt" / "inner.txt").write_text("held\n")
    assert "unchanged:" not in restored(ended, "1", "--yes")
    assert world(ended) == before


def test_a_link_in_the_place_of_a_folder_is_not_in_the_way(ended: Path) -> None:
    """Git refuses to answer about a path that lies behind a link."""
    (ended / "place").mkdir()
    (ended / "place" / "inner.txt").write_text("held\n")
    as_folder = world(ended)
    restored(ended, "1", "--yes")
    (ended / "place").symlink_to("README.md")
    as_link = world(ended)
    assert "unchanged:" not in restored(ended, "4", "--yes")
    assert world(ended) == as_folder
    assert "unchanged:" not in restored(ended, "6", "--yes")
    assert world(ended) == as_link


def test_the_plan_knows_the_link_that_will_be_left_alone(ended: Path) -> None:
    (ended / ".gitignore").write_text("*.log\nmine.txt\n")
    (ended / "mine.txt").symlink_to("/none")
    foretold, named = incomplete(ended, "1")
    assert named == ["mine.txt: a link, which no snapshot contains, is in its place"]
    assert foretold[0] == named[0]


# -- the record afterwards -----------------------------------------------------------------------


def test_the_outcome_stays_and_the_record_can_be_read(ended: Path) -> None:
    status = json.loads(here("status", "--json", cwd=ended).stdout)
    restored(ended, "iter-1", "--yes")
    now = json.loads(here("status", "--json", cwd=ended).stdout)
    moved = {"seq", "updated", "stale"}
    assert (status["stale"], now["stale"]) == (False, True), "the files were brought back since"
    assert {k: v for k, v in now.items() if k not in moved} == {
        k: v for k, v in status.items() if k not in moved
    }
    assert now["seq"] == len(events(ended))
    assert now["outcome"] == "limit_reached"
    report = here("report", cwd=ended)
    assert (report.returncode, report.stderr) == (0, "")
    replayed = here("replay", "--json", cwd=ended)
    assert replayed.returncode == 0, replayed.stderr
    assert "worktree_restored" in replayed.stdout
    outcome = json.loads((journal(ended).parent / "outcome.json").read_text())
    assert outcome["outcome"] == "limit_reached"
    projected = {path: path.read_bytes() for path in journal(ended).parent.glob("*.json")}
    assert here("rebuild", cwd=ended).returncode == 0
    assert {path: path.read_bytes() for path in projected} == projected


def header(root: Path) -> str:
    """The completion as the cockpit's header shows it."""
    state = RunState().apply_all(read_journal(journal(root)).events)
    return "".join(text for text, _ in header_lines(state, state.at, 120)[1])


def test_a_restore_that_was_undone_leaves_no_mark(ended: Path) -> None:
    measured = header(ended)
    assert " % ↶" not in measured
    restored(ended, "1", "--yes")
    assert " % ↶" in header(ended)
    assert [row.stale for row in list_rows(ended)] == [True]
    restored(ended, "4", "--yes")
    assert header(ended) == measured
    assert [row.stale for row in list_rows(ended)] == [False]
    (ended / "README.md").unlink()
    restored(ended, "iter-1", "--yes")
    (ended / ".gitignore").write_text("README.md\n")
    (ended / "README.md").write_text("in the way\n")
    done = here("restore", "3", "--yes", cwd=ended)
    assert done.returncode == ExitCode.FAILED
    assert " % ↶" in header(ended), "one file is another than was measured"


def test_a_resume_goes_on_with_the_restored_files(ended: Path) -> None:
    """The hour between the run and the restore does not count as work."""
    past = read_journal(journal(ended)).events
    earlier = [e.model_copy(update={"at": e.at - timedelta(hours=1)}) for e in past]
    journal(ended).write_text("".join(e.model_dump_json() + "\n" for e in earlier))
    restored(ended, "iter-1", "--yes")
    done = here("resume", "--headless", "--max-iterations", "9", cwd=ended)
    assert done.returncode == 0, done.stdout + done.stderr
    ends = [e for e in events(ended, "files_changed") if not e["live"] and e["iteration"] == 3]
    assert "done-1.txt" in [change["path"] for change in ends[0]["changes"]]
    assert events(ended, "files_changed_away") == []
    numbers = [e["number"] for e in events(ended, "snapshot_taken")]
    assert len(numbers) == len(set(numbers))
    assert [e["away_s"] > 3600 for e in events(ended, "run_resumed")] == [True]
    assert events(ended, "run_finished")[-1]["duration_s"] < 600
    # Completed runs too.
    known = world(ended)
    said = restored(ended, "iter-0", "--yes")
    assert not (ended / "done-0.txt").exists()
    restored(ended, said.split()[-1], "--yes")
    assert world(ended) == known
    assert json.loads(here("status", "--json", cwd=ended).stdout)["outcome"] == "completed"


def test_a_run_that_was_killed(ended: Path, before: World) -> None:
    """A journal without an end and with a torn line."""
    lines = journal(ended).read_bytes().splitlines(keepends=True)
    (end,) = [e["seq"] for e in events(ended, "iteration_finished") if e["iteration"] == 2]
    journal(ended).write_bytes(b"".join(lines[:end]) + lines[end][:20])
    restored(ended, "1", "--yes")
    assert world(ended) == before
    assert events(ended)[end]["kind"] == "snapshot_taken"
    assert "its process is gone" in here("status", cwd=ended).stdout


def test_one_that_was_cut_off_is_finished_by_the_resume(ended: Path) -> None:
    after = world(ended)
    restored(ended, "iter-1", "--yes")
    lines = journal(ended).read_bytes().splitlines(keepends=True)
    (began,) = events(ended, "restore_began")
    journal(ended).write_bytes(b"".join(lines[: began["seq"]]))
    (ended / "tool.sh").write_text("half-written\n")
    assert "↶   4" in restored(ended)
    done = here("resume", "--headless", "--max-iterations", "9", cwd=ended)
    assert done.returncode == 0, done.stdout + done.stderr
    (reported,) = events(ended, "worktree_restored")
    assert (reported["snapshot"], reported["present"], reported["paths"]) == (2, 4, ["tool.sh"])
    restored(ended, "4", "--yes")
    assert world(ended) == after


def test_nothing_is_to_be_done(ended: Path) -> None:
    known = journal(ended).read_bytes()
    assert "no changes" in restored(ended, "best", "--yes")
    assert journal(ended).read_bytes() == known


def test_snapshots_nobody_recorded_keep_their_numbers(ended: Path) -> None:
    newest = git(ended, "for-each-ref", "--format=%(refname)", "refs/ralph/").split()[-1]
    git(ended, "update-ref", newest.replace("/003", "/017"), newest)
    assert "undo: ralph-tui restore 18\n" in restored(ended, "1", "--yes")


# -- refusals ------------------------------------------------------------------------------------


def test_what_is_no_point(ended: Path) -> None:
    for word in ("7", "0", "iter-9"):
        assert "omit the number to list" in refused(ended, word, "--yes", code=2)
    for word in ("iter-", "worst", "1.5", "iter-iter-1", "²", "iter-\nx", "+1"):
        assert "use a number, best, or iter-N" in refused(ended, word, "--yes", code=2)
    # Also without a user to ask.
    assert "no snapshot 99 in this run" in refused(ended, "99", code=2)
    assert "'foo' is not a snapshot" in refused(ended, "foo", code=2)


def test_nobody_can_be_asked(ended: Path) -> None:
    assert "not a terminal; use --yes to confirm" in refused(ended, "1", code=2)


def test_the_refs_were_pruned(ended: Path) -> None:
    for ref in git(ended, "for-each-ref", "--format=%(refname)", "refs/ralph/").split():
        git(ended, "update-ref", "-d", ref)
    assert "no longer has snapshot 1 (pruned" in refused(ended, "1", "--yes")
    listed = here("restore", cwd=ended).stdout
    assert listed.count("(not in the repository)") == 3


def test_one_ref_is_gone(ended: Path) -> None:
    first = git(ended, "for-each-ref", "--format=%(refname)", "refs/ralph/").split()[0]
    git(ended, "update-ref", "-d", first)
    listed = here("restore", cwd=ended).stdout.splitlines()
    assert ["not in the" in line for line in listed[1:4]] == [True, False, False]


def test_a_content_is_gone(ended: Path) -> None:
    """Found before anything is touched, although the tree is there."""
    tree = events(ended, "snapshot_taken")[0]["tree"]
    blob = git(ended, "rev-parse", f"{tree}:mine.txt").strip()
    (ended / ".git/objects" / blob[:2] / blob[2:]).unlink()
    untouched = world(ended), journal(ended).read_bytes()
    done = here("restore", "1", "--yes", cwd=ended)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert (world(ended), journal(ended).read_bytes()) == untouched


def test_cloned_again(ended: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(ended), "clone")
    shutil.copytree(ended / ".aiwg", tmp_path / "clone/.aiwg")
    assert "no longer has snapshot 1" in refused(tmp_path / "clone", "1", "--yes")


def test_the_repository_is_gone(ended: Path) -> None:
    shutil.rmtree(ended / ".git")
    assert "git" in refused(ended, "1", "--yes", code=2)
    done = here("restore", cwd=ended)
    assert done.returncode == 0
    assert done.stdout.count("not in the repository") == 3


def test_a_run_of_another_worktree(ended: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "other")
    where = str(journal(ended).parent)
    done = here("restore", "1", "--yes", "--run", where, cwd=other)
    assert done.returncode == 2
    assert "is not a run of this worktree" in done.stderr
    assert "Make it pass" in here("restore", "--run", where, cwd=other).stdout


def test_a_copied_record_says_where_its_snapshots_are(ended: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(journal(ended).parent, tmp_path / "elsewhere/copy")
    worked_in = events(ended, "run_started")[0]["root"]
    where = f"the snapshots are in the repository in which the run worked, {worked_in}"
    listed = here("restore", "--run", "copy", cwd=copy.parent)
    assert where in listed.stderr
    assert "git init" not in listed.stderr
    assert "no longer in the repository" not in listed.stdout
    assert where in here("restore", "1", "--run", "copy", cwd=copy.parent).stderr
    page = here("report", "copy", cwd=copy.parent).stdout
    assert f"The net difference is unknown: {where}" in page
    assert "`ralph-tui report copy --full`" in page


def test_a_bad_line(ended: Path) -> None:
    lines = journal(ended).read_bytes().splitlines(keepends=True)
    lines[-3] = b'{"seq"\n'
    journal(ended).write_bytes(b"".join(lines))
    said = refused(ended, "1", "--yes")
    assert f"events.jsonl:{len(lines) - 2}" in said
    assert "nothing was restored" in said


def test_another_process_owns_the_worktree(ended: Path) -> None:
    lock = acquire(ended / ".aiwg/ralph/lock", "task-009/001", "", "now")
    try:
        assert "owns this worktree" in refused(ended, "1", "--yes", code=2, by=run)
    finally:
        lock.release()


# -- terminals, and living runs ------------------------------------------------------------------


def test_it_asks_on_a_terminal(ended: Path) -> None:
    after = world(ended)
    terminal = Terminal(["restore", "1"], ended, width=100, height=40)
    try:
        terminal.shows("Change", "Your current files are saved first. [y/N]")
        terminal.type("n")
        terminal.press("Enter")
        assert terminal.exit_code() == 1
    finally:
        terminal.close()
    assert world(ended) == after


def test_a_yes_counts_for_what_was_shown(ended: Path, before: World) -> None:
    terminal = Terminal(["restore", "1"], ended, width=100, height=40)
    try:
        terminal.shows("Your current files are saved first. [y/N]")
        assert (ended / "done-0.txt").exists()
        (ended / "mine.md").write_text("written while the question stood there\n")
        terminal.type("y")
        terminal.press("Enter")
        terminal.shows("now more files would change:", "mine.md")
        assert (ended / "mine.md").exists()
        terminal.type("y")
        terminal.press("Enter")
        assert terminal.exit_code() == 0
    finally:
        terminal.close()
    assert world(ended) == before


def test_a_living_run_refuses_unless_it_is_paused(git_repo: Path) -> None:
    agent = ("--agent", "command", "--agent-command", WAITS, "--max-iterations", "3")
    with start("run", "Work", "-c", "false", *agent, "--headless", cwd=git_repo) as process:
        try:
            until(lambda: [*git_repo.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")])
            until(lambda: events(git_repo, "session_started"))
            (git_repo / "README.md").write_text("by hand\n")
            done = here("restore", "1", "--yes", cwd=git_repo)
            assert done.returncode == 1
            assert "pause the run" in done.stderr
            assert (git_repo / "README.md").read_text() == "by hand\n"
            assert here("pause", cwd=git_repo).returncode == 0
            (git_repo / "go").touch()
            until(lambda: events(git_repo, "paused"))
            assert "README.md" in restored(git_repo, "1", "--dry-run")
            said = restored(git_repo, "1", "--yes")
            assert (git_repo / "README.md").read_text() == "# sample\n"
            assert not (git_repo / "go").exists()
            (reported,) = events(git_repo, "worktree_restored")
            assert f"undo: ralph-tui restore {reported['present']}\n" in said
            assert "after the session of iteration 1" in restored(git_repo)
            process.send_signal(signal.SIGINT)
            process.communicate()
        finally:
            process.kill()
            process.communicate()
    assert said.startswith("back to snapshot 1")
    restored(git_repo, str(reported["present"]), "--yes")
    assert (git_repo / "README.md").read_text() == "by hand\n"
