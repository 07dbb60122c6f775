"""Copies of handoffs in the worktree: unique names, none outside the worktree."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from ralph_tui.adapters.records.handoff_copies import copy_handoff
from tests.rows import each_row

AT = datetime(2026, 1, 7, 11, 45).astimezone()


def test_each_has_a_name_of_its_own_and_an_edit_keeps_it(tmp_path: Path) -> None:
    first = copy_handoff(tmp_path, "one", AT)
    second = copy_handoff(tmp_path, "two", AT)
    assert first == ".claude/handoffs/2026-01-07-1145.md"
    assert second == ".claude/handoffs/2026-01-07-1145-2.md"
    assert copy_handoff(tmp_path, "edited", AT, first) == first
    texts = sorted(path.read_text() for path in (tmp_path / ".claude" / "handoffs").iterdir())
    assert texts == ["edited", "two"]


def test_secrets_are_not_copied(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    name = copy_handoff(tmp_path, f"the token is {token}", AT)
    assert token not in (tmp_path / name).read_text()


@each_row("link", [".claude", ".claude/handoffs", ".claude/handoffs/2026-01-07-1145.md"])
def test_no_link_leads_out_of_the_worktree(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    target = outside / "file.md" if link.endswith(".md") else outside
    (root / link).symlink_to(target)
    if link.endswith(".md"):
        assert copy_handoff(root, "text", AT).endswith("-2.md")
    else:
        with pytest.raises(OSError, match="link"):
            copy_handoff(root, "text", AT)
    assert list(outside.iterdir()) == []


def test_a_pipe_in_the_way_holds_nothing_up(tmp_path: Path) -> None:
    (tmp_path / ".claude" / "handoffs").mkdir(parents=True)
    os.mkfifo(tmp_path / ".claude" / "handoffs" / "2026-01-07-1145.md")
    assert copy_handoff(tmp_path, "text", AT).endswith("-2.md")
