"""PROMPT.md: our section is written anew, and not a byte of its user's is touched."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.errors import RalphError
from ralph_tui.hooks.program.prompt_file import BEGIN, END, has_section, write_section


def written(path: Path, section: str) -> bytes:
    write_section(path, section, "# Task: x", "## Instructions")
    return path.read_bytes()


def outside(content: bytes) -> bytes:
    """What is not ours."""
    begin, end = content.index(BEGIN), content.index(END) + len(END)
    return content[:begin] + content[end:]


def test_without_a_file_there_is_one_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "PROMPT.md"
    text = written(path, "## Current State").decode()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Task: x",
        "## Current State",
        "## Instructions",
    ]
    assert has_section(path)
    again = written(path, "## Another").decode()
    assert again == text.replace("## Current State", "## Another")


@given(st.binary(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_what_the_user_wrote_stays(
    tmp_path_factory: pytest.TempPathFactory, user: bytes, one: str, two: str
) -> None:
    path = tmp_path_factory.mktemp("prompt") / "PROMPT.md"
    path.write_bytes(user)
    assert outside(written(path, one)) == b"\n\n" + user
    assert outside(written(path, two)) == b"\n\n" + user


def test_what_is_written_around_the_section_stays_around_it(tmp_path: Path) -> None:
    path = tmp_path / "PROMPT.md"
    path.write_bytes(b"before\r\n" + BEGIN + b"old" + END + b"after \xff")
    content = written(path, "new")
    assert content.startswith(b"before\r\n" + BEGIN)
    assert content.endswith(END + b"after \xff")
    assert b"old" not in content


def test_a_section_does_not_end_where_foreign_words_say(tmp_path: Path) -> None:
    path = tmp_path / "PROMPT.md"
    written(path, f"one {END.decode()} two")
    assert b"two" not in written(path, "three")


def test_a_mark_without_its_end_is_the_users(tmp_path: Path) -> None:
    path = tmp_path / "PROMPT.md"
    path.write_bytes(BEGIN + b" mine")
    assert not has_section(path)
    assert written(path, "new").endswith(BEGIN + b" mine")


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "PROMPT.md").symlink_to(tmp_path / "theirs")
    with pytest.raises(RalphError, match="it is a link"):
        written(tmp_path / "PROMPT.md", "new")
    assert (tmp_path / "theirs").read_text() == "x"
