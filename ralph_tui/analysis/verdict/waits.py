"""Verdicts on a run that must wait: for an answer, a limit, its user or a silent agent."""

from datetime import datetime

from ralph_tui.analysis.context import handing_off_words
from ralph_tui.analysis.verdict.model import Verdict, mark, row, until
from ralph_tui.events import QuestionAsked
from ralph_tui.state import RunState
from ralph_tui.text.format import day_and_clock, duration
from ralph_tui.text.keys import Keys
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import (
    ASKED,
    DIED,
    NEEDS_YOU,
    OUTCOMES,
    PAUSING,
    PHASES,
    PROCESS_GONE,
    ROLLOVER,
    THEN_PAUSES,
    WAITS,
    Term,
    silence_word,
)
from ralph_tui.text.terms import UNHEARD as UNKNOWN_TERM

TOPICS = {
    "redirect": "Send the agent new instructions?",
    "pause": "Continue?",
    "goal": "When is it done?",
    "criterion": "Is it done?",
}
"""The decision to make, if the question's own text gives only the reason."""
THEN = {"paused": "then paused", "stopping": "then it stops", "pausing": THEN_PAUSES}
"""Requests made during a wait or a question, which are still pending."""
ROOM_CELLS = 300
"""Maximum width of a verdict that quotes an open question, in cells."""
QUIET_S = 120
"""Seconds of a working agent's silence that are worth reporting."""

LOST = Verdict(DIED.glyph, "bad", DIED.word, f"{DIED.word}: {PROCESS_GONE}")
UNHEARD = Verdict(
    DIED.glyph,
    "warn",
    UNKNOWN_TERM.word,
    f"{UNKNOWN_TERM.word}: its sessions no longer report, and no end was recorded",
)
"""For a lost loop recorded by hooks; its process may still be running."""
ENDLESS = Verdict(DIED.glyph, "bad", DIED.word, f"{DIED.word}: no end was recorded")
"""For a run that another tool recorded without an end."""


def lost_word(why: bool | str) -> Term:  # noqa: FBT001
    """Return the word for a lost run: died, unless its fleet knows better."""
    return DIED if why is True or str(why).startswith(DIED.word) else UNKNOWN_TERM


def gone(state: RunState, why: bool | str = True) -> Verdict:  # noqa: FBT001
    """Return the verdict on a run whose process is gone; `why` replaces the usual sentence."""
    if isinstance(why, str):
        return Verdict(DIED.glyph, "bad", lost_word(why).word, why)
    if state.foreign.tool:
        return ENDLESS
    return UNHEARD if state.run.started and state.run.started.watched else LOST


def question(
    state: RunState, now: datetime, *, recorded: bool, keys: Keys | None
) -> Verdict | None:
    """Return the verdict on the open question: how to answer, the default, the decision."""
    asked = state.needs.question
    if asked is None or state.run.aborting or state.run.stopping == "now":
        return None
    left = until(asked.deadline, now)
    default = f" ({silence_word(row(asked.default, 40))} in {left})" if left else ""
    term = ASKED if recorded else NEEDS_YOU
    wish = None if recorded else pause(state, keys=keys)
    then = f", {THEN[wish.word]}" if wish is not None else ""
    press = f", press {keys.shown('decide')}" if keys else ""
    head = f"{term.word}{press}{default}{then}: "
    text = head + clip(_decides(asked), ROOM_CELLS - len(head))
    return Verdict(term.glyph, "warn", term.word, text)


def _decides(asked: QuestionAsked) -> str:
    topic, text = TOPICS.get(asked.topic, ""), row(asked.text).rstrip(".")
    # Only the first part of the reason: the dialog shows all of it.
    return f"{topic} {text.partition(';')[0]}" if topic else text


def abort(state: RunState) -> Verdict | None:
    """Return the verdict on a pending abort, or on an immediate stop."""
    run = state.run
    if run.aborting:
        back = run.roll_back_to
        then = "" if back is None else f", then restoring the files of snapshot {back}"
        text = f"aborting: stopping the agent{then}"
        return Verdict(OUTCOMES["aborted"].glyph, "warn", "aborting", text)
    if run.stopping == "now":
        text = "stopping: ending the agent's session now"
        return Verdict(PHASES["finished"].glyph, "warn", "stopping", text)
    return None


def wait(state: RunState, now: datetime, *, keys: Keys | None) -> Verdict | None:
    """Return the verdict on a wait: its reason, its end, and the user's pending request."""
    waits = state.needs.wait
    if waits is None:
        return None
    wish = pause(state, keys=keys)
    retry = f"press {keys.shown('retry')} to retry now" if keys else ""
    then = THEN[wish.word] if wish is not None else retry
    if waits.until is None:
        next_step = "until disk space is free"
    else:
        at, left = day_and_clock(waits.until, now), until(waits.until, now)
        next_step = f"retry at {at}, in {left}"
    text = f"waiting: {waits.words(now)}, {next_step}{'; ' if then else ''}{then}"
    return Verdict(WAITS[waits.cause].glyph, "warn", "waiting", text)


def refused(state: RunState, now: datetime, *, keys: Keys | None) -> Verdict | None:
    """Return the verdict on a service that refuses requests while the agent retries."""
    trouble = state.service.trouble
    if trouble is None:
        return None
    press = f"; press {keys.shown('interrupt')} to interrupt" if keys else ""
    text = f"waiting: {trouble.words(now)}{press}: {row(trouble.text)}"
    return Verdict(PHASES["limited"].glyph, "warn", "waiting", text)


def pause(state: RunState, *, keys: Keys | None) -> Verdict | None:
    """Return the verdict on a pause, or on a pending pause or stop."""
    run = state.run
    paused, stopped = PHASES["paused"].glyph, PHASES["finished"].glyph
    if run.paused:
        press = f"; press {keys.shown('pause')} to unpause" if keys else ""
        text = f"paused: no agent is running{press}"
        return Verdict(paused, "owner", "paused", text)
    if run.stopping == "after_iteration":
        return Verdict(stopped, "owner", "stopping", "stopping: this iteration ends first")
    if run.pause_requested:
        return Verdict(paused, "owner", "pausing", PAUSING)
    return None


def held(state: RunState, *, keys: Keys | None) -> Verdict | None:
    """Return the verdict on a session kept open by processes that the agent left running."""
    left = state.run.background
    if left is None:
        return None
    limit = f"it ends after {duration(left.silence_s)} of silence"
    press = f"; press {keys.shown('interrupt')} to end it now" if keys else ""
    text = f"waiting: the session {row(left.words)}; {limit}{press}"
    return Verdict(PHASES["waiting"].glyph, "warn", "waiting", text)


def handoff(state: RunState) -> Verdict | None:
    """Return the verdict on a handoff, until the iteration's next session has begun."""
    words = handing_off_words(state)
    if not words:
        return None
    return Verdict(ROLLOVER.glyph, "warn", "handing off", f"handing off: {row(words)}")


def quiet(state: RunState, now: datetime) -> Verdict | None:
    """Return the verdict on a working agent that has been silent."""
    run = state.run
    if run.phase not in ("agent", "waiting"):
        return None
    signs = filter(None, (run.last_output_at, run.session_began_at, run.iteration_started_at))
    last = max(signs, default=None)
    if last is None or (now - last).total_seconds() < QUIET_S:
        return None
    text = f"quiet: no agent output for {duration((now - last).total_seconds())}"
    return Verdict(*mark("warn"), "quiet", text)


def with_fallback(found: Verdict, state: RunState, now: datetime) -> Verdict:
    """Add to a verdict why an agent other than the first is working."""
    words = state.roster.explain_fallback(now)
    return found._replace(text=f"{found.text}; {row(words)}") if words else found
