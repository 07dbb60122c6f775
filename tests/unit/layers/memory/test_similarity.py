"""Similarity of two texts: share of common words; from .6 on they are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.memory.similarity import contradicts, is_same_text, jaccard, similar, words
from tests.rows import each_row

TEXTS = st.text(alphabet="abc ABC._-", max_size=30)


def test_words_are_what_a_text_names_however_it_is_written() -> None:
    assert words("Run parseDate, run `parse_date`!") == {"run", "parse", "date"}


@each_row(
    ("one", "other", "share", "same"),
    [
        ("Run the tests first", "run the TESTS first.", 1.0, True),
        ("a b c d", "a b c e", 3 / 5, True),  # exactly .6
        ("a b c d e f", "a b c d g h", 4 / 8, False),
        ("run tests", "write docs", 0.0, False),
        ("", "", 0.0, False),
    ],
)
def test_the_share_of_common_words(one: str, other: str, share: float, *, same: bool) -> None:
    assert jaccard(one, other) == pytest.approx(share)
    assert similar(one, other) is same


@given(TEXTS, TEXTS)
def test_it_is_a_share_and_knows_no_direction(one: str, other: str) -> None:
    assert 0.0 <= jaccard(one, other) <= 1.0
    assert jaccard(one, other) == jaccard(other, one)
    assert (jaccard(one, other) == 1.0) is bool(words(one) and words(one) == words(other))


@given(TEXTS)
def test_a_text_is_like_itself(text: str) -> None:
    assert similar(text, text) is bool(words(text))


@each_row(
    ("one", "other"),
    [
        ("Always use tabs, never spaces", "Always use spaces, never tabs"),
        ("The migrations must run in parallel", "The migrations must not run in parallel"),
        ("Set `strict` to true in the config", "Set `strict` to false in the config"),
        ("Set the cache to 10", "Set the cache to 1000"),
        ("Run the lexer before the parser", "Run the lexer after the parser"),
        ("Run the lexer before the parser", "Run the parser before the lexer"),
        ("Use the mock server here", "Don't use the mock server here"),
        ("The handlers are safe to call twice", "The handlers are unsafe to call twice"),
        ("Enable the cache while testing", "Disabling the cache while testing"),
    ],
)
def test_what_differs_in_a_negation_a_number_an_opposite_or_its_order_is_not_the_same(
    one: str, other: str
) -> None:
    assert contradicts(one, other)
    assert contradicts(other, one)
    assert not is_same_text(one, other)


@each_row(
    ("one", "other"),
    [
        ("Run one failing test first, then fix it", "run one failing test first and then fix"),
        ("Never commit the generated files here", "Do not commit the generated files here"),
        ("The fixture must be reset between tests", "the fixture must be reset between all tests"),
        ("Use pytest -x to stop at the first failure", "Use `pytest -x`, to stop at first failure"),
    ],
)
def test_the_same_in_almost_the_same_words_is_the_same(one: str, other: str) -> None:
    assert is_same_text(one, other)
    assert not contradicts(one, other)
