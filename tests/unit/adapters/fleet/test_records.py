"""Where the records of fleets lie."""

from pathlib import Path

import pytest

from ralph_tui.adapters.fleet.records import FleetFolder, find_fleets, resolve_fleet
from ralph_tui.errors import UsageError


def _made(root: Path, *names: str) -> None:
    for name in names:
        folder = root / ".aiwg/ralph/fleets" / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").touch()


def test_the_newest_is_meant_by_no_name(tmp_path: Path) -> None:
    _made(tmp_path, "fleet-002", "fleet-010", "fleet-001")
    assert [fleet.name for fleet in find_fleets(tmp_path)] == [
        "fleet-001",
        "fleet-002",
        "fleet-010",
    ]
    assert resolve_fleet(tmp_path).name == "fleet-010"
    assert resolve_fleet(tmp_path, "fleet-002").name == "fleet-002"


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fleet was started here yet"):
        resolve_fleet(tmp_path)
    _made(tmp_path, "fleet-001")
    with pytest.raises(UsageError, match="no fleet 'x' here; known fleets: fleet-001"):
        resolve_fleet(tmp_path, "x")


def test_a_mirror_has_the_layout_of_an_attempt(tmp_path: Path) -> None:
    mirror = FleetFolder(tmp_path / "fleet-001").mirror("3a", 2)
    assert mirror.journal == tmp_path / "fleet-001/loops/3a/attempts/002/events.jsonl"
    assert mirror.status == mirror.folder / "status.json"


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", "a\nb", ".hidden", "x" * 200])
def test_an_id_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no id of a loop"):
        FleetFolder(tmp_path).mirror(name, 1)
