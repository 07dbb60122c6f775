"""Where a fleet is recorded, its name, and that only one exists at a time."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.base.errors import LockHeldError, UsageError, WorkspaceError
from ralph_tui.fleet.records import FleetFolder, create_fleet, find_fleet, find_fleets, take_lock
from ralph_tui.text.format import day_and_clock
from tests.processes import Child
from tests.rows import each_row
from tests.waiting import PATIENCE_S

WHEN = "2026-01-01T00:00:00Z"


def recorded(root: Path) -> FleetFolder:
    fleet = create_fleet(root)
    fleet.journal.write_text("{}\n")
    return fleet


def test_fleets_are_numbered_and_kept_out_of_commits(tmp_path: Path) -> None:
    first, second = recorded(tmp_path), recorded(tmp_path)
    assert [fleet.name for fleet in find_fleets(tmp_path)] == ["fleet-001", "fleet-002"]
    assert first.path == tmp_path / ".aiwg/ralph/fleets/fleet-001"
    assert (tmp_path / ".aiwg/ralph/.gitignore").read_text() == "*\n"
    assert find_fleet(tmp_path) == second


def test_they_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("fleet-002", "fleet-1000", "fleet-010"):
        folder = tmp_path / ".aiwg/ralph/fleets" / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").touch()
    assert [fleet.name for fleet in find_fleets(tmp_path)] == [
        "fleet-002",
        "fleet-010",
        "fleet-1000",
    ]
    assert find_fleet(tmp_path).name == "fleet-1000"


def test_a_fleet_is_found_by_name_number_and_folder(tmp_path: Path) -> None:
    first, _ = recorded(tmp_path), recorded(tmp_path)
    for name in ("fleet-001", "1", str(first.path)):
        assert find_fleet(tmp_path, name) == first


def test_a_fleet_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no fleet has been recorded in .* start one with"):
        find_fleet(tmp_path)
    create_fleet(tmp_path)  # without a journal it never began
    with pytest.raises(UsageError, match="no fleet has been recorded"):
        find_fleet(tmp_path, "fleet-001")
    recorded(tmp_path)
    with pytest.raises(UsageError, match="no fleet 'night' here; known fleets: fleet-002"):
        find_fleet(tmp_path, "night")


@each_row("loop", ["..", "a/b", "", "-", "x\n", "é", "a" * 99])
def test_an_id_that_is_no_folder_has_no_mirror(tmp_path: Path, loop: str) -> None:
    with pytest.raises(ValueError, match="cannot be the id of a loop"):
        FleetFolder(tmp_path).mirror(loop, 1)


def test_a_second_fleet_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    """Another process holds it: its end frees the repository, whatever it leaves behind."""
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from ralph_tui.fleet.records import create_fleet, take_lock\n"
        f"root = Path({str(tmp_path)!r})\n"
        f"lock = take_lock(root, 'uuid', {WHEN!r})\n"
        "fleet = create_fleet(root)\nfleet.journal.write_text('{}')\n"
        "lock.rename(fleet.name, '/run/socket')\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    owner = Child[str](
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        assert owner.stdout.readline() == "held\n"
        since = day_and_clock(datetime.fromisoformat(WHEN), datetime.now(UTC))
        says = (
            rf"already running in .*, fleet-001 \(process {owner.pid} on .*, since {since}\): "
            "watch it with"
        )
        with pytest.raises(LockHeldError, match=says) as refused:
            take_lock(tmp_path, "other", WHEN)
        assert refused.value.exit_code == 2
        held = find_fleet(tmp_path).owner()
        assert held is not None
        assert (held.pid, held.socket, held.run_id) == (owner.pid, "/run/socket", "uuid")
        assert FleetFolder(tmp_path / ".aiwg/ralph/fleets/fleet-009").owner() is None
        owner.stdin.close()
        owner.wait(PATIENCE_S)
    assert find_fleet(tmp_path).owner() is None
    take_lock(tmp_path, "other", WHEN).release()


def test_a_fleet_and_a_run_do_not_hinder_each_other(tmp_path: Path) -> None:
    from ralph_tui.adapters.records.lock import acquire

    fleet = take_lock(tmp_path, "uuid", WHEN)
    acquire(tmp_path / ".aiwg/ralph/lock", "task-001/001", "r", WHEN).release()
    fleet.release()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".aiwg").write_text("in the way")
    with pytest.raises(WorkspaceError, match="cannot write to "):
        create_fleet(tmp_path)


def test_where_only_fleets_were_recorded_they_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run recorded in"):
        resolve_run(tmp_path, None)
    recorded(tmp_path)
    for name in (None, "task-001"):
        with pytest.raises(UsageError, match=r"has only fleet runs \(fleet-001\): .*fleet status"):
            resolve_run(tmp_path, name)
    with pytest.raises(UsageError, match=r"is a fleet, .*fleet status fleet-001'"):
        resolve_run(tmp_path, "fleet-001")


def test_a_loop_without_a_run_is_explained_by_its_fleet(tmp_path: Path) -> None:
    fleet = recorded(tmp_path)
    says = "no run 'fleet-001/lost' here; 'ralph-tui fleet status fleet-001' shows why"
    with pytest.raises(UsageError, match=f"{says}.* known runs: none"):
        resolve_run(tmp_path, "fleet-001/lost")
    mirror = fleet.mirror("s", 1)
    mirror.mkdir(parents=True)
    (mirror / "events.jsonl").touch()
    with pytest.raises(UsageError, match=f"{says}.* known runs: fleet-001/s"):
        resolve_run(tmp_path, "fleet-001/lost")
