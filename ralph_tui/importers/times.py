"""When the iterations of an external run began and ended, by the best that was recorded of each.

First what its transcript says; else its checkpoints; else the health check or the snapshot after it
as its end; else its analytics; else it shares the time that is left between its neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ralph_tui.importers.told import ToldIteration, ToldRun

_SECOND = timedelta(seconds=1)


@dataclass
class Clues:
    """What tells of an iteration's time."""

    before: datetime | None = None
    """The snapshot before its session."""
    first: datetime | None = None
    """Of the lines of its session."""
    last: datetime | None = None
    health: datetime | None = None
    after: datetime | None = None
    """The snapshot after its session."""
    analytics: datetime | None = None


def settle(told: ToldRun, clues: Sequence[Clues]) -> None:
    """Give every iteration its times; `clues` stand in the order of the iterations."""
    for iteration, clue in zip(told.iterations, clues, strict=True):
        _own_times(iteration, clue)
    _share(told)
    previous = told.started
    for index, (iteration, clue) in enumerate(zip(told.iterations, clues, strict=True)):
        following = told.iterations[index + 1 :]
        upto = following[0].started if following else told.updated
        began = clue.before
        within = began is not None and (previous is None or began >= previous)
        if began is not None and within and iteration.started and began <= iteration.started:
            iteration.opened = began
        done = [at for at in (clue.after, clue.health, clue.analytics) if at is not None]
        late = [at for at in done if iteration.ended and at >= iteration.ended]
        iteration.closed = max((at for at in late if not upto or at <= upto), default=None)
        previous = iteration.closed or iteration.ended or previous


def _own_times(iteration: ToldIteration, clue: Clues) -> None:
    moments = [one.at for one in iteration.checkpoints if one.at is not None]
    lasted = timedelta(seconds=iteration.duration_s or 0.0)
    if clue.first is not None and clue.last is not None:
        iteration.started, iteration.ended = clue.first, clue.last
        if moments:  # they tell parts of a second, which transcripts do not
            iteration.started = _finer(clue.first, moments[0])
            iteration.ended = _finer(clue.last, moments[-1])
    elif moments:
        iteration.started = moments[0]
        iteration.ended = moments[-1] if len(moments) > 1 else None
        if iteration.ended is None and iteration.duration_s:
            iteration.ended = moments[0] + lasted
    else:
        iteration.ended = clue.health or clue.after or clue.analytics
        if iteration.ended is not None:
            iteration.started = iteration.ended - lasted
    if iteration.started is not None and iteration.ended is not None:
        iteration.ended = max(iteration.started, iteration.ended)


def _finer(told: datetime, moment: datetime) -> datetime:
    """A checkpoint's time for the same second as a time of whole seconds."""
    return moment if not told.microsecond and told <= moment < told + _SECOND else told


def _share(told: ToldRun) -> None:
    """Iterations without a time share what is left between those before and after them."""
    index = 0
    while index < len(told.iterations):
        if told.iterations[index].started is not None:
            index += 1
            continue
        end = index
        while end < len(told.iterations) and told.iterations[end].started is None:
            end += 1
        before = told.iterations[index - 1] if index else None
        low = (before.ended or before.started) if before else told.started
        high = told.iterations[end].started if end < len(told.iterations) else told.updated
        if low is not None:
            whole = max(timedelta(0), high - low) if high is not None else timedelta(0)
            part = whole / (end - index)
            for place, iteration in enumerate(told.iterations[index:end]):
                iteration.started = low + place * part
                iteration.ended = low + (place + 1) * part
        index = end
