"""The session of a foreign iteration, with its checkpoints, as events in their order."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from ralph_tui.adapters.agents.ends import SessionEnd
from ralph_tui.events import CheckpointCaptured, SessionFinished, SessionStarted
from ralph_tui.events.workspace import Trigger
from ralph_tui.importers.printed import Printed, Timed
from ralph_tui.importers.told import ToldIteration

_CUT = SessionEnd("crashed", "The agent's process was ended without a result.")


def session_of(told: ToldIteration, agent: str) -> Iterator[Timed]:
    """Its start, what happened in it, its end; nothing of a session of which nothing was kept."""
    printed = told.printed
    moments = list(_moments(told))
    if printed is None:
        yield from moments
        return
    started = told.started
    yield _started(told, printed, agent), started
    inside = _timed(printed, started, told.ended)
    end = told.ended
    late = [one for one in moments if end is not None and one[1] is not None and one[1] > end]
    late = late or (moments[-1:] if len(moments) > 1 and told.read else [])
    moments = [one for one in moments if one not in late]
    known = [(at, index, event) for index, (event, at) in enumerate([*moments, *inside]) if at]
    if known:
        yield from ((event, at) for at, _, event in sorted(known, key=lambda one: one[:2]))
    yield from ((event, None) for event, at in [*moments, *inside] if at is None)
    yield _finished(told, printed), told.ended
    yield from late


def _started(told: ToldIteration, printed: Printed, agent: str) -> SessionStarted:
    return SessionStarted(
        iteration=told.number,
        session_id=told.session_id or printed.session_id,
        agent=agent,
        transcript=told.output,
        tells_tools=not printed.plain,
        tells_context=not printed.plain,
    )


def _finished(told: ToldIteration, printed: Printed) -> SessionFinished:
    end = printed.end
    if printed.plain:  # nothing in it says how it ended, and the exit code of a signal is 0 too
        end = SessionEnd("success") if told.completion is not None else _CUT
    lasted = told.duration_s
    if lasted is None and told.started is not None and told.ended is not None:
        lasted = (told.ended - told.started).total_seconds()
    return SessionFinished(
        iteration=told.number,
        outcome=end.outcome,
        reason=end.reason,
        exit_code=told.exit_code,
        duration_s=lasted or 0.0,
        cost_usd=printed.cost_usd,
        tokens=printed.tokens,
        turns=printed.turns,
        tool_calls=printed.tool_calls,
        tool_errors=printed.tool_errors,
        limit=end.limit,
        resets_at=end.resets_at,
    )


def _timed(printed: Printed, started: datetime | None, ended: datetime | None) -> list[Timed]:
    """Events each with its time; where no line has one they share that of the session evenly."""
    events = printed.events
    if any(at is not None for _, at in events):
        return list(_between_seconds(events, started, ended))
    if started is None or ended is None:
        return events
    part = (ended - started) / (len(events) + 1)
    return [(event, started + (index + 1) * part) for index, (event, _) in enumerate(events)]


def _between_seconds(
    events: list[Timed], started: datetime | None, ended: datetime | None
) -> Iterator[Timed]:
    """Transcripts tell whole seconds: what came in the same one shares the rest of it evenly."""
    latest = started
    known: list[Timed] = []
    for event, at in events:
        latest = max(filter(None, (latest, at)), default=None)
        known.append((event, latest))
    for latest, group in groupby(known, key=lambda one: one[1]):
        same = list(group)
        if latest is None or ended is None or any(at and at.microsecond for _, at in events):
            yield from same
            continue
        second = latest.replace(microsecond=0) + timedelta(seconds=1)
        part = max(timedelta(0), min(second, ended) - latest) / (len(same) + 1)
        yield from ((event, latest + index * part) for index, (event, _) in enumerate(same, 1))


def _moments(told: ToldIteration) -> Iterator[Timed]:
    """Its checkpoints."""
    for index, one in enumerate(told.checkpoints):
        last = index == len(told.checkpoints) - 1
        trigger: Trigger = "timer" if index else "start"
        yield (
            CheckpointCaptured(
                iteration=told.number,
                number=index + 1,
                trigger="end" if last and index and told.read else trigger,
                path=one.path,
                session_id=one.session_id,
                duration_s=one.duration_s,
                files=one.files,
            ),
            one.at,
        )
