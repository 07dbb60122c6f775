"""The guard of the layers: a layer that fails is no bug of the run.

What a layer decides is advice. When it raises, its fallback is taken, the log says so, and the
journal keeps the traceback; the agent's work and its measurement go on. Everything else that raises
unexpectedly is a bug, and the engine's to record.
"""

import traceback
from collections.abc import Callable
from typing import TypeVar

from ralph_tui.errors import RalphError
from ralph_tui.events import Noticed
from ralph_tui.loop.waiting.controls import Ended, Steps

T = TypeVar("T")


def guarded(
    layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
) -> Steps[T]:
    """What `decide` gives, or `fallback` when it raises; `instead` says what that means.

    `layer` is the name of its package or module below ``layers``.
    """

    def steps() -> Steps[T]:
        yield from ()
        return decide()

    return (yield from guarded_steps(layer, steps, fallback, instead=instead))


def guarded_steps(
    layer: str, steps: Callable[[], Steps[T]], fallback: Callable[[], T], *, instead: str
) -> Steps[T]:
    """As `guarded`, where what is decided takes waits; the run's end and expected errors pass."""
    try:
        return (yield from steps())
    except (Ended, RalphError):
        raise
    except Exception as error:  # noqa: BLE001  the one guard of layers: a failing one ends no run
        failed = Noticed(
            level="error",
            source=layer,
            text=f"{layer} failed ({type(error).__name__}: {error}); {instead}",
            detail="".join(traceback.format_exception(error)),
        )
    yield failed
    return fallback()
