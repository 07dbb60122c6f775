"""Files derived from a journal can be rebuilt, and garbage in their place is harmless."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, ONE_MORE, here, project, start

AGENT = ("--agent", "command", "--agent-command")
TASK = Path(".aiwg/ralph/tasks/task-001")
FILES = (
    *("metadata.json", "trajectory.json", "summary.json", "reflections.jsonl"),
    *("../../index/by-status.json", "../../index/by-agent.json"),
    *("attempts/001/attempt.json", "attempts/001/outcome.json", "attempts/001/plan.md"),
    *("attempts/001/actions.jsonl", "attempts/001/status.json"),
    *(f"attempts/001/results/iter-{k:03}/assessment.json" for k in (0, 1)),
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a run whose agent reports no tools; each test copies them."""
    root = project(tmp_path_factory.mktemp("kept"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    done = here("run", "Make the checks pass", "-c", GATE, *AGENT, ONE_MORE, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture
def over(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "over", symlinks=True))


def projections(root: Path) -> dict[str, bytes]:
    return {name: (root / TASK / name).read_bytes() for name in FILES}


def test_deleted_projections_come_back_byte_for_byte(over: Path) -> None:
    before = projections(over)
    for name in FILES:
        (over / TASK / name).unlink()
    done = here("rebuild", cwd=over)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 run and 1 task rebuilt from the journals\n"
    assert projections(over) == before
    assert here("status", "--line", cwd=over).stdout.startswith("✓ 100 %")


def test_garbage_is_kept_under_another_name_and_said(over: Path) -> None:
    before = projections(over)
    for name in FILES:
        (over / TASK / name).write_bytes(b"\xff{garbage\n")
    done = here("rebuild", "task-001/001", cwd=over)
    assert done.returncode == 0, done.stderr
    assert projections(over) == before
    said = [line for line in done.stdout.splitlines() if "an unreadable file was saved" in line]
    kept = [*(over / TASK).parent.parent.rglob("*.bad")]
    assert len(said) == len(kept) == len(FILES)
    assert all(any(path.name in line for line in said) for path in kept)


def test_a_living_run_keeps_its_files_itself(git_repo: Path) -> None:
    agent = (*AGENT, "echo works; cat; sleep 60")
    with start("run", "x", "-c", "false", *agent, "--json", cwd=git_repo) as process:
        assert process.stdout is not None
        while "session_started" not in process.stdout.readline():
            pass
        done = here("rebuild", cwd=git_repo)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert done.returncode == 2
    assert "task-001/001" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_agent_that_writes_garbage_over_the_records_breaks_nothing(git_repo: Path) -> None:
    spoil = (
        f"cd {TASK} && for f in metadata.json trajectory.json attempts/001/attempt.json "
        "attempts/001/actions.jsonl attempts/001/status.json; do rm -rf $f; "
        "case $n in 0) echo '{' > $f;; 1) mkdir $f;; *) ln -s /nowhere/at/all $f;; esac; done"
    )
    root = project(git_repo)
    done = here("run", "Make them pass", "-c", GATE, *AGENT, f"{ONE_MORE}; {spoil}", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    before = projections(root)
    assert here("rebuild", cwd=root).returncode == 0
    assert projections(root) == before


def test_what_a_command_does_without_telling_is_on_record(over: Path) -> None:
    before = projections(over)
    lines = [json.loads(line) for line in before["attempts/001/actions.jsonl"].splitlines()]
    assert [(line["iteration"], line["type"], line["derived"]) for line in lines] == [
        (k, kind, True) for k in range(1, 5) for kind in ("task", "write")
    ]
    assert lines[1]["params"] == {"file_path": "done-0.txt"}
    record = json.loads(before["attempts/001/attempt.json"])
    assert record["execution"]["actions_performed"] == len(lines)


def test_of_a_journal_with_a_bad_line_nothing_is_written_anew(over: Path) -> None:
    journal = over / TASK / "attempts/001/events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:50], b"garbage\n", *lines[51:]]))
    whole, before = journal.read_bytes(), projections(over)
    done = here("rebuild", cwd=over)
    assert done.returncode == 1
    assert "events.jsonl:51" in done.stderr
    assert "--from 50" in done.stderr
    assert journal.read_bytes() == whole
    assert projections(over) == before


def test_a_run_that_lies_elsewhere_is_rebuilt_where_it_lies(over: Path, tmp_path: Path) -> None:
    before = projections(over)
    copy = Path(shutil.copytree(over / TASK / "attempts/001", tmp_path / "kept"))
    (copy / "attempt.json").unlink()
    done = here("rebuild", str(copy), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (copy / "attempt.json").read_bytes() == before["attempts/001/attempt.json"]
    assert {path.name for path in tmp_path.iterdir()} == {"over", "kept"}, "no lock, no task"


def test_where_nothing_was_recorded_that_is_said(tmp_path: Path) -> None:
    done = here("rebuild", cwd=tmp_path)
    assert done.returncode == 2
    assert "no run recorded" in done.stderr
    assert not (tmp_path / ".aiwg").exists()
