"""What is recommended about a window."""

import pytest

from ralph_tui.layers.context.advice import windows_fill
from ralph_tui.state.context import ContextUse


def use(peak: float | None = None, filled: int = 0) -> ContextUse:
    return ContextUse(1, peak_percent=peak, filled=filled, rollovers=filled)


@pytest.mark.parametrize(
    ("history", "fill"),
    [
        ([], False),
        ([use(60), use(70)], False),
        ([use(90)], False),
        ([use(86), use(40), use(88)], True),
        ([use(86, filled=2)], True),
        ([use(30), use(87, filled=1), use(), use(), use(), use(), use(), use(88)], True),
        ([use(86), use(88), *[use(40)] * 5], False),
    ],
)
def test_two_full_windows_of_five_iterations_are_no_accident(
    *, history: list[ContextUse], fill: bool
) -> None:
    assert windows_fill(history) is fill


def test_a_window_is_full_where_it_was_said_to_be() -> None:
    assert windows_fill([use(72), use(74)], 70.0)
    assert not windows_fill([use(86), use(88)], 90.0)
