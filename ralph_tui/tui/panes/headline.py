"""The run in one sentence: does it need me, and is it getting anywhere. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime

from ralph_tui.state import RunState
from ralph_tui.state.wording import wait_words
from ralph_tui.text.format import count, day_and_clock, ending, percent
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import (
    DISCONNECTED,
    NEEDS_YOU,
    OUTCOMES,
    PHASES,
    SEVERITIES,
    WAITS,
    in_words,
)
from ralph_tui.tui.draw.spans import flat
from ralph_tui.tui.draw.words import OUTCOME_STYLES, countdown, level_mark, since

TOPICS = {"redirect": "REDIRECT · ", "pause": "PAUSE · ", "criterion": "is it done? "}
"""What is to be decided, in short."""
THEN = {"PAUSED": "paused", "STOPPING": "stops", "PAUSING": "pauses"}
"""What was wished for during a wait, which goes on all the same."""
ROOM_CELLS = 300
"""Of a question that is told in passing."""
QUIET_S = 120
"""Silence of a working agent that is worth saying."""


@dataclass(frozen=True)
class Headline:
    """A glyph, a style, one word for the header, and the sentence."""

    glyph: str
    style: str
    word: str
    text: str
    calm: bool = False
    """Nothing is wrong, and nobody is needed."""


LOST = Headline(
    DISCONNECTED.glyph,
    "bad",
    DISCONNECTED.word.upper(),
    f"{DISCONNECTED.word}: its process is gone; ralph-tui resume goes on",
)


def headline(state: RunState, now: datetime, *, lost: bool = False) -> Headline:
    """What the owner should know first; `lost`: the run's process is gone, without an end."""
    return (
        _end(state)
        or (LOST if lost else None)
        or _question(state, now)
        or _giving_up(state)
        or _wait(state, now)
        or _wish(state)
        or _alarm(state)
        or _quiet(state, now)
        or _outlook(state)
    )


def _end(state: RunState) -> Headline | None:
    run = state.run
    if run.crash is not None:
        glyph, word, _ = PHASES["crashed"]
        return Headline(glyph, "bad", word.upper(), f"{word}: {flat(run.crash.error)}")
    if run.finished is not None:
        glyph, word, _ = OUTCOMES[run.finished.outcome]
        style = OUTCOME_STYLES[run.finished.outcome]
        said = ending(run.finished.outcome, run.finished.reason)
        return Headline(glyph, style, word.upper(), flat(said))
    return None


def _question(state: RunState, now: datetime) -> Headline | None:
    question = state.needs.question
    if question is None or state.run.aborting or state.run.stopping == "now":
        return None
    left = countdown(question.deadline, now)
    default = f", else {in_words(flat(question.default, 40))} in {left}" if left else ""
    topic = TOPICS.get(question.topic, "")
    text = clip(flat(question.text).rstrip("."), ROOM_CELLS - len(default))
    return Headline(
        NEEDS_YOU.glyph, "warn", NEEDS_YOU.word.upper(), f"d decides{default}: {topic}{text}"
    )


def _wait(state: RunState, now: datetime) -> Headline | None:
    wait = state.needs.wait
    if wait is None:
        return None
    glyph, cause = WAITS[wait.cause].glyph, wait_words(wait, now)
    wish = _wish(state)
    then = "" if wish is None else f"; then {THEN[wish.word]}"
    if wait.until is None:
        text = f"waiting: {cause}, until there is room{then or '; w: now'}"
        return Headline(glyph, "warn", "WAITING", text)
    at, left = day_and_clock(wait.until, now), countdown(wait.until, now)
    text = f"waiting: {cause}, again at {at}, in {left}{then or '; w retries now'}"
    return Headline(glyph, "warn", "WAITING", text)


def _giving_up(state: RunState) -> Headline | None:
    run = state.run
    if run.aborting:
        glyph = OUTCOMES["aborted"].glyph
        return Headline(glyph, "warn", "ABORTING", "aborting: the agent is being stopped")
    if run.stopping == "now":
        glyph = PHASES["finished"].glyph
        return Headline(glyph, "warn", "STOPPING", "stopping: the agent is being stopped")
    return None


def _wish(state: RunState) -> Headline | None:
    run = state.run
    paused, stopped = PHASES["paused"].glyph, PHASES["finished"].glyph
    if run.paused:
        return Headline(paused, "owner", "PAUSED", "paused: the loop waits for you, p goes on")
    if run.stopping == "after_iteration":
        return Headline(stopped, "owner", "STOPPING", "stopping: this iteration ends first")
    if run.pause_requested:
        return Headline(paused, "owner", "PAUSING", "pausing: this iteration ends first")
    return None


def _alarm(state: RunState) -> Headline | None:
    alarms = state.control.alarms
    for name in ("REGRESSING", "OSCILLATING", "STUCK", "BUDGET_EXCEEDED"):
        alarm = alarms.get(name)
        if alarm is not None:
            glyph, style = level_mark(SEVERITIES[alarm.severity])
            word = name.split("_")[0]
            return Headline(glyph, style, word, f"{word.lower()}: {flat(alarm.reason)}")
    return None


def _quiet(state: RunState, now: datetime) -> Headline | None:
    run = state.run
    if run.phase not in ("agent", "waiting"):
        return None
    last = run.last_output_at or run.iteration_started_at
    if last is None or (now - last).total_seconds() < QUIET_S:
        return None
    return Headline(*level_mark("warn"), "QUIET", f"quiet: no output for {since(last, now)}")


def _outlook(state: RunState) -> Headline:
    return replace(_forecast(state), calm=True)


def _forecast(state: RunState) -> Headline:
    run, signal = state.run, state.control.latest
    begun = PHASES["starting"].glyph
    if run.started is None:
        return Headline(begun, "dim", "waiting", "waiting for the first event")
    if run.completion is None:
        return Headline(begun, "dim", "starting", "starting: measuring where the work stands")
    if signal is None:
        start = percent(run.completion)
        return Headline(
            begun, "dim", "starting", f"starting from {start}: no iteration measured yet"
        )
    left = max(0, run.max_iterations - signal.iteration)
    if signal.forecast is None:
        return Headline(
            begun, "dim", "flat", f"no forecast: no progress yet, {left} iterations left"
        )
    need = max(1, round(signal.forecast + 0.499))
    more = f"about {count(need, 'more iteration')}"
    if signal.fits:
        return Headline(*level_mark("good"), "on track", f"on track: {more}")
    return Headline(*level_mark("warn"), "slow", f"slow: {more}, {clip(str(left), 9)} left")
