"""Likeness of two texts: share of common words, from .6 on the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.memory.similarity import jaccard, similar, words

TEXTS = st.text(alphabet="abc ABC._-", max_size=30)


def test_words_are_what_a_text_names_however_it_is_written() -> None:
    assert words("Run parseDate, run `parse_date`!") == {"run", "parse", "date"}


@pytest.mark.parametrize(
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
