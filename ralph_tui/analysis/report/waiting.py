"""How long a run waited: for an answer, for a service, for the end of a pause. Pure.

Rule: two waits at once are one; a question that an agent works beside is none.
"""

from collections import defaultdict
from collections.abc import Sequence

from ralph_tui.events import (
    Event,
    IterationStarted,
    Paused,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    RunCrashed,
    RunFinished,
    RunResumed,
    Unpaused,
    WaitEnded,
    WaitStarted,
)

_PAUSE, _SERVICE = "pause", "service"


def waited(events: Sequence[Event]) -> dict[int, float]:
    """Seconds by iteration, 0 for before the first; only those that waited."""
    found: defaultdict[int, float] = defaultdict(float)
    waits: frozenset[str] = frozenset()
    iteration, since, last = 0, events[0].at, events[0].at
    for event in events:
        now = _after(event, waits)
        # What a kill cut off ended with the last that was recorded.
        at = last if isinstance(event, RunResumed) else event.at
        if now and not waits:
            since = at
        if waits and not now:
            found[iteration] += max(0.0, (at - since).total_seconds())
        if isinstance(event, IterationStarted):
            iteration = event.iteration
        waits, last = now, event.at
    if waits:
        found[iteration] += max(0.0, (last - since).total_seconds())
    return dict(found)


def _after(event: Event, waits: frozenset[str]) -> frozenset[str]:
    """What is waited for, of these and the one that the event opens or closes."""
    match event:
        case QuestionAsked() if event.topic != "silence":
            return waits | {event.question_id}
        case QuestionAnswered() | QuestionWithdrawn():
            return waits - {event.question_id}
        case Paused():
            return waits | {_PAUSE}
        case Unpaused():
            return waits - {_PAUSE}
        case WaitStarted():
            return waits | {_SERVICE}
        case WaitEnded():
            return waits - {_SERVICE}
        case IterationStarted() | RunFinished() | RunCrashed() | RunResumed():
            return frozenset()
    return waits
