"""Guards for the layers: a failing layer must not end the run.

A layer only advises. If it raises or returns an invalid value, the fallback is used. The log
reports it, and the journal keeps the traceback. The agent's work and its measurement continue, and
the next iteration tries the layer again. Any other unexpected exception is a bug, which the engine
records.

`guarded` wraps a single decision or wait of a step, `step.guards` a whole step, and `Guard.attempt`
code that cannot record events.
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
"""Maximum length of an exception's message in the log, in characters."""
LONGEST_TRACEBACK = 20_000
"""Maximum length of a traceback, in characters; its end, the most informative part, is kept."""


def guarded(
    record: Callable[[Event], object],
    layer: str,
    decide: Callable[[], T],
    fallback: Callable[[], T],
    *,
    instead: str,
) -> T:
    """Return the result of `decide`, or of `fallback` if it raises.

    `layer` is the name of its package or module below ``layers``. `instead` describes the
    consequence for the log. `Ended` and expected errors (`RalphError`) are not caught.
    """
    try:
        return decide()
    except (Ended, RalphError):
        raise
    except Exception as error:  # noqa: BLE001  the guard of the layers: a failing layer ends no run
        record(_failure(layer, error, instead))
    return fallback()


class Guard:
    """Applies fallbacks while events cannot be recorded yet, and keeps the failures for later."""

    def __init__(self) -> None:
        self._failures: list[Event] = []

    def attempt(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
    ) -> T:
        """Like `guarded`, but keep any failure until `take` returns it."""
        return guarded(self._failures.append, layer, decide, fallback, instead=instead)

    def take(self) -> list[Event]:
        """Return the failures since the last call."""
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
