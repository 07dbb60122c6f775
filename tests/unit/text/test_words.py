"""Words for comparison: split, folded, without parts that change over time."""

from ralph_tui.text.words import same_words, without_particulars, words_of
from tests.rows import each_row


def test_words_are_split_at_everything_but_letters_and_at_humps() -> None:
    assert words_of("src/fooBar_baz-HTTPServer.py") == [
        "src", "foo", "bar", "baz", "http", "server", "py",
    ]  # fmt: skip


@each_row(
    ("one", "other", "same"),
    [
        ("exit code 1", "exit code 137", True),
        ("request req_011CQx failed", "request req_99ZZa failed", True),
        ("cannot read /home/a/x.json", "cannot read C:\\tmp\\y.json", True),
        ("at 2026-01-01T10:00:00Z it died", "at 2026-02-03T11:12:13Z it died", True),
        ("The agent crashed", "the agent  crashed", True),
        ("137", "42", True),
        ("no such model", "not logged in", False),
        ("137", "", False),
    ],
)
def test_errors_are_compared_without_their_particulars(one: str, other: str, *, same: bool) -> None:
    assert (without_particulars(one) == without_particulars(other)) is same


def test_case_spaces_and_full_stop_make_no_other_sentence() -> None:
    assert same_words("  Run the\n tests. ") == same_words("run the TESTS") == "run the tests"
