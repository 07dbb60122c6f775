"""The circuit breaker: only three equal iterations in a row."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.state_file import KEPT, TIMES, Circuit
from tests.rows import each_row

HASHES = st.sampled_from(["", "a", "b"])
RESULTS = st.lists(st.tuples(HASHES, HASHES), max_size=30)


def after(results: list[tuple[str, str]]) -> Circuit:
    circuit = Circuit()
    for diff, error in results:
        circuit = circuit.after(diff, error)
    return circuit


@each_row(
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
