"""The run in one sentence: does it need me, and is it getting anywhere.

Rule: nothing else judges a run. Header, panes and status say this, and the prompt's advice, which
asks the same numbers, cannot contradict it.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from ralph_tui.analysis.context import handing_over_words
from ralph_tui.events.control import AlarmName
from ralph_tui.layers.control import iterations_needed
from ralph_tui.state import RunState
from ralph_tui.state.wording import background_words, wait_words
from ralph_tui.text.format import count, day_and_clock, duration, ending, percent
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import (
    ASKED,
    DISCONNECTED,
    LEVEL_TONES,
    LEVELS,
    NEEDS_YOU,
    OUTCOME_TONES,
    OUTCOMES,
    PHASES,
    ROLLOVER,
    SEVERITIES,
    WAITS,
    RowLevel,
    Tone,
    in_words,
)

TOPICS = {
    "redirect": "REDIRECT · ",
    "pause": "PAUSE · ",
    "criterion": "is it done? ",
    "handoff": "handoff · ",
}
"""What is to be decided, in short."""
THEN = {"PAUSED": "paused", "STOPPING": "stops", "PAUSING": "pauses"}
"""What was wished for during a wait, which goes on all the same."""
CRITICAL_SUBJECTS = ("oscillating", "regressing")
ALARMS: dict[str, AlarmName] = {
    "stuck": "STUCK",
    "oscillating": "OSCILLATING",
    "regressing": "REGRESSING",
}
ROOM_CELLS = 300
"""Of a question that is told in passing."""
QUIET_S = 120
"""Silence of a working agent that is worth saying."""


@dataclass(frozen=True)
class Verdict:
    """A glyph, a tone, one word for the header, and the sentence."""

    glyph: str
    tone: Tone
    word: str
    text: str
    calm: bool = False
    """Nothing is wrong, and nobody is needed."""


LOST = Verdict(
    DISCONNECTED.glyph,
    "bad",
    DISCONNECTED.word.upper(),
    f"{DISCONNECTED.word}: its process is gone; ralph-tui resume goes on",
)


UNHEARD = Verdict(
    DISCONNECTED.glyph,
    "warn",
    "UNHEARD",
    "unheard: nothing comes from its sessions any more, and no end was recorded",
)
"""The same of a loop that hooks record: whether a process is gone nobody knows."""


def verdict(
    state: RunState, now: datetime, *, lost: bool = False, recorded: bool = False
) -> Verdict:
    """What the owner should know first; `lost`: the run's process is gone, without an end.

    `recorded`: nobody can command what is shown, so no key is offered.
    """
    return (
        _end(state)
        or (_lost(state) if lost else None)
        or _question(state, now, recorded=recorded)
        or _giving_up(state)
        or _wait(state, now, recorded=recorded)
        or _wish(state, recorded=recorded)
        or _held(state, recorded=recorded)
        or _handing_over(state)
        or _quiet(state, now)
        or course(state)
    )


def _lost(state: RunState) -> Verdict:
    return UNHEARD if state.run.started and state.run.started.watched else LOST


def course(state: RunState) -> Verdict:
    """Where the work goes, whatever the hour: the open episode, an alarm, or the forecast."""
    return _end(state) or _episode(state) or _alarm(state) or _outlook(state)


def _end(state: RunState) -> Verdict | None:
    run = state.run
    if run.crash is not None:
        glyph, word, _ = PHASES["crashed"]
        return Verdict(glyph, "bad", word.upper(), f"{word}: {_row(run.crash.error)}")
    if run.finished is not None:
        glyph, word, _ = OUTCOMES[run.finished.outcome]
        tone = OUTCOME_TONES[run.finished.outcome]
        said = ending(run.finished.outcome, run.finished.reason)
        return Verdict(glyph, tone, word.upper(), _row(said))
    return None


def _question(state: RunState, now: datetime, *, recorded: bool) -> Verdict | None:
    question = state.needs.question
    if question is None or state.run.aborting or state.run.stopping == "now":
        return None
    left = _countdown(question.deadline, now)
    default = f", else {in_words(_row(question.default, 40))} in {left}" if left else ""
    topic = TOPICS.get(question.topic, "")
    text = clip(_row(question.text).rstrip("."), ROOM_CELLS - len(default))
    term, who = (ASKED, "asked") if recorded else (NEEDS_YOU, "d decides")
    return Verdict(term.glyph, "warn", term.word.upper(), f"{who}{default}: {topic}{text}")


def _wait(state: RunState, now: datetime, *, recorded: bool) -> Verdict | None:
    wait = state.needs.wait
    if wait is None:
        return None
    glyph, cause = WAITS[wait.cause].glyph, wait_words(wait, now)
    wish = _wish(state, recorded=recorded)
    then = "" if wish is None else f"; then {THEN[wish.word]}"
    offer = not recorded
    if wait.until is None:
        text = f"waiting: {cause}, until there is room{then or '; w: now' * offer}"
        return Verdict(glyph, "warn", "WAITING", text)
    at, left = day_and_clock(wait.until, now), _countdown(wait.until, now)
    text = f"waiting: {cause}, again at {at}, in {left}{then or '; w retries now' * offer}"
    return Verdict(glyph, "warn", "WAITING", text)


def _giving_up(state: RunState) -> Verdict | None:
    run = state.run
    if run.aborting:
        glyph = OUTCOMES["aborted"].glyph
        return Verdict(glyph, "warn", "ABORTING", "aborting: the agent is being stopped")
    if run.stopping == "now":
        glyph = PHASES["finished"].glyph
        return Verdict(glyph, "warn", "STOPPING", "stopping: the agent is being stopped")
    return None


def _wish(state: RunState, *, recorded: bool) -> Verdict | None:
    run = state.run
    paused, stopped = PHASES["paused"].glyph, PHASES["finished"].glyph
    if run.paused:
        waits = "the loop waits" if recorded else "the loop waits for you, p goes on"
        return Verdict(paused, "owner", "PAUSED", f"paused: {waits}")
    if run.stopping == "after_iteration":
        return Verdict(stopped, "owner", "STOPPING", "stopping: this iteration ends first")
    if run.pause_requested:
        return Verdict(paused, "owner", "PAUSING", "pausing: this iteration ends first")
    return None


def _held(state: RunState, *, recorded: bool) -> Verdict | None:
    """By what the agent left running when its turn ended."""
    held = state.run.background
    if held is None:
        return None
    limit = f"ended after {duration(held.silence_s)} of silence"
    text = f"{background_words(held)}; {limit}{'; i ends it now' * (not recorded)}"
    return Verdict(PHASES["waiting"].glyph, "warn", "WAITING", f"the session {_row(text)}")


def _handing_over(state: RunState) -> Verdict | None:
    """A session that is ended for its context, until the next one of the iteration has begun."""
    words = handing_over_words(state)
    if not words:
        return None
    return Verdict(ROLLOVER.glyph, "warn", "HANDING OVER", f"handing over: {_row(words)}")


def _episode(state: RunState) -> Verdict | None:
    """An alarm that was met: what, since when, and what was done about it."""
    made = state.oversight.episode
    if made is None or _done(state):
        return None
    glyph, tone = _mark("critical" if made.about in CRITICAL_SUBJECTS else "warn")
    word = in_words(made.about).removeprefix("objective ")
    alarm = state.control.alarms.get(ALARMS.get(made.about, "STUCK"))
    if made.about == "circuit":
        alarm = None  # what it says is no condition of the readings
    reason = _row(alarm.reason if alarm else made.reason).rstrip(".")
    if not made.decision:
        did = "you are asked"
    elif made.instructions:
        did = f"instructions were sent after iteration {made.iteration}"
    else:
        did = f"{made.decision} after iteration {made.iteration}"
    if state.oversight.stale:
        still = "; files were brought back since: the next reading tells"
    elif made.about == "circuit":
        still = "; files change again, nothing is gained yet" if _changes_again(state) else ""
    elif alarm:
        still = ""
    else:
        still = "; better since, not yet by enough to call it over"
    return Verdict(glyph, tone, word.upper(), f"{word}: {reason}; {did}{still}")


def _changes_again(state: RunState) -> bool:
    """Whether the circuit breaker has closed since it asked."""
    checks = state.oversight.checks
    return bool(checks) and all(one.name != "circuit" for one in checks[-1].detections)


def _alarm(state: RunState) -> Verdict | None:
    if _done(state):
        return None
    for name in ("REGRESSING", "OSCILLATING", "STUCK", "BUDGET_EXCEEDED"):
        alarm = state.control.alarms.get(name)
        if alarm is not None:
            word = name.split("_")[0]
            text = f"{word.lower()}: {_row(alarm.reason)}"
            return Verdict(*_mark(SEVERITIES[alarm.severity]), word, text)
    return None


def _quiet(state: RunState, now: datetime) -> Verdict | None:
    run = state.run
    if run.phase not in ("agent", "waiting"):
        return None
    last = run.last_output_at or run.iteration_started_at
    if last is None or (now - last).total_seconds() < QUIET_S:
        return None
    return Verdict(
        *_mark("warn"), "QUIET", f"quiet: no output for {duration((now - last).total_seconds())}"
    )


def _outlook(state: RunState) -> Verdict:
    found = _forecast(state)
    return replace(found, calm=found.tone == "good")


def _forecast(state: RunState) -> Verdict:
    run, signal = state.run, state.control.latest
    begun = PHASES["starting"].glyph
    if run.started is None:
        return Verdict(begun, "dim", "waiting", "waiting for the first event")
    if run.completion is None and run.started.watched:
        return Verdict(begun, "dim", "watched", "watched: nothing measures how far it is")
    if run.completion is None:
        return Verdict(begun, "dim", "starting", "starting: measuring where the work stands")
    if signal is None:
        start = percent(run.completion)
        return Verdict(
            begun, "dim", "starting", f"starting from {start}: no iteration measured yet"
        )
    if _done(state):
        return Verdict(*_mark("good"), "done", f"done: {percent(run.completion)} measured")
    left = _left(state, signal.iteration)
    if state.oversight.stale:
        text = f"files were brought back: the next reading tells, {_remain(left)}"
        return Verdict(begun, "dim", "restored", text)
    if signal.forecast is None:
        stands = "no progress yet" if run.completion <= (run.baseline or 0.0) else "not rising now"
        return Verdict(begun, "dim", "flat", f"no forecast: {stands}, {_remain(left)}")
    need = iterations_needed(signal.forecast)
    more = f"about {count(need, 'more iteration')}"
    if need <= left:
        return Verdict(*_mark("good"), "on track", f"on track: {more}")
    return Verdict(*_mark("warn"), "slow", f"slow: {more}, {clip(str(left), 9)} left")


def _left(state: RunState, measured: int) -> int:
    """Iterations that can still be measured, the one under way included."""
    run, span = state.run, state.timeline.current
    ended = run.iteration <= measured or (span is not None and span.finished is not None)
    return max(0, run.max_iterations - run.iteration + (0 if ended else 1))


def _countdown(moment: datetime | None, now: datetime) -> str:
    return "" if moment is None else duration((moment - now).total_seconds())


def _remain(left: int) -> str:
    return f"{count(left, 'iteration')} left"


def _done(state: RunState) -> bool:
    return (state.run.completion or 0.0) >= 100


def _mark(level: RowLevel) -> tuple[str, Tone]:
    return LEVELS[level].glyph, LEVEL_TONES[level]


def _row(text: str, limit: int = 400) -> str:
    """On one row."""
    return " ".join(text[:limit].split())
