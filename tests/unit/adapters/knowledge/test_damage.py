"""Edited, damaged, replaced or missing knowledge files: reported once, nothing lost."""

import errno
import json
import os
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.knowledge import files
from ralph_tui.adapters.knowledge.files import checksum
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.ports.knowledge import Credit
from tests.rows import each_row
from tests.unit.adapters.knowledge.stores import (
    document,
    known,
    learning,
    learnings_in,
    store_of,
    write,
)

MAIN = "ralph-learnings.json"
SAID = "Mock the clock."


def texts_known(folder: Path, run: str = "run-z") -> list[str]:
    return [one.learning.text for one in store_of(folder, run).candidates("mock", "feature")]


def two_states(folder: Path) -> tuple[bytes, bytes]:
    """Contents of the knowledge file and its backup, with something in both."""
    name = known(folder, SAID).learning_id
    store_of(folder, "run-c").credit([Credit(name, 1, success=True)])
    return (folder / MAIN).read_bytes(), (folder / f"{MAIN}.bak").read_bytes()


def kept(folder: Path) -> dict[str, bytes]:
    """Contents of the dated copies there."""
    dated = (path for path in folder.iterdir() if path.name.startswith(f"{MAIN}."))
    return {
        path.name: path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 20 else b""
        for path in dated
        if path.name != f"{MAIN}.bak"
    }


def test_an_edit_by_hand_counts_and_is_told_once(tmp_path: Path) -> None:
    _, backup = two_states(tmp_path)
    os.utime(tmp_path / f"{MAIN}.bak", (0, datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC).timestamp()))
    (entry,) = learnings_in(tmp_path)
    edited = {**entry, "content": {"approach": "Freeze the time."}, "confidence": 0.9}
    write(tmp_path, [edited])
    by_hand = (tmp_path / MAIN).read_bytes()
    store = store_of(tmp_path, "run-z")
    (candidate,) = store.candidates("freeze the time", "feature")
    assert (candidate.learning.text, candidate.learning.confidence) == ("Freeze the time.", 0.9)
    assert store.take_notices() == [
        f"{'/'.join((tmp_path / MAIN).parts[-3:])} was edited by hand; your version is used; its "
        "old "
        f"content is in {MAIN}.bak.20260304-050607"
    ]
    assert kept(tmp_path) == {f"{MAIN}.bak.20260304-050607": backup}
    assert (tmp_path / f"{MAIN}.bak").read_bytes() == by_hand
    held = document(tmp_path)
    assert held["learnings"] == [edited]
    assert held["checksum"] == checksum([edited])
    store.candidates("freeze", "feature")
    assert store.take_notices() == []
    assert store_of(tmp_path).take_notices() == []


@each_row("at", ["9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "once", "2026-01-01"])
def test_an_edit_of_the_date_to_one_that_cannot_be_counts_too(tmp_path: Path, at: str) -> None:
    two_states(tmp_path)
    write(tmp_path, learnings_in(tmp_path), lastUpdated=at, checksum="")
    assert texts_known(tmp_path) == [SAID]
    assert datetime.fromisoformat(document(tmp_path)["lastUpdated"]).astimezone(UTC)


def test_a_file_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learning beyond the largest size would be lost with all the others."""
    two_states(tmp_path)
    before = (tmp_path / MAIN).read_bytes()
    monkeypatch.setattr(files, "LARGEST", len(before) + 5)
    words = f"{MAIN} cannot be written, because it would exceed .* make it smaller by hand, or "
    for run in ("run-x", "run-y"):
        with pytest.raises(KnowledgeError, match=words):
            store_of(tmp_path, run).credit(
                [Credit(learnings_in(tmp_path)[0]["id"], 1, success=True)]
            )
    assert (tmp_path / MAIN).read_bytes() == before
    # A manual edit on one line, which takes more space on many lines.
    (tmp_path / MAIN).write_text(json.dumps({**document(tmp_path), "lastUpdated": "2026-01-01"}))
    edited = document(tmp_path) | {"learnings": [{**learnings_in(tmp_path)[0], "confidence": 1}]}
    (tmp_path / MAIN).write_text(json.dumps(edited))
    monkeypatch.setattr(files, "LARGEST", len(json.dumps(edited)))
    with pytest.raises(KnowledgeError, match=words):
        store_of(tmp_path).ledger()
    assert document(tmp_path) == edited
    assert (tmp_path / f"{MAIN}.bak").exists()


def test_an_edit_by_hand_while_a_run_goes_on_is_not_written_over(tmp_path: Path) -> None:
    name = known(tmp_path, SAID).learning_id
    store = store_of(tmp_path, "run-c")
    store.candidates("mock", "feature")
    (entry,) = learnings_in(tmp_path)
    write(tmp_path, [{**entry, "note": "mine"}])
    store.credit([Credit(name, 1, success=True)])
    (now,) = learnings_in(tmp_path)
    assert (now["note"], now["uses"]) == ("mine", 1)


@each_row(
    "form",
    [
        lambda held: json.dumps(held),
        lambda held: json.dumps(held, indent=4, ensure_ascii=True) + "\n\n",
        lambda held: json.dumps({key: held[key] for key in reversed(held)}),
        lambda held: json.dumps(held).replace("0.74", "7.4e-1"),
    ],
)
def test_another_layout_of_the_same_is_no_edit(
    tmp_path: Path, form: Callable[[dict[str, Any]], str]
) -> None:
    two_states(tmp_path)
    (tmp_path / MAIN).write_text(form(document(tmp_path)))
    store = store_of(tmp_path)
    store.ledger()
    assert store.take_notices() == []


def a_link(path: Path) -> None:
    path.unlink()
    path.with_name("elsewhere").write_text("{}")
    path.symlink_to("elsewhere")


def a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_socket(path: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))


def a_gigabyte(path: Path) -> None:
    os.truncate(path, 1 << 30)


def holding(content: str | bytes) -> Callable[[Path], None]:
    """Replace the file by one with this content."""

    def put(path: Path) -> None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return put


def with_field(name: str, value: Any) -> Callable[[Path], None]:
    """Change one field of its only learning."""

    def put(path: Path) -> None:
        held = json.loads(path.read_bytes())
        held["learnings"][0][name] = value
        path.write_text(json.dumps(held))

    return put


DAMAGE: list[tuple[str, Callable[[Path], None], str]] = [
    ("empty", holding(""), r"line 1: it is not JSON"),
    ("cut off", lambda path: os.truncate(path, 200), r"line \d+: it is not JSON"),
    ("binary", holding(b'{"learnings":\n["\xff"]}'), r"line 2: it is not UTF-8"),
    ("deep", holding("[" * 100_000), r"nested deeper than 100"),
    ("deep but whole", holding('{"learnings":' + "[" * 150 + "]" * 151), r"nested deeper|not JSON"),
    ("a list", holding("[]"), r"it is not an object"),
    ("no list", holding('{"version": "1.0.0"}'), r"it has no list of learnings"),
    ("not a number", holding('{"learnings": [], "x": NaN}'), r"too large or not valid"),
    ("long number", holding('{"learnings": [' + "9" * 5000 + "]}"), r"a number in it is too large"),
    ("no object", holding('{"learnings": ["x"]}'), r"learnings\[1\] is 'x', not an object"),
    ("no name", with_field("id", ""), r"learnings\[1\].id is '', not a non-empty string"),
    ("confidence", with_field("confidence", "high"), r"confidence is 'high', not a number from 0"),
    ("too sure", with_field("confidence", 1.5), r"confidence is 1.5, not a number from 0 to 1"),
    ("null", with_field("content", None), r"content is null, not an object"),
    ("uses", with_field("uses", 1.5), r"uses is 1.5, not a whole number from 0"),
    ("uses of nobody", with_field("uses", 10**400), r"uses is 1000.*, not a whole number from 0"),
    ("a huge share", with_field("confidence", 10**400), r"confidence is 1000.*, not a number from"),
    ("successes", with_field("successes", 9), r"more successes than uses"),
    ("loops", with_field("sourceLoops", [1]), r"sourceLoops is a list, not a list of strings"),
    ("pinned", with_field("pinned", "yes"), r"pinned is 'yes', not true or false"),
    ("huge number", with_field("other", 10**400), r"too large"),
    ("1 GB", a_gigabyte, r"it is larger than 128 MB"),
    ("a FIFO", a_fifo, r"it is a FIFO, not a regular file"),
    ("a link", a_link, r"it is a link, not a regular file"),
    ("a folder", a_folder, r"it is a folder, not a regular file"),
    ("a socket", a_socket, r"it is a socket, not a regular file"),
]
damaged = each_row(("put", "words"), [case[1:] for case in DAMAGE])


@damaged
def test_what_is_damaged_gives_way_to_its_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _, backup = two_states(tmp_path)
    put(tmp_path / MAIN)
    mode = (tmp_path / MAIN).lstat().st_mode
    store = store_of(tmp_path, "run-z")
    (candidate,) = store.candidates("mock", "feature")
    assert (candidate.learning.text, candidate.learning.uses) == (SAID, 0)
    (notice,) = store.take_notices()
    assert "cannot be used (" in notice
    assert re.search(words, notice)
    assert "its backup was used instead; it is kept as " in notice
    assert "\n" not in notice
    assert len(notice) < 300
    (aside,) = kept(tmp_path)
    assert notice.endswith(aside)
    assert (tmp_path / aside).lstat().st_mode == mode
    assert document(tmp_path)["learnings"] == json.loads(backup)["learnings"]
    store.credit([Credit(candidate.learning.learning_id, 3, success=True)])
    assert store_of(tmp_path).take_notices() == []
    assert learnings_in(tmp_path)[0]["uses"] == 1
    assert list(kept(tmp_path)) == [aside]


@damaged
def test_with_a_damaged_backup_too_the_run_goes_on_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    two_states(tmp_path)
    put(tmp_path / MAIN)
    (tmp_path / f"{MAIN}.bak").write_text("{")
    store = store_of(tmp_path, "run-z")
    assert store.candidates("mock", "feature") == []
    (notice,) = store.take_notices()
    assert "it has no usable backup, so its learnings are lost; it is kept as" in notice
    assert words  # reported as above
    assert sorted(name.split(".")[2] for name in kept(tmp_path)) == ["bak", "damaged"]
    known(tmp_path, "Start anew.")
    assert texts_known(tmp_path) == ["Start anew."]
    assert len(kept(tmp_path)) == 2


def test_what_the_backup_does_not_hold_yet_is_promoted_again(tmp_path: Path) -> None:
    known(tmp_path, SAID)
    known(tmp_path, "Read the log first.")
    (tmp_path / MAIN).write_text("{")
    store = store_of(tmp_path, "run-z")
    assert [entry["content"]["approach"] for entry in store.ledger().learnings] == [SAID]
    assert len(store.candidates("log", "feature")) == 2, "it is unproven, and not lost"
    store.promote()
    assert sorted(texts_known(tmp_path)) == [SAID, "Read the log first."]
    assert [entry["useCount"] for entry in learnings_in(tmp_path)] == [1, 1]
    assert {one["status"] for one in document(tmp_path, "staging.json")["staged"]} == {"promoted"}


def test_what_was_taken_out_by_hand_does_not_come_back_with_a_backup(tmp_path: Path) -> None:
    known(tmp_path, SAID)
    known(tmp_path, "Read the log first.")
    write(tmp_path, learnings_in(tmp_path)[:1])
    assert texts_known(tmp_path) == [SAID]
    first = learnings_in(tmp_path)[0]["id"]
    for number in (1, 2):
        store_of(tmp_path, "run-c").credit([Credit(first, number, success=True)])
    (tmp_path / MAIN).write_text("{")
    store = store_of(tmp_path, "run-z")
    store.promote()
    assert texts_known(tmp_path) == [SAID]


def test_an_edited_backup_is_a_usable_one(tmp_path: Path) -> None:
    two_states(tmp_path)
    backup = tmp_path / f"{MAIN}.bak"
    backup.write_text(backup.read_text().replace(SAID, "Mock the time."))
    (tmp_path / MAIN).write_text("{")
    assert texts_known(tmp_path) == ["Mock the time."]


def test_what_is_missing_comes_from_its_backup(tmp_path: Path) -> None:
    two_states(tmp_path)
    (tmp_path / MAIN).unlink()
    store = store_of(tmp_path, "run-z")
    assert len(store.candidates("mock", "feature")) == 1
    (notice,) = store.take_notices()
    assert notice.endswith(f"{MAIN} is missing: its backup was used instead")


def test_what_is_removed_while_a_run_goes_on_is_written_again(tmp_path: Path) -> None:
    """As an agent's ``git clean -fdx`` would."""
    two_states(tmp_path)
    store_of(tmp_path, "run-d").stage([learning("Another one.")])
    store = store_of(tmp_path, "run-z")
    before = store.candidates("mock", "feature")
    staged = document(tmp_path, "staging.json")
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
    assert store.candidates("mock", "feature") == before
    assert len(store.take_notices()) == 2
    assert len(learnings_in(tmp_path)) == 1
    assert document(tmp_path, "staging.json") == staged


def test_the_backup_is_newer_than_what_a_run_remembers(tmp_path: Path) -> None:
    name = known(tmp_path, SAID).learning_id
    store = store_of(tmp_path, "run-y")
    store.candidates("mock", "feature")
    for number in (1, 2):
        store_of(tmp_path, "run-z").credit([Credit(name, number, success=True)])
    (tmp_path / MAIN).unlink()
    store.candidates("mock", "feature")
    assert learnings_in(tmp_path)[0]["uses"] == 1


@each_row("put", [holding("{"), a_fifo, a_folder, holding('{"staged": [{}]}')])
def test_damaged_staging_is_set_aside(tmp_path: Path, put: Callable[[Path], None]) -> None:
    known(tmp_path, SAID)
    put(tmp_path / "staging.json")
    store = store_of(tmp_path, "run-z")
    assert len(store.candidates("mock", "feature")) == 1
    (notice,) = store.take_notices()
    assert "staging.json.damaged.2" in notice
    store.stage([learning("Another one.")])
    assert len(document(tmp_path, "staging.json")["staged"]) == 1


def test_two_damaged_ones_of_one_moment_are_both_kept(tmp_path: Path) -> None:
    for content in ("{1", "{2"):
        (tmp_path / MAIN).write_text(content)
        os.utime(tmp_path / MAIN, (0, 0))
        store_of(tmp_path).ledger()
    assert sorted(kept(tmp_path).values()) == [b"{1", b"{2"]


def test_a_file_of_a_version_to_come_is_left_alone(tmp_path: Path) -> None:
    tmp_path.joinpath(MAIN).write_text('{"version": "2.0.0", "learnings": {}}')
    store = store_of(tmp_path, "run-a")
    with pytest.raises(KnowledgeError, match=r"has version 2\.0\.0 from a newer program"):
        store.candidates("mock", "feature")
    with pytest.raises(KnowledgeError, match="update ralph-tui"):
        store.stage([learning(SAID)])
    assert [path.name for path in tmp_path.iterdir() if path.name != "lock"] == [MAIN]


def test_what_may_not_be_read_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_states(tmp_path)
    (tmp_path / MAIN).chmod(0)
    original = files._content

    def closed(path: Path) -> bytes:
        if path.stat().st_mode & 0o777 == 0:  # root can still read it
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path)

    monkeypatch.setattr(files, "_content", closed)
    store = store_of(tmp_path)
    store.ledger()
    (notice,) = store.take_notices()
    assert "cannot be used (Permission denied): its backup was used instead" in notice
    assert len(kept(tmp_path)) == 1


def test_what_the_system_refuses_for_a_moment_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_states(tmp_path)

    def refused(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(files, "_content", refused)
    with pytest.raises(KnowledgeError, match=f"{MAIN} cannot be read: Input/output error"):
        store_of(tmp_path).ledger()
    assert kept(tmp_path) == {}


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "knowledge"
    words = "a part of its path is not a folder; move it out of the way$"
    for target in ("file", "nowhere"):
        folder.unlink(missing_ok=True)
        folder.symlink_to(target)
        with pytest.raises(KnowledgeError, match=words):
            store_of(folder, "run-a").stage([learning(SAID)])
    with pytest.raises(KnowledgeError, match=words):
        store_of(tmp_path / "file").ledger()


def test_a_folder_in_the_place_of_the_backup_gives_way(tmp_path: Path) -> None:
    two_states(tmp_path)
    a_folder(tmp_path / f"{MAIN}.bak")
    store = store_of(tmp_path, "run-z")
    store.credit([Credit(learnings_in(tmp_path)[0]["id"], 1, success=True)])
    (notice,) = store.take_notices()
    assert re.search(rf"{MAIN}.bak is a folder; it is kept as {MAIN}.bak.damaged.\d+-\d+$", notice)
    assert (tmp_path / f"{MAIN}.bak").is_file()
    assert learnings_in(tmp_path)[0]["uses"] == 2


@each_row("put", [a_fifo, a_link])
def test_what_stands_in_the_place_of_the_lock_gives_way(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    (tmp_path / "lock").touch()
    put(tmp_path / "lock")
    known(tmp_path, SAID)
    assert (tmp_path / "lock").lstat().st_mode & 0o170000 == 0o100000


def test_a_folder_in_the_place_of_the_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(KnowledgeError, match="it is a folder, not a regular file; move it"):
        store_of(tmp_path).stage([learning(SAID)])


def test_a_folder_that_is_made_here_hides_itself_from_git(tmp_path: Path) -> None:
    known(tmp_path / "knowledge", SAID)
    assert (tmp_path / "knowledge" / ".gitignore").read_text().endswith("\n*\n")
    known(tmp_path, SAID)
    assert not (tmp_path / ".gitignore").exists()
