"""Files that an agent can replace: never block, follow a link, or misread them."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.base.plain_files import (
    NotPlainError,
    make_folder,
    open_append,
    open_emptied,
    open_plain,
    read_bytes,
    reading,
    write_whole,
)


def a_link(path: Path) -> None:
    path.with_name("elsewhere").write_text("not this\n")
    path.symlink_to("elsewhere")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))


IN_THE_WAY: list[tuple[str, Callable[[Path], None]]] = [
    ("a FIFO", lambda path: os.mkfifo(path)),
    ("a link", a_link),
    ("a folder", lambda path: path.mkdir()),
    ("a socket", a_socket),
]
OPENINGS: list[Callable[[Path], object]] = [
    reading,
    open_append,
    open_emptied,
    lambda path: open_plain(path, os.O_RDWR | os.O_CREAT),
]


@pytest.mark.parametrize(("what", "put"), IN_THE_WAY, ids=[what for what, _ in IN_THE_WAY])
@pytest.mark.parametrize("opening", OPENINGS, ids=["read", "append", "empty", "lock"])
def test_only_a_plain_file_is_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    put: Callable[[Path], None],
    opening: Callable[[Path], object],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "record"
    put(path)
    with pytest.raises(NotPlainError) as raised:
        opening(path)
    assert raised.value.strerror == f"it is {what}, not a regular file"
    assert raised.value.filename == str(path)


def test_a_fifo_with_a_writer_is_refused_too(tmp_path: Path) -> None:
    """Opening it would succeed, but reading would block."""
    path = tmp_path / "record"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    try:
        for opening in OPENINGS:
            with pytest.raises(NotPlainError, match="FIFO"):
                opening(path)
    finally:
        os.close(writer)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        reading(tmp_path / "no" / "record")
    assert raised.value.filename == str(tmp_path / "no")
    with pytest.raises(FileNotFoundError) as raised:
        reading(tmp_path / "record")
    assert raised.value.filename == str(tmp_path / "record")


def test_below_the_records_no_folder_is_a_link(tmp_path: Path) -> None:
    records, outside = tmp_path / ".aiwg" / "ralph", tmp_path / "outside"
    (records / "tasks").mkdir(parents=True)
    outside.mkdir()
    (outside / "status.json").write_text("{}")
    (records / "tasks" / "task-001").symlink_to(outside)
    path = records / "tasks" / "task-001" / "status.json"
    for opening in OPENINGS:
        with pytest.raises(NotPlainError, match="task-001 is a link; links are not followed there"):
            opening(path)
    with pytest.raises(NotPlainError):
        make_folder(path.parent / "attempts")
    with pytest.raises(NotPlainError):
        write_whole(path, b"ours")
    assert [entry.name for entry in outside.iterdir()] == ["status.json"]
    assert (outside / "status.json").read_text() == "{}"


def test_records_may_be_kept_on_another_disk(tmp_path: Path) -> None:
    """A link at `.aiwg` or `.aiwg/ralph` is the user's choice."""
    for name, link in (("one", ".aiwg"), ("two", ".aiwg/ralph")):
        worktree, disk = tmp_path / name, tmp_path / f"disk-{name}"
        disk.mkdir()
        (worktree / link).parent.mkdir(parents=True, exist_ok=True)
        (worktree / link).symlink_to(disk)
        path = worktree / ".aiwg" / "ralph" / "tasks" / "status.json"
        make_folder(path.parent)
        write_whole(path, b"{}")
        assert read_bytes(path) == b"{}"
        assert list(disk.rglob("status.json"))


def test_below_a_worktree_no_folder_is_a_link(tmp_path: Path) -> None:
    worktree, outside = tmp_path / "worktree", tmp_path / "outside"
    worktree.mkdir()
    outside.mkdir()
    (outside / "plan.md").write_text("- [x] theirs\n")
    (worktree / "docs").symlink_to(outside)
    with pytest.raises(NotPlainError):
        reading(worktree / "docs" / "plan.md", below=worktree)
    assert read_bytes(worktree / "docs" / "plan.md") == b"- [x] theirs\n"


def test_what_is_written_takes_the_place_of_anything_but_a_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept\n")
    fifo, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(fifo)
    link.symlink_to(outside)
    for path in (fifo, link):
        write_whole(path, b"ours\n")
        assert read_bytes(path) == b"ours\n"
    assert outside.read_text() == "kept\n"
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", b"ours\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("fifo", "folder", "link", "outside")
    ]


def test_a_file_of_any_size_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "record"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(OSError, match="larger than") as raised:
        read_bytes(path)
    assert raised.value.errno == errno.EOVERFLOW
