"""The guard of the layers: a layer that fails is no bug of the run.

What a layer decides is advice. When it raises, or gives what is none, its fallback is taken, the
log says so, and the journal keeps the traceback; the agent's work and its measurement go on, and
the next iteration tries the layer again. Everything else that raises unexpectedly is a bug, and the
engine's to record.

`Guard.attempt` catches in what is decided at once, `guarded_steps` in what takes waits; `guarded`
and `guards` are these two where a step decides, and where a whole step may fail.
"""

import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ralph_tui.errors import RalphError
from ralph_tui.events import Noticed
from ralph_tui.loop.waiting.controls import Ended, Steps
from ralph_tui.text.sanitize import clip, one_line

T = TypeVar("T")
P = ParamSpec("P")
LONGEST = 300
"""Characters of what an exception says of itself in the log; the traceback has the rest."""
LONGEST_TRACEBACK = 20_000
"""Characters; its end says most."""


class Guard:
    """Takes fallbacks, and keeps what is to be told of it."""

    def __init__(self) -> None:
        self._failures: list[Noticed] = []

    def attempt(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
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
            self._failures.append(_failure(layer, error, instead))
        return fallback()

    def take(self) -> list[Noticed]:
        """What failed since the last call."""
        failures, self._failures = self._failures, []
        return failures


def guarded(
    layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
) -> Steps[T]:
    """As `Guard.attempt`, and what failed is told."""
    guard = Guard()
    given = guard.attempt(layer, decide, fallback, instead=instead)
    yield from guard.take()
    return given


def guarded_steps(
    layer: str, steps: Callable[[], Steps[T]], fallback: Callable[[], T], *, instead: str
) -> Steps[T]:
    """As `guarded`, where what is decided takes waits."""
    try:
        return (yield from steps())
    except (Ended, RalphError):
        raise
    except Exception as error:  # noqa: BLE001  as above
        failed = _failure(layer, error, instead)
    yield failed
    return fallback()


def guards(
    layer: str, *, instead: str
) -> Callable[[Callable[P, Steps[None]]], Callable[P, Steps[None]]]:
    """A step that is done without when it fails: what it had yielded by then stands."""

    def guard(step: Callable[P, Steps[None]]) -> Callable[P, Steps[None]]:
        @wraps(step)
        def carried_out(*args: P.args, **named: P.kwargs) -> Steps[None]:
            yield from guarded_steps(
                layer, lambda: step(*args, **named), lambda: None, instead=instead
            )

        return carried_out

    return guard


def _failure(layer: str, error: Exception, instead: str) -> Noticed:
    words = clip(one_line(str(error)[: 4 * LONGEST]), LONGEST)
    said = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return Noticed(
        level="error",
        source=layer,
        text=f"{layer} failed ({said}); {instead}",
        detail="".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:],
    )
