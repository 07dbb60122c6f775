"""Summaries: no secret is told, and what can hold none is told without looking for one."""

import string

from hypothesis import given
from hypothesis import strategies as st

from bench.secret_forms import Form, forms
from ralph_tui.hooks.program.summaries import LONGEST, about, clean, harmless, identifier
from ralph_tui.text.secrets import redact
from tests.rows import each_row

WORDS = st.text(alphabet=string.ascii_letters + string.digits + " ./_,*-=:@'\"\n", max_size=80)


@each_row("form", forms())
def test_no_form_of_a_secret_is_harmless(form: Form) -> None:
    assert not harmless(form.text)


@given(WORDS)
def test_what_is_harmless_is_left_as_it_is(text: str) -> None:
    if harmless(text):
        assert redact(text) == text


@each_row(
    "text",
    ["pytest -q tests", "git diff --stat", "src/parser/lexer.py", "make check", "ls -l, *.py"],
)
def test_what_sessions_do_most_is_harmless(text: str) -> None:
    assert harmless(text)


@each_row(
    "text",
    ["mysql -phunter", "export TOKEN=abc", "a@b", "x" * 20, "mysql -u root", "a\x1b[31m", "ab\ncd"],
)
def test_what_may_hold_one_is_not(text: str) -> None:
    assert not harmless(text)


def test_a_summary_is_one_short_line() -> None:
    assert clean("a\nb") == "a⏎b"
    assert clean("word " * 200) == ("word " * 200)[: LONGEST - 1] + "…"
    assert "\x1b" not in clean("\x1b[31mred")
    assert identifier("toolu_1 <b>\n") == "toolu_1b"


def test_what_a_tool_works_on() -> None:
    root = "/home/dev/project"
    assert about({"file_path": f"{root}/a.py", "old_string": "x"}, root) == "a.py"
    assert about({"command": "make check", "description": "checks"}, root) == "make check"
    assert about({"command": 7, "query": "words"}, root) == "words"
    assert about({"odd": 1}, root) == '{"odd": 1}'
    assert about({}, root) == ""
