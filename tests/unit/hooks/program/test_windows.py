"""Where the size of the window is known from, and what is said where it is not."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.hooks.program.windows import LARGEST, LEAST, VARIABLE, size_of, window_of
from tests.rows import each_row


@each_row(
    ("environ", "state", "model", "used", "tokens"),
    [
        ({VARIABLE: "1m"}, {"context_window": 200_000}, "claude-opus-4-5", 5, 1_000_000),
        ({}, {"context_window": 200_000}, "claude-sonnet-5-5", 5, 200_000),
        ({}, {"context_window": "500k"}, "", None, 500_000),
        ({}, {}, "claude-opus-4-5-20251101", 5, 200_000),
        ({}, {}, "claude-3-5-haiku-20241022", 5, 200_000),
        ({}, {}, "claude-opus-4-5", 200_001, None),
        ({}, {}, "claude-sonnet-5-5", 5, None),
        ({}, {}, "claude-opus-4-57", 5, None),
        ({}, {"context_window": -5}, "", 5, None),
        ({VARIABLE: "lots"}, {"context_window": 200_000}, "claude-opus-4-5", 5, None),
    ],
)
def test_the_window(
    environ: dict[str, str],
    state: dict[str, object],
    model: str,
    used: int | None,
    tokens: int | None,
) -> None:
    window = window_of(environ, state, model, used)
    assert window.tokens == tokens
    assert bool(window.problem) == (tokens is None)
    assert tokens is not None or VARIABLE in window.problem


@each_row(
    ("value", "size"),
    [("200k", 200_000), ("1M", 1_000_000), ("1_000_000", 1_000_000), ("200,000", 200_000)]
    + [(text, None) for text in ("", "k", "-5", "1e6", "0", "12", "9" * 30, "٣٠٠٠٠")],
)
def test_sizes_as_people_write_them(value: str, size: int | None) -> None:
    assert size_of(value) == size


@given(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()))
)
def test_a_size_is_one_or_none(value: object) -> None:
    size = size_of(value)
    assert size is None or LEAST <= size <= LARGEST
