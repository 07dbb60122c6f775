"""How far an item is, and what the work in a file is about."""

from ralph_tui.layers.context.work import ItemProgress, item_progress, words_about
from tests.rows import each_row

PARTS = (("validate the token", True), ("parse the URL", False))


@each_row(
    ("parts", "reported", "words", "focus"),
    [
        (PARTS, None, "50 % done: 1 of 2 sub-items", "parse the URL"),
        (PARTS, 90.0, "50 % done: 1 of 2 sub-items", "parse the URL"),
        (PARTS[1:], 70.0, "70 % done, according to the agent", "parse the URL"),
        (PARTS[1:], None, "", "parse the URL"),
        ((), 70.0, "70 % done, according to the agent", ""),
        ((), None, "", ""),
    ],
)
def test_ticked_sub_items_count_more_than_a_report(
    parts: tuple[tuple[str, bool], ...], reported: float | None, words: str, focus: str
) -> None:
    found = item_progress(parts, reported)
    assert (found.words, found.focus) == (words, focus)


def test_nothing_known_is_no_progress() -> None:
    assert item_progress((), None) == ItemProgress()


@each_row(
    ("text", "words"),
    [
        ("I read a.py. Now src/lexer.py gets the OAuth callback: then tests.",
         "Now src/lexer.py gets the OAuth callback"),
        ("- **lexer.py** handles the callback\n- rest", "lexer.py** handles the callback"),
        ("lexer.py", ""),
        ("Edited tests/lexer.py for nested groups.", ""),
        ("Edited lexer.pyc for nested groups.", ""),
        ("Nothing of it.", ""),
    ],
)  # fmt: skip
def test_a_file_is_described_by_the_sentence_that_names_it(text: str, words: str) -> None:
    assert words_about("src/lexer.py", [text]) == words
