"""A row of keys with what they do, in the room that there is. Pure.

Rule: where room is short, the last verbs are left out first, then whole keys; no key is ever cut.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ralph_tui.tui.draw.spans import Line, cells, clip_line

T = TypeVar("T")


def fitted(
    items: Sequence[T],
    draw: Callable[[Sequence[T], int], Line],
    width: int,
    last: Callable[[T], bool] = lambda _: False,
) -> Line:
    """The row; `draw` is given the items and how many of their verbs are left out, from the end.

    Of whole items the last go first, those of which `last` holds after all others.
    """
    left = list(items)
    while True:
        for bare in range(len(left) + 1):
            spans = draw(left, bare)
            if cells(spans) <= width:
                return spans
        if len(left) <= 1:
            return clip_line(spans, width)
        spare = [number for number, item in enumerate(left) if not last(item)]
        del left[(spare or range(len(left)))[-1]]
