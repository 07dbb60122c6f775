"""Pruning and reporting as users do it, on runs that really were; and records that are damaged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, ONE_MORE, here, project, start
from tests.e2e.tmux import Terminal
from tests.paths import ROOT
from tests.waiting import until

ORDER = ("-c", GATE, "--headless", "--agent", "command", "--agent-command")


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def made(root: Path) -> Path:
    """Make a finished run and return its folder."""
    done = here("run", "Make the checks pass", *ORDER, ONE_MORE, cwd=project(root))
    assert done.returncode == 0, done.stderr
    return root / ".aiwg/ralph/tasks/task-001/attempts/001"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a finished run; read-only."""
    root = tmp_path_factory.mktemp("finished") / "repo"
    root.mkdir()
    git(root, "init", "-q")
    made(root)
    return root


@pytest.fixture
def repo(finished: Path, tmp_path: Path) -> Path:
    """A copy of it: the records have come here from elsewhere, times, lock and all."""
    return Path(shutil.copytree(finished, tmp_path / "repo", symlinks=True))


def attempt(root: Path) -> Path:
    return root / ".aiwg/ralph/tasks/task-001/attempts/001"


def hidden(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname)", "refs/ralph").splitlines()


def present(folder: Path) -> set[str]:
    """Paths of all files but git's."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path.as_posix() for path in found if path.parts[0] != ".git"}


# -- prune -----------------------------------------------------------------------------------------


def test_a_pruned_run_can_still_be_replayed_and_reported(repo: Path) -> None:
    assert "nothing to prune; the newest 5 runs are kept" in here("prune", cwd=repo).stdout
    before, refs = present(repo), hidden(repo)
    status = git(repo, "status", "--porcelain=v2")
    replayed = here("replay", "--json", cwd=repo).stdout
    output = here("prune", "--keep", "0", "--dry-run", cwd=repo)
    assert output.returncode == 0, output.stderr
    paths = {line.strip() for line in output.stdout.splitlines() if line.startswith("  ")}
    assert present(repo) == before, "to list is not to touch"

    done = here("prune", "--keep", "0", "--yes", cwd=repo)
    assert done.returncode == 0, done.stderr
    gone = {str(repo / path) for path in before - present(repo)}
    assert gone | set(refs) == paths, "exactly what was listed"
    assert {Path(path).name for path in gone} == {
        *("transcript.jsonl", "stderr.log", "verification.log")
    }
    assert hidden(repo) == []
    assert f"and {len(refs)} snapshots; git frees the space" in done.stdout
    assert git(repo, "status", "--porcelain=v2") == status
    assert here("replay", "--json", cwd=repo).stdout == replayed
    report = here("report", "--full", cwd=repo)
    assert report.returncode == 0, report.stderr
    assert "**Completed:** the completion command passed after iteration 4" in report.stdout
    assert f"none of {len(refs)} snapshots of the files remain on" in report.stdout
    for keep, words in (("0", "prune\n"), ("1", "prune; the newest run is kept\n")):
        assert words in here("prune", "--keep", keep, "--yes", cwd=repo).stdout


def test_a_report_counts_the_snapshots_that_are_there(repo: Path) -> None:
    refs = hidden(repo)
    whole = here("report", "--full", cwd=repo).stdout
    assert f"- {len(refs)} snapshots of the files, on `refs/ralph/" in whole
    assert "- Permissions: unrestricted: a shell command may do anything\n" in whole
    assert "Between the start and the end:\n\n| category | files |" in whole
    git(repo, "update-ref", "-d", refs[0])
    output = here("report", "--full", cwd=repo).stdout
    assert f"- {len(refs) - 1} of {len(refs)} snapshots of the files, on `refs/ralph/" in output
    assert "; 1 gone (pruned" in output
    shutil.rmtree(repo / ".git")
    asked = here("report", "--full", cwd=repo)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert f"- {len(refs)} snapshots of the files, as recorded, on `refs/ralph/" in asked.stdout
    assert "The net difference is unknown" in asked.stdout


def test_a_status_names_the_bad_line(repo: Path) -> None:
    journal = attempt(repo) / "events.jsonl"
    assert "journal" not in here("status", cwd=repo).stdout
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[4] = b"not an event\n"
    journal.write_bytes(b"".join(lines))
    output = here("status", cwd=repo)
    assert output.returncode == 0, output.stderr
    where = journal.relative_to(repo)
    replay = f"ralph-tui replay {where.parent}"
    sentence = f"{where}:5 cannot be read; {replay} shows the earlier events"
    assert output.stdout.endswith(f"journal     {sentence}\n")
    assert json.loads(here("status", "--json", cwd=repo).stdout)["problem"] == sentence


def test_without_a_yes_nothing_is_removed(repo: Path) -> None:
    before = present(repo)
    done = here("prune", "--keep", "0", cwd=repo)
    assert done.returncode == 2
    assert "transcript.jsonl" in done.stdout
    assert done.stderr == (
        "ralph-tui: not a terminal; use ralph-tui prune --yes to confirm, or --dry-run\n"
    )
    assert present(repo) == before


def test_a_terminal_is_asked(repo: Path) -> None:
    before = present(attempt(repo))
    terminal = Terminal(["prune", "--keep", "0"], repo, width=120, height=40)
    try:
        terminal.shows("Remove 13 files", "[y/N]")
        assert present(attempt(repo)) == before
        terminal.type("y")
        terminal.press("Enter")
        assert terminal.exit_code() == 0
    finally:
        terminal.close()
    assert len(before) - len(present(attempt(repo))) == 13


def test_a_living_run_is_named_and_keeps_everything(repo: Path) -> None:
    for made in repo.glob("done-*.txt"):
        made.unlink()
    hold = "cat >/dev/null; echo here; touch up; while [ -e up ]; do sleep 0.1; done"
    with start("run", "Another task", *ORDER, hold, "--max-iterations", "1", cwd=repo) as process:
        try:
            until((repo / "up").exists)
            living = repo / ".aiwg/ralph/tasks/task-002/attempts/001"
            # Files that are just being written have other names yet.
            before = {path for path in present(living) if not path.endswith(".tmp")}
            refs = set(hidden(repo))
            done = here("prune", "--keep", "0", "--dead", "--orphans", "--yes", cwd=repo)
            assert done.returncode == 0, done.stderr
            assert f"kept: task-002/001: it is running (process {process.pid})" in done.stdout
            assert present(living) >= before
            run_id = json.loads((living / "events.jsonl").read_text().splitlines()[0])["run_id"]
            mine = {ref for ref in refs if run_id in ref}
            assert mine
            assert mine <= set(hidden(repo))
            assert "**Still running:** iteration 1 of 1" in here("report", cwd=repo).stdout
        finally:
            (repo / "up").unlink(missing_ok=True)
            process.communicate()


def test_orphans_only_when_asked_and_never_those_of_another_worktree(repo: Path) -> None:
    git(
        repo,
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    )
    other = repo.parent / "other"
    git(repo, "worktree", "add", "-q", "--detach", str(other))
    shutil.move(repo / ".aiwg", other / ".aiwg")
    refs = hidden(repo)
    assert refs
    assert "nothing to prune" in here("prune", "--keep", "0", "--orphans", "--yes", cwd=repo).stdout
    assert hidden(repo) == refs
    shutil.rmtree(other)
    lost = here("prune", "--orphans", "--yes", cwd=repo)
    assert lost.returncode == 1
    assert "look like orphans" in lost.stderr
    git(repo, "worktree", "prune")
    assert "nothing to prune" in here("prune", "--keep", "0", "--yes", cwd=repo).stdout
    assert hidden(repo) == refs
    done = here("prune", "--orphans", "--yes", cwd=repo)
    assert f"orphaned run {refs[0].split('/')[2]}: {len(refs)} snapshots" in done.stdout
    assert hidden(repo) == []


def test_what_it_does_not_understand(repo: Path) -> None:
    for words, sentence in (
        (
            ("--older-than", "a while"),
            "--older-than takes an age such as 12h or 30d, not 'a while'",
        ),
        (("--older-than", "nan"), "--older-than takes an age such as 12h or 30d, not 'nan'"),
        (("--keep", "-1"), "--keep takes a number of runs, not -1"),
        (("--keep", "all"), "--keep takes a whole number, not 'all'"),
    ):
        done = here("prune", *words, "--yes", cwd=repo)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1


# -- report ----------------------------------------------------------------------------------------


def test_a_report_goes_into_a_file_that_is_not_there_yet(repo: Path) -> None:
    page = here("report", "--full", cwd=repo).stdout
    assert "In `.aiwg/ralph/tasks/task-001/attempts/001`:" in page
    assert str(repo) not in page
    done = here("report", "task-001/001", "--full", "-o", "page.md", cwd=repo)
    assert (done.returncode, done.stdout) == (0, "")
    assert (repo / "page.md").read_text() == page
    (repo / "page.md").write_text("mine")
    refused = here("report", "-o", "page.md", cwd=repo)
    assert refused.returncode == 2
    assert "page.md already exists; choose another name or pass --force" in refused.stderr
    assert (repo / "page.md").read_text() == "mine"
    assert here("report", "--full", "-o", "page.md", "--force", cwd=repo).returncode == 0
    assert (repo / "page.md").read_text() == page
    for target, sentence in ((".", "already exists"), ("no/page.md", "no folder no; create it")):
        assert sentence in here("report", "-o", target, cwd=repo).stderr


# -- damaged and foreign records -------------------------------------------------------------------


def test_a_bad_line_is_named_and_what_comes_before_it_is_told(repo: Path) -> None:
    journal = attempt(repo) / "events.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    bad = next(n for n, line in enumerate(lines) if '"iteration_started","iteration":3' in line)
    journal.write_text("".join([*lines[:bad], "not json\n", *lines[bad + 1 :]]))
    named = f"{journal.relative_to(repo)}:{bad + 1}"
    sentence = f"{named} cannot be read; only earlier events are shown"

    replay = here("replay", "--json", cwd=repo)
    assert len(replay.stdout.splitlines()) == bad
    assert replay.stderr == f"ralph-tui: {sentence}\n"
    report = here("report", cwd=repo)
    assert report.returncode == 0, report.stderr
    assert "The record stops in iteration 2" in report.stdout
    assert f"\n\n{sentence}\n\n" in report.stdout
    terminal = Terminal(["replay"], repo, width=80, height=30)
    try:
        terminal.shows("REPLAY")
        terminal.press("End")
        terminal.shows(named, "iteration 2", "no end was recorded")
        terminal.press("q")
        assert terminal.exit_code() == 0
    finally:
        terminal.close()


def test_the_first_line_has_to_be_ours(repo: Path) -> None:
    journal = attempt(repo) / "events.jsonl"
    for text, sentence in (
        ("", f"the journal {journal} is empty; the run never started"),
        (
            "x\n",
            f"{journal}:1 is not a line of a ralph-tui journal; choose the events.jsonl of a run",
        ),
    ):
        journal.write_text(text)
        (attempt(repo) / "status.json").unlink(missing_ok=True)
        for command in ("report", "replay", "status"):
            done = here(command, cwd=repo)
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == f"ralph-tui: {sentence}\n"


def test_a_run_of_another_machine_can_be_looked_at(repo: Path, tmp_path: Path) -> None:
    """Only its folder was copied: no lock, no git, no worktree around it."""
    folder = Path(shutil.copytree(attempt(repo), tmp_path / "mail" / "from-a-colleague"))
    journal = folder / "events.jsonl"
    cut = journal.read_text().splitlines(keepends=True)[:-3]
    journal.write_text("".join(cut))
    (folder / "status.json").unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in (str(folder), str(journal)):
        status = here("status", name, cwd=empty)
        assert status.returncode == 0, status.stderr
        assert "no end was recorded in this copy" in status.stdout
        assert "resume" not in status.stdout
        assert len(here("replay", "--json", name, cwd=empty).stdout.splitlines()) == len(cut)
        report = here("report", name, cwd=empty)
        assert report.returncode == 0, report.stderr
        assert "**Unknown:** no end was recorded in this copy" in report.stdout
    assert list(empty.iterdir()) == []


def test_records_without_git_around_them_are_pruned_of_files(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    done = here("prune", "--keep", "0", "--yes", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert "removed 13 files (" in done.stdout
    assert here("prune", "--orphans", "--yes", cwd=repo).returncode == 2


def test_deleted_hidden_refs_do_not_matter(repo: Path) -> None:
    for ref in hidden(repo):
        git(repo, "update-ref", "-d", ref)
    assert here("report", cwd=repo).returncode == 0
    done = here("prune", "--keep", "0", "--yes", cwd=repo)
    assert done.returncode == 0, done.stderr
    assert "removed 13 files (" in done.stdout


READ_ONLY = """\
mount --bind .aiwg .aiwg && mount -o remount,ro,bind .aiwg || exit 99
"$@"
"""


EACH = """
import json, sys
from pathlib import Path
from tests.e2e.cli import here
done = [here(*words, cwd=Path.cwd()) for words in json.loads(sys.argv[1])]
print(json.dumps([[each.returncode, each.stdout, each.stderr] for each in done]))
"""
"""A process that runs several command lines: code, output and errors of each."""


@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0,
    reason="needs a namespace of mounts",
)
def test_read_only_records_can_be_looked_at_and_no_more(repo: Path) -> None:
    commands = (
        ("status",), ("report",), ("replay",), ("prune", "--keep", "0", "--yes"),
        ("run", "x", *ORDER, "true"),
    )  # fmt: skip
    before = present(repo)
    under = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", sys.executable, "-c", EACH]
    words = [*under, json.dumps(commands)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=repo, env=environ, capture_output=True, text=True, check=True)
    *looked, pruned, refused = json.loads(done.stdout)
    assert [(code, errors) for code, _, errors in looked] == [(0, "")] * 3
    code, said, errors = pruned
    assert code == 1
    assert "Read-only file system; make its folder writable and try again" in errors
    assert "removed 0 files" in said
    code, _, errors = refused
    assert code == 1
    assert "Read-only file system" in errors
    assert len(errors.splitlines()) == 1
    assert present(repo) == before
