"""A journal that was copied from elsewhere: it replays, and no path in it leads anywhere."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.listing import list_rows
from ralph_tui.adapters.search.documents import handoffs
from ralph_tui.runtime.sources.recorded import opened
from tests.e2e.cli import here
from tests.fixtures.journals.make import FOLDER
from tests.tui.driving import Driver, drive

WITHIN = Path(".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl")
"""A journal in its worktree."""
SECRET = "NOT-FOR-THE-SCREEN"
PATHS = (
    "path", "system_context", "transcript", "log", "read_at", "made_at", "copy_path", "root",
    "plan",
)  # fmt: skip
"""Fields of events that name files."""
KINDS = (
    "run_started", "iteration_started", "prompt_prepared", "session_started", "handoff_written",
    "gate_finished", "checkpoint_captured", "iteration_finished",
)  # fmt: skip


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that a record could only name to lead astray."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("secret.md", "handoff-1.md", "prompt.md"):
        (folder / name).write_text(f"# {SECRET}\n")
    return folder


def ways(outside: Path, folder: Path) -> Iterator[str]:
    """Spellings of a path that ends outside `folder`."""
    yield "../outside/secret.md"
    yield "results/../../outside/secret.md"
    yield str(outside / "secret.md")
    yield f"{folder}/../outside/secret.md"
    yield "linked.md"
    yield "linked/secret.md"
    yield "fifo"
    yield "linked/../../outside/secret.md"


def copied(folder: Path, way: str) -> Path:
    """A run with a prompt and a handoff, every path in it changed to `way`."""
    kept = [*lines_of("v1-stuck"), *lines_of("v1-step9-context")]
    begun = [next(e for e in kept if e["kind"] == kind) for kind in KINDS]
    events = [
        event | {"seq": seq, "iteration": 1} | {key: way for key in PATHS if key in event}
        for seq, event in enumerate(begun, 1)
    ]
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


@pytest.mark.parametrize("name", ["v1-step9-context", "v1-stuck", "v1-checkpoint-memory"])
def test_it_replays_from_any_folder(tmp_path: Path, name: str) -> None:
    """Without its repository, its lock, its files."""
    folder = tmp_path / "from the other machine"
    folder.mkdir()
    shutil.copy(FOLDER / f"{name}.jsonl", folder / "events.jsonl")
    events = lines_of(name)
    for said in (str(folder), str(folder / "events.jsonl"), "."):
        cwd = folder if said == "." else tmp_path
        done = here("replay", said, "--headless", "--json", cwd=cwd)
        assert done.returncode == 0, done.stderr
        assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == [
            event["kind"] for event in events
        ]
    for command in ("report", "status"):
        done = here(command, str(folder), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert events[0]["objective"] in done.stdout
    shutil.move(folder / "events.jsonl", tmp_path / "kept.jsonl")
    assert here("replay", "kept.jsonl", "--headless", cwd=tmp_path).returncode == 0


def test_no_path_in_it_is_followed_out_of_its_folder(tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    (folder / "linked.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "fifo")
    for way in ways(outside, folder):
        copied(folder, way)
        for command in (
            ("replay", str(folder), "--headless"),
            ("replay", str(folder), "--headless", "--json"),
            ("report", str(folder)),
            ("status", str(folder)),
            ("prompt", "show", str(folder), "--iteration", "1"),
        ):
            done = here(*command, cwd=tmp_path)
            assert SECRET not in done.stdout + done.stderr, (way, command)
            assert "Traceback" not in done.stderr
            if command[0] == "prompt":
                assert done.returncode == 1
                assert done.stderr.count("\n") == 1


def test_no_pane_opens_what_lies_outside(tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    (folder / "linked").symlink_to(outside)
    (folder / "inside.md").write_text("what was sent")
    start, begun, prompt, *_ = map(json.loads, copied(folder, "x").read_text().splitlines())
    ways = ("../outside/secret.md", str(outside / "secret.md"), "linked/secret.md", "inside.md")
    sent = [prompt | {"seq": seq, "path": way} for seq, way in enumerate(ways, 3)]
    journal = folder / "events.jsonl"
    journal.write_text("".join(json.dumps(event) + "\n" for event in (start, begun, *sent)))

    async def scenario(driver: Driver) -> None:
        await driver.press("8", "z")
        for sees in ("outside its own folder", "cannot be read", "what was sent"):
            await driver.sees(sees)
        assert SECRET not in "\n".join(driver.text())

    drive(Driver(opened(read_journal(journal))), scenario)


def test_a_link_in_the_place_of_results_is_not_searched(tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "copied"
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "iter-001").symlink_to(outside)
    assert list(handoffs(folder, 1)) == []
    (folder / "results" / "iter-002").mkdir()
    (folder / "results" / "iter-002" / "handoff-1.md").write_text("left")
    assert list(handoffs(folder, 2)) == ["left"]


def test_of_a_copy_without_an_end_nobody_knows_here_whether_it_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    shutil.copy(FOLDER / "v1-steady.jsonl", folder / "events.jsonl")
    done = here("status", str(folder), cwd=tmp_path)
    first, *_ = done.stdout.splitlines()
    assert first == (
        "◇ unknown: no end was recorded in this copy; "
        "check the original to see whether the run continues"
    )
    assert "resume" not in done.stdout
    output = json.loads(here("status", str(folder), "--json", cwd=tmp_path).stdout)
    assert (output["phase"], output["verdict_word"]) == ("unheard", "unknown")


def test_a_run_whose_process_is_gone_has_one_word_in_every_list(tmp_path: Path) -> None:
    folder = tmp_path / ".aiwg" / "ralph" / "tasks" / "task-001" / "attempts" / "001"
    folder.mkdir(parents=True)
    shutil.copy(FOLDER / "v1-steady.jsonl", folder / "events.jsonl")
    output = here("status", cwd=tmp_path).stdout
    assert output.startswith("◇ died: its process is gone; ralph-tui resume continues it\n")
    assert output.count("◇") == 1
    assert "killed" not in output
    assert "disconnected" not in output
    status = json.loads(here("status", "--json", cwd=tmp_path).stdout)
    assert status["verdict_word"] == "died"


class TestACopyOfAWholeRepository:
    """Its record is that of a run elsewhere, which did not die because no process is here."""

    @pytest.fixture
    def original(self, tmp_path: Path) -> Path:
        root = tmp_path / "original"
        journal = root / WITHIN
        journal.parent.mkdir(parents=True)
        first, others = (FOLDER / "v1-steady.jsonl").read_text().split("\n", 1)
        journal.write_text(json.dumps({**json.loads(first), "root": str(root)}) + "\n" + others)
        return root

    @pytest.fixture
    def copied(self, original: Path) -> Path:
        return shutil.copytree(original, original.with_name("copied"))

    def test_it_names_the_original(self, original: Path, copied: Path) -> None:
        with (original / WITHIN).open("a") as journal:
            journal.write("the run continues there")
        reason = (
            f"unknown: no end was recorded in this copy; check the original in {original} "
            "to see whether the run continues"
        )
        assert here("status", cwd=copied).stdout.startswith(f"◇ {reason}\n")
        assert [row.status for row in list_rows(copied)] == ["unheard"]
        (task,) = json.loads(here("history", "--json", cwd=copied).stdout)
        assert task["status"] == "unknown"
        assert f"**Unknown:** {reason.partition(': ')[2]}" in here("report", cwd=copied).stdout
        assert opened(copied / WITHIN).why_lost == reason

    def test_the_original_itself_died(self, original: Path) -> None:
        assert here("status", cwd=original).stdout.startswith("◇ died: its process is gone")

    def test_a_moved_repository_is_no_copy(self, original: Path) -> None:
        moved = original.rename(original.with_name("moved"))
        assert here("status", cwd=moved).stdout.startswith("◇ died: its process is gone")

    def test_a_copy_that_was_resumed_died_itself(self, original: Path, copied: Path) -> None:
        with (copied / WITHIN).open("a") as journal:
            journal.write("resumed")
        with (original / WITHIN).open("a") as journal:
            journal.write("another line")
        assert here("status", cwd=copied).stdout.startswith("◇ died: its process is gone")
