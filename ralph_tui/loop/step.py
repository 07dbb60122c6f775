"""Base class of all steps of a run."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ralph_tui.events import Event
from ralph_tui.loop.guard import guarded
from ralph_tui.loop.run import Run

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound="Step")


class Step:
    """A part of the loop that works on one run and records what happens."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._state = run.state
        self._scheduler = run.scheduler

    def record(self, *events: Event) -> None:
        """Journal and fold these events before the next line runs."""
        self._run.record(*events)

    def guarded(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], *, instead: str
    ) -> T:
        """Return the result of `decide`, or of `fallback` if it raises; see `guard`."""
        return guarded(self._run.record, layer, decide, fallback, instead=instead)


def guards(
    layer: str, *, instead: str
) -> Callable[[Callable[Concatenate[S, P], None]], Callable[Concatenate[S, P], None]]:
    """Decorate a step so that a failure ends only that step; its recorded events are kept."""

    def guard(step: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
        @wraps(step)
        def carried_out(self: S, /, *args: P.args, **named: P.kwargs) -> None:
            self.guarded(layer, lambda: step(self, *args, **named), lambda: None, instead=instead)

        return carried_out

    return guard
