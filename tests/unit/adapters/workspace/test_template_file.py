"""The user's prompt template file: errors are one sentence, and nothing blocks."""

import os
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.template_file import LARGEST, load_template, read_template
from ralph_tui.base.errors import UsageError
from tests.rows import each_row

GOOD = "Reach this:\n\n$objective\n\n${state}\n\nIt costs $$5.\n\n$contract\n"


def written(root: Path, content: bytes) -> str:
    (root / "prompt.tpl").write_bytes(content)
    return "prompt.tpl"


def test_a_template_is_read_with_its_variables(tmp_path: Path) -> None:
    found = load_template(tmp_path, written(tmp_path, GOOD.encode()))
    assert found is not None
    assert found.template.names == {"objective", "state", "contract"}
    assert found.text == GOOD
    assert load_template(tmp_path, None) is None


@each_row(
    ("content", "says"),
    [
        (b"$contract\n\n$objectve", "line 3: unknown variable $objectve (did you mean "),
        (b"a\n$contract $5", "line 2: $ without a name (write $$ for a dollar sign)"),
        (b"${", "line 1: $ without a name"),
        (b"\0\1\2", "is not text"),
        (b"caf\xe9 $objective", "is not UTF-8 text"),
        (b"x" * (LARGEST + 1), "is larger than 1 MB"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=r"prompt template prompt\.tpl") as refused:
        load_template(tmp_path, written(tmp_path, content))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_a_folder_and_a_fifo_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no prompt template gone\.tpl; create it, or"):
        load_template(tmp_path, "gone.tpl")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="cannot be read: it is a FIFO, not a regular file"):
        load_template(tmp_path, "fifo")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="it is a folder"):
        load_template(tmp_path, "folder")


def test_within_the_repository_no_link_is_followed_outside_they_are_yours(tmp_path: Path) -> None:
    root, own = tmp_path / "root", tmp_path / "own"
    root.mkdir()
    own.mkdir()
    (own / "real").write_text(GOOD)
    (own / "link").symlink_to("real")
    (root / "plain").write_text(GOOD)
    (root / "link").symlink_to("plain")
    assert read_template(root, str(own / "link")) == GOOD
    assert read_template(root, "plain") == GOOD
    with pytest.raises(UsageError, match="it is a link"):
        read_template(root, "link")
