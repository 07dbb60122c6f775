"""Hashes: equal for the same content in other words, and only then."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.hashes import error_hash_of, hash_of


def test_an_error_is_the_same_at_another_time_and_address() -> None:
    one = "2026-01-07T11:45:00Z /tmp/pytest-1/a.py: <Thing at 0x7f01> failed\n 3 failed in 0.12s"
    two = "2026-01-08 09:00:01.5 /tmp/pytest-2/b.py: <Thing at 0xbeef> failed\n3 failed in 12.5 s"
    assert error_hash_of(one.replace("Z", "")) == error_hash_of(two)
    assert error_hash_of(one) != error_hash_of(one.replace("3 failed", "2 failed"))
    assert error_hash_of(" \n ") == ""


@given(st.lists(st.text()), st.lists(st.text()))
def test_texts_in_their_order_have_a_hash(one: list[str], two: list[str]) -> None:
    assert (hash_of(*one) == hash_of(*two)) is (one == two)


def test_what_no_encoding_has_has_a_hash() -> None:
    assert hash_of("\ud800") != hash_of("\\ud800")
