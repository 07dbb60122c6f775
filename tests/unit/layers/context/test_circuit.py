"""The circuit breaker: three of the same, running, and nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.circuit import (
    KEPT,
    TIMES,
    Circuit,
    error_hash_of,
    hash_of,
)

HASHES = st.sampled_from(["", "a", "b"])
RESULTS = st.lists(st.tuples(HASHES, HASHES), max_size=30)


def after(results: list[tuple[str, str]]) -> Circuit:
    circuit = Circuit()
    for diff, error in results:
        circuit = circuit.after(diff, error)
    return circuit


@pytest.mark.parametrize(
    ("results", "tripped"),
    [
        ([("a", ""), ("a", "")], False),
        ([("a", ""), ("a", ""), ("a", "")], True),
        ([("a", ""), ("a", ""), ("b", "")], False),
        ([("", ""), ("", ""), ("", "")], False),
        ([("a", "x"), ("b", "x"), ("c", "x")], True),
        ([("a", "x"), ("b", ""), ("c", "x"), ("d", "x")], False),
        ([("a", "x"), ("b", "y"), ("c", "x")], False),
    ],
)
def test_three_of_the_same(results: list[tuple[str, str]], *, tripped: bool) -> None:
    assert bool(after(results).tripped) is tripped


@given(RESULTS)
def test_it_trips_exactly_when_the_last_three_are_alike(results: list[tuple[str, str]]) -> None:
    last = results[-TIMES:]
    alike = len(last) == TIMES and any(
        last[0][of] and all(one[of] == two[of] for one, two in pairwise(last)) for of in (0, 1)
    )
    assert bool(after(results).tripped) is alike
    assert len(after(results).error_hashes) <= KEPT


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
