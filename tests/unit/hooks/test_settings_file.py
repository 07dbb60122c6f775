"""Replacing ``.claude/settings.json``: the old file is kept, and odd content changes nothing."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.hooks.project import project_root
from ralph_tui.hooks.settings import NAME, SettingsFile, find_hooks

NOW = datetime(2026, 1, 7, 11, 45, tzinfo=UTC)
LATER = datetime(2026, 1, 8, tzinfo=UTC)
THEIRS = b'{\n    "model": "opus",\n    "hooks": {}\n}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_root(tmp_path)


@pytest.fixture
def file(root: Path) -> Path:
    path = root / NAME
    path.parent.mkdir()
    path.write_bytes(THEIRS)
    return path


def install(root: Path, now: datetime = NOW) -> Path | None:
    found = SettingsFile.of(root)
    return found.replace(found.with_hooks(), now)


def remove(root: Path) -> Path | None:
    found = SettingsFile.of(root)
    return found.replace(found.without_hooks(), LATER)


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".claude").iterdir())


def test_the_old_file_is_kept_with_its_date(root: Path, file: Path) -> None:
    file.chmod(0o640)
    kept = install(root)
    assert kept == file.with_name("settings.json.20260107T114500000000Z.bak")
    assert kept.read_bytes() == THEIRS
    assert set(find_hooks(file.read_text())) == {"PostToolUse", "Stop"}
    assert (file.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o640, 0o640)


def test_taken_out_again_it_is_the_file_of_before_to_the_byte(root: Path, file: Path) -> None:
    install(root)
    assert remove(root) is None
    assert file.read_bytes() == THEIRS
    assert names(root) == ["settings.json"]


def test_what_was_changed_since_stays(root: Path, file: Path) -> None:
    install(root)
    file.write_bytes(file.read_bytes().replace(b"opus", b"haiku"))
    kept = remove(root)
    assert kept is not None
    assert json.loads(file.read_bytes()) == {"model": "haiku"}
    assert len(names(root)) == 3


def test_where_there_was_none_there_is_none_again(root: Path) -> None:
    assert install(root) is None
    assert find_hooks((root / NAME).read_text())
    assert remove(root) is None
    assert not (root / NAME).exists()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xef\xbb\xbf{\n}\r\n", b'{"hooks":{"Stop":[]}}'])
def test_any_form_comes_back(root: Path, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    install(root)
    assert json.loads(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))["hooks"]["Stop"]
    remove(root)
    assert file.read_bytes() == content
    assert names(root) == ["settings.json"]


def test_a_second_time_changes_nothing(root: Path, file: Path) -> None:
    install(root)
    found = SettingsFile.of(root)
    assert found.with_hooks() == found.content


@pytest.mark.parametrize("content", [b"garbage", b"[1]", b'{"hooks": 3}', b"\xff\xfe{\x00}\x00"])
def test_garbage_is_one_sentence_and_stays(root: Path, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(RalphError, match=r"^\.claude/settings\.json cannot be used: it.*move it"):
        SettingsFile.of(root).with_hooks()
    assert file.read_bytes() == content


def test_an_edit_between_looking_and_writing_is_not_lost(root: Path, file: Path) -> None:
    found = SettingsFile.of(root)
    file.write_bytes(b'{"model": "haiku"}')
    with pytest.raises(RalphError, match="changed in the meantime"):
        found.replace(found.with_hooks(), NOW)
    assert file.read_bytes() == b'{"model": "haiku"}'
    assert names(root) == ["settings.json"]


def test_a_file_that_appeared_meanwhile_is_not_lost(root: Path) -> None:
    found = SettingsFile.of(root)
    (root / ".claude").mkdir()
    (root / NAME).write_bytes(THEIRS)
    with pytest.raises(RalphError, match="changed in the meantime"):
        found.replace(found.with_hooks(), NOW)
    assert (root / NAME).read_bytes() == THEIRS


@pytest.mark.parametrize("link", [".claude", NAME])
def test_a_link_out_of_the_project_is_refused(
    root: Path, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    away = tmp_path_factory.mktemp("away")
    (away / "settings.json").write_bytes(THEIRS)
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(away / "settings.json" if link == NAME else away)
    with pytest.raises(RalphError, match="points outside the project"):
        SettingsFile.of(root)
    assert (away / "settings.json").read_bytes() == THEIRS
    assert [path.name for path in away.iterdir()] == ["settings.json"]


def test_a_link_within_the_project_is_followed_and_stays_one(root: Path, file: Path) -> None:
    real = root / "dotfiles"
    real.mkdir()
    file.rename(real / "claude.json")
    file.symlink_to("../dotfiles/claude.json")
    install(root)
    assert file.is_symlink()
    assert find_hooks((real / "claude.json").read_text())
    remove(root)
    assert (real / "claude.json").read_bytes() == THEIRS


def test_a_folder_a_fifo_or_a_loop_of_links_is_one_sentence(root: Path) -> None:
    (root / NAME).mkdir(parents=True)
    with pytest.raises(RalphError, match=r"cannot read \.claude/settings\.json: it is a folder"):
        SettingsFile.of(root)
    (root / NAME).rmdir()
    os.mkfifo(root / NAME)
    with pytest.raises(RalphError, match="it is a FIFO"):
        SettingsFile.of(root)
    (root / NAME).unlink()
    (root / NAME).symlink_to("settings.json")
    with pytest.raises(RalphError, match=r"leads nowhere|a link"):
        SettingsFile.of(root)


def test_a_file_in_the_place_of_the_folder_is_one_sentence(root: Path) -> None:
    (root / ".claude").write_text("x")
    with pytest.raises(RalphError, match=r"cannot read \.claude/settings\.json: Not a directory"):
        SettingsFile.of(root)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_may_not_be_written_is_not_replaced(root: Path, file: Path) -> None:
    file.chmod(0o400)
    found = SettingsFile.of(root)
    with pytest.raises(RalphError, match=r"cannot write .*: Permission denied"):
        found.replace(found.with_hooks(), NOW)
    assert file.read_bytes() == THEIRS


def test_a_home_is_no_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root))
    with pytest.raises(UsageError, match="this is your home"):
        project_root(root)
    with pytest.raises(UsageError, match="there is no folder"):
        project_root(root / "missing")
    (root / "file").touch()
    with pytest.raises(UsageError, match="is not a folder"):
        project_root(root / "file")
