"""Wording of the hooks.

Summaries contain no secret, and safe texts are not scanned. In PROMPT.md our section is replaced,
and the user's text stays unchanged to the byte.
"""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.secret_forms import Form, forms
from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.program.words import (
    BEGIN,
    END,
    LONGEST,
    clean,
    describe_input,
    has_section,
    identifier,
    is_harmless,
    write_section,
)
from ralph_tui.text.secrets import redact
from tests.rows import each_row

WORDS = st.text(alphabet=string.ascii_letters + string.digits + " ./_,*-=:@'\"\n", max_size=80)


@each_row("form", forms())
def test_no_form_of_a_secret_is_harmless(form: Form) -> None:
    assert not is_harmless(form.text)


@given(WORDS)
def test_what_is_harmless_is_left_as_it_is(text: str) -> None:
    if is_harmless(text):
        assert redact(text) == text


@each_row(
    "text",
    ["pytest -q tests", "git diff --stat", "src/parser/lexer.py", "make check", "ls -l, *.py"],
)
def test_what_sessions_do_most_is_harmless(text: str) -> None:
    assert is_harmless(text)


@each_row(
    "text",
    ["mysql -phunter", "export TOKEN=abc", "a@b", "x" * 20, "mysql -u root", "a\x1b[31m", "ab\ncd"],
)
def test_what_may_hold_one_is_not(text: str) -> None:
    assert not is_harmless(text)


def test_a_summary_is_one_short_line() -> None:
    assert clean("a\nb") == "a⏎b"
    assert clean("word " * 200) == ("word " * 200)[: LONGEST - 1] + "…"
    assert "\x1b" not in clean("\x1b[31mred")
    assert identifier("toolu_1 <b>\n") == "toolu_1b"


def test_what_a_tool_works_on() -> None:
    root = "/home/dev/project"
    assert describe_input({"file_path": f"{root}/a.py", "old_string": "x"}, root) == "a.py"
    assert describe_input({"command": "make check", "description": "checks"}, root) == "make check"
    assert describe_input({"command": 7, "query": "words"}, root) == "words"
    assert describe_input({"odd": 1}, root) == '{"odd": 1}'
    assert describe_input({}, root) == ""


def written(path: Path, section: str) -> bytes:
    write_section(path, section, "# Task: x", "## Instructions")
    return path.read_bytes()


def outside(content: bytes) -> bytes:
    """The text outside our section."""
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
