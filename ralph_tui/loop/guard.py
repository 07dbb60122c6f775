"""The guard of the layers: a layer that fails is no bug of the run.

What a layer decides is advice. When it raises, or gives what is none, its fallback is taken, the
log says so, and the journal keeps the traceback; the agent's work and its measurement go on, and
the next iteration tries the layer again. Everything else that raises unexpectedly is a bug, and the
engine's to record.

`guarded` catches in what a step decides or waits for, `step.guards` in a whole step, and
`Guard.attempt` where nothing can be recorded.
"""

import traceback
from collections.abc import Callable
from typing import TypeVar

from ralph_tui.base.errors import RalphError
from ralph_tui.events import Event, Noticed
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.text.sanitize import clip, one_line

T = TypeVar("T")
LONGEST = 300
"""Characters of what an exception says of itself in the log; the traceback has the rest."""
LONGEST_TRACEBACK = 20_000
"""Characters; its end says most."""


def guarded(
    record: Callable[[Event], object],
    layer: str,
    decide: Callable[[], T],
    fallback: Callable[[], T],
    *,
    instead: str,
) -> T:
    """What `decide` gives, or `fallback` when it raises; `instead` says what that means.

    `layer` is the name of its package or module below ``layers``. The run's end and expected
    errors pass.
    """
    try:
        return decide()
    except (Ended, RalphError):
        raise
    except Exception as error:  # noqa: BLE001  the one guard of layers: a failing one ends no run
        record(_failure(layer, error, instead))
    return fallback()


class Guard:
    """Takes fallbacks where nothing can be recorded, and keeps what is to be recorded of it."""

    def __init__(self) -> None:
        self._failures: list[Event] = []

    def attempt(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
    ) -> T:
        """As `guarded`."""
        return guarded(self._failures.append, layer, decide, fallback, instead=instead)

    def take(self) -> list[Event]:
        """What failed since the last call."""
        failures, self._failures = self._failures, []
        return failures


def _failure(layer: str, error: Exception, instead: str) -> Noticed:
    words = clip(one_line(str(error)[: 4 * LONGEST]), LONGEST)
    said = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return Noticed(
        level="error",
        source=layer,
        text=f"{layer} failed ({said}); {instead}",
        detail="".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:],
    )
