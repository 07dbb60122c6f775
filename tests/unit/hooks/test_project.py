"""The copy of the hook program: created, updated, removed, with the user's changes kept."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.project import FOLDER, LIST, Program, project_root

NOW = datetime(2026, 1, 7, 11, 45, tzinfo=UTC)
FIRST = {"__main__.py": b"one\n", "ralph_tui/hooks/a.py": b"a\n", "ralph_tui/hooks/gone.py": b"g\n"}
SECOND = {"__main__.py": b"two\n", "ralph_tui/hooks/a.py": b"a\n", "ralph_tui/new.py": b"n\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_root(tmp_path)


def program(root: Path, files: dict[str, bytes], version: str = "1") -> Program:
    return Program(root, files, version)


def copied(root: Path) -> dict[str, bytes]:
    folder = root / FOLDER
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != LIST
    }


def test_it_is_copied_with_a_list(root: Path) -> None:
    before = program(root, FIRST).copy_status()
    assert not before.there
    assert set(before.missing) == {*FIRST}
    assert program(root, FIRST).install(NOW) == []
    assert copied(root) == FIRST
    after = program(root, FIRST).copy_status()
    assert (after.current, after.there, after.version) == (True, True, "1")


def test_another_version_takes_its_place(root: Path) -> None:
    program(root, FIRST).install(NOW)
    newer = program(root, SECOND, "2")
    assert set(newer.copy_status().older) == {"__main__.py", "ralph_tui/hooks/gone.py"}
    assert newer.install(NOW) == []
    assert copied(root) == SECOND
    assert newer.copy_status().version == "2"


def test_what_its_owner_changed_is_kept(root: Path) -> None:
    program(root, FIRST).install(NOW)
    (root / FOLDER / "__main__.py").write_bytes(b"mine\n")
    assert program(root, FIRST).copy_status().edited == ["__main__.py"]
    [kept] = program(root, SECOND, "2").install(NOW)
    assert kept.name == "__main__.py.20260107T114500000000Z.bak"
    assert kept.read_bytes() == b"mine\n"
    assert (root / FOLDER / "__main__.py").read_bytes() == b"two\n"


def test_a_copy_without_its_list_loses_nothing(root: Path) -> None:
    program(root, FIRST).install(NOW)
    for words in (b"", b"garbage", b"[]", b'{"ralph_tui": "1", "files": {"../../x": "y"}}'):
        (root / FOLDER / LIST).write_bytes(words)
        assert program(root, FIRST).copy_status().current
    (root / FOLDER / "ralph_tui/hooks/a.py").write_bytes(b"mine\n")
    assert len(program(root, FIRST).install(NOW)) == 1


def test_a_list_that_leads_out_takes_nothing_away(root: Path) -> None:
    (root / "mine.txt").write_bytes(b"m")
    there = program(root, FIRST)
    there.install(NOW)
    words = {"ralph_tui": "1", "files": {"../../../mine.txt": "x", str(root / "mine.txt"): "x"}}
    (root / FOLDER / LIST).write_text(json.dumps(words))
    there.remove(NOW)
    assert (root / "mine.txt").read_bytes() == b"m"


def test_it_is_taken_away_whole(root: Path) -> None:
    there = program(root, FIRST)
    there.install(NOW)
    cache = root / FOLDER / "ralph_tui" / "hooks" / "__pycache__"
    cache.mkdir()
    (cache / "a.cpython-311.pyc").write_bytes(b"x")
    assert there.remove(NOW) == []
    assert not (root / ".claude").exists()


def test_taken_away_it_leaves_what_is_not_its_own(root: Path) -> None:
    there = program(root, FIRST)
    there.install(NOW)
    (root / FOLDER / "ralph_tui/hooks/a.py").write_bytes(b"mine\n")
    (root / FOLDER / "notes.txt").write_bytes(b"mine too\n")
    (root / ".claude/hooks/other.sh").write_bytes(b"x")
    [kept] = there.remove(NOW)
    assert kept.read_bytes() == b"mine\n"
    assert set(copied(root)) == {"notes.txt", str(kept.relative_to(root / FOLDER))}
    assert (root / ".claude/hooks/other.sh").exists()


def test_taken_away_where_there_is_none(root: Path) -> None:
    assert program(root, FIRST).remove(NOW) == []


@pytest.mark.parametrize("link", [".claude", ".claude/hooks", FOLDER])
def test_a_link_out_of_the_project_is_refused(
    root: Path, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    away = tmp_path_factory.mktemp("away")
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(away)
    with pytest.raises(RalphError, match="points outside the project"):
        program(root, FIRST)
    assert not list(away.iterdir())


def test_a_link_further_in_is_refused_too(root: Path, tmp_path: Path) -> None:
    program(root, FIRST).install(NOW)
    away = tmp_path / "away"
    away.mkdir()
    inner = root / FOLDER / "ralph_tui"
    (inner / "hooks").rename(tmp_path / "moved")
    (inner / "hooks").symlink_to(away)
    with pytest.raises(RalphError, match="is a link"):
        program(root, SECOND).install(NOW)
    assert not list(away.iterdir())


def test_what_is_in_the_way_is_one_sentence(root: Path) -> None:
    (root / ".claude").mkdir()
    (root / ".claude/hooks").write_text("x")
    with pytest.raises(RalphError, match=f"cannot write to {FOLDER}: "):
        program(root, FIRST).install(NOW)
    (root / ".claude/hooks").unlink()
    (root / FOLDER).mkdir(parents=True)
    os.mkfifo(root / FOLDER / "__main__.py")
    with pytest.raises(RalphError, match=f"cannot read {FOLDER}: it is a FIFO"):
        program(root, FIRST).install(NOW)
