"""Where fleets are recorded, and which one is meant."""

from pathlib import Path

import pytest

from ralph_tui.adapters.fleet.records.folders import FleetFolder, find_fleet, find_fleets
from ralph_tui.errors import UsageError


def _made(root: Path, *names: str) -> None:
    for name in names:
        folder = root / ".aiwg/ralph/fleets" / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").touch()


def test_the_newest_is_meant_by_no_name(tmp_path: Path) -> None:
    _made(tmp_path, "fleet-002", "fleet-010", "fleet-001")
    names = [fleet.name for fleet in find_fleets(tmp_path)]
    assert names == ["fleet-001", "fleet-002", "fleet-010"]
    assert find_fleet(tmp_path).name == "fleet-010"
    assert find_fleet(tmp_path, "fleet-002").name == "fleet-002"


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fleet was recorded in"):
        find_fleet(tmp_path)
    _made(tmp_path, "fleet-001")
    with pytest.raises(UsageError, match="no fleet 'x' here; known fleets: fleet-001"):
        find_fleet(tmp_path, "x")


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", "a\nb", ".hidden", "x" * 200])
def test_an_id_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the id of a loop"):
        FleetFolder(tmp_path).mirror(name, 1)
