"""Verdicts on the work: the open episode, an alarm, the measurement, the forecast, the end."""

from ralph_tui.analysis.verdict.model import Verdict, done, mark, row
from ralph_tui.events.control import AlarmName, AlarmRaised
from ralph_tui.layers.control.advice import iterations_needed
from ralph_tui.layers.sensor.passing import passes_already
from ralph_tui.state import Intervention, RunState
from ralph_tui.state.goal import needed_words
from ralph_tui.text import terms
from ralph_tui.text.format import count, ending, percent, place
from ralph_tui.text.sanitize import clip

CRITICAL_SUBJECTS = ("oscillating", "regressing")
ALARMS: dict[str, AlarmName] = {
    "stuck": "STUCK",
    "oscillating": "OSCILLATING",
    "regressing": "REGRESSING",
}
OF_PROGRESS = (*ALARMS, "circuit")
"""Subjects of questions that belong to an episode."""
AGE = ". That is "
"""The words before an episode's duration in a question's reason."""
NOT_MEASURED = "not measured since"
RECENT = 2
"""The run has a pace if its latest new best is fewer than this many iterations ago."""


def end(state: RunState) -> Verdict | None:
    """Return the verdict on a run that has ended."""
    run = state.run
    if run.crash is not None:
        glyph, word, _ = terms.PHASES["crashed"]
        return Verdict(glyph, "bad", word, f"{terms.BUG}: {row(run.crash.error)}")
    if run.finished is not None:
        glyph, word, _ = terms.OUTCOMES[run.finished.outcome]
        tone = terms.OUTCOME_TONES[run.finished.outcome]
        said = row(ending(run.finished.outcome, run.finished.reason))
        return Verdict(glyph, tone, word, said, calm=tone == "good")
    return None


def passing(state: RunState) -> Verdict | None:
    """Return the verdict if the completion command already passes.

    No measurement can improve then, so this cause comes before any other finding.
    """
    if not passes_already(state) or state.run.source != "tests":
        return None
    word = "already passes"
    return Verdict(*mark("warn"), word, f"{word}: {needed_words(state.run.started)}")


def unread(state: RunState) -> Verdict | None:
    """Return the verdict on a measurement that was not taken, or was of a broken build."""
    gate = state.gate
    if gate.unmeasured:
        word, why = "not measured", gate.readings[-1].note
    elif gate.broken_since is not None and not done(state):
        word, why = "build broken", gate.readings[-1].broken
    else:
        return None
    return Verdict(*mark("warn"), word, f"{gate.origin}: {row(why)}")


def episode(state: RunState) -> Verdict | None:
    """Return the verdict on the open episode: the problem, the action taken, and its effect."""
    if done(state):
        return None
    made = state.oversight.episode
    if made is None:
        return _alarm(state)
    level = mark("critical" if made.about in CRITICAL_SUBJECTS else "warn")
    word = terms.subject_words(made.about)
    alarm = state.control.alarms.get(ALARMS.get(made.about, "STUCK"))
    if made.about == "circuit":
        alarm = None  # the circuit breaker does not judge measurements
    elif alarm is None and (newer := _alarm(state)) is not None:
        return newer  # the episode's own alarm is off
    answered = _answered_last(state, made)
    reason = _reason(state, alarm, made, answered)
    if state.oversight.stale:  # the agent now works on restored files, so that comes first
        text = f"{word}: {_restored(state)} restored, {NOT_MEASURED}; {reason}"
        return Verdict(*level, word, text)
    since = _since(state, answered, up=alarm is not None)
    return Verdict(*level, word, f"{word}: {reason}; {_action_taken(state, answered)}{since}")


def _answered_last(state: RunState, made: Intervention) -> Intervention:
    """Return the episode's last answered intervention, or else the one that opened it."""
    latest = reversed(state.oversight.interventions)
    own = (one for one in latest if one is made or (one.decision and one.about in OF_PROGRESS))
    return next(own, made)


def _action_taken(state: RunState, made: Intervention) -> str:
    """Describe the action, as ``instructions sent``, with its iteration if measured since."""
    after = f" after iteration {made.iteration}" if _readings_since(state, made) else ""
    if not made.decision:
        return "asking you"
    if state.foreign.tool:
        return made.decision
    if made.answer == "abort" and state.run.iteration > made.iteration:
        return "resumed after the abort"
    if made.instructions:
        return f"instructions sent{after}"
    what, _, who = made.decision.partition(" by ")
    if what == "declined":
        return f"instructions declined by {who}{after}"
    return f"{made.decision}{after}"


def _since(state: RunState, made: Intervention, *, up: bool) -> str:
    """Describe the known effect of the action."""
    if not made.decision:
        return ""
    if not _readings_since(state, made):
        return f", {NOT_MEASURED}"
    if made.about == "circuit":
        return "; files change again, no gain yet" if _changes_again(state) else ""
    if up:
        return ""
    later = [span for span in state.timeline.spans if span.number >= made.iteration]
    restored = any(span.rollbacks for span in later)  # a restore itself ends the alarm
    if restored and state.timeline.gained_since(made.iteration) <= 0:
        return "; the alarm is off, no gain yet"
    return "; improved since, but not enough yet"


def _readings_since(state: RunState, made: Intervention) -> bool:
    return bool(state.gate.readings) and state.gate.readings[-1].iteration > made.iteration


def _restored(state: RunState) -> str:
    """Describe the restored files, as ``the files of iteration 1``."""
    back = state.oversight.rollback
    number = None if back is None else state.timeline.iteration_of(back.snapshot)
    return "earlier files" if number is None else f"the files of {place(number)}"


def _changes_again(state: RunState) -> bool:
    """True if the circuit breaker has closed since it asked."""
    checks = state.oversight.checks
    return bool(checks) and all(one.name != "circuit" for one in checks[-1].detections)


def _alarm(state: RunState) -> Verdict | None:
    """Return the verdict on an alarm that has led to no action yet."""
    for name in ("REGRESSING", "OSCILLATING", "STUCK", "BUDGET_EXCEEDED"):
        alarm = state.control.alarms.get(name)
        if alarm is not None and name not in state.control.outgrown:
            word = name.split("_")[0].lower()
            reason = _reason(state, alarm)
            made = "; recomputed" if state.foreign.tool else ""
            return Verdict(*mark(terms.SEVERITIES[alarm.severity]), word, f"{word}: {reason}{made}")
    return None


def _reason(
    state: RunState,
    alarm: AlarmRaised | None,
    made: Intervention | None = None,
    answered: Intervention | None = None,
) -> str:
    """Return the evidence in brief, as of the last answered question; the log has all of it."""
    run = state.run
    waited = (state.gate.readings[-1].iteration if state.gate.readings else 0) - run.best_iteration
    if alarm is not None and alarm.alarm == "STUCK" and waited >= 2:
        return f"no new best for {count(waited, 'iteration')}"
    asked_since = alarm is None or answered is None or alarm.iteration <= answered.iteration
    if answered is not None and answered is not made and asked_since and AGE in answered.reason:
        said = answered.reason.partition(AGE)[0]
    elif alarm is not None:
        said = alarm.reason
    else:
        said = made.reason if made is not None else ""
    said = row(said).partition(";")[0]
    said = said.partition(" (")[0].rstrip(".")
    for began in ("Completion changed ", "It turned "):  # the second one is from older journals
        if said.startswith(began):  # the numbers that follow are in the log
            said = said.partition(" ")[2].partition(" by ")[0]
    return said[:1].lower() + said[1:]


def verifying(state: RunState) -> Verdict | None:
    """Return the verdict while the completion command runs.

    It remains until this measurement's pace is known: the previous pace would be out of date.
    Before iteration 1 the run is still starting.
    """
    run, signal = state.run, state.control.latest
    newer = signal is not None and state.gate.readings[-1].iteration > signal.iteration
    if run.completion is None or done(state) or not (run.phase == "verifying" or newer):
        return None
    term = terms.PHASES["verifying"]
    text = f"{term.word}: the completion command is measuring iteration {run.iteration}"
    return Verdict(term.glyph, "dim", term.word, text)


def outlook(state: RunState) -> Verdict:
    """Return the forecast: will the run get there?"""
    found = _forecast(state)
    return found._replace(calm=found.tone == "good")


def _forecast(state: RunState) -> Verdict:
    run, signal = state.run, state.control.latest
    begun = terms.PHASES["starting"]
    if run.started is None:
        return Verdict(begun.glyph, "dim", "reading", "reading the record")
    if run.completion is None and run.started.watched:
        return Verdict(begun.glyph, "dim", "watched", "watched: progress is not measured")
    if run.completion is None:
        text = "starting: measuring the current state"
        return Verdict(begun.glyph, "dim", begun.word, text)
    if done(state):
        return Verdict(*mark("good"), "done", f"done: {percent(run.completion)} measured")
    if signal is None:
        text = f"starting from {percent(run.completion)}: the first iteration shows the pace"
        return Verdict(begun.glyph, "dim", begun.word, text)
    left = iterations_left(state, signal.iteration)
    if state.oversight.stale:
        text = f"restored: {_restored(state)}; {NOT_MEASURED}, {_remain(left)}"
        return Verdict(terms.ROLLED_BACK.glyph, "dim", "restored", text)
    if grown := growth_words(state):
        return Verdict(begun.glyph, "dim", "no gain", f"no gain: {grown}")
    if not gains(state):
        since = f"no gain since {place(last_gain(state))}"
        return Verdict(begun.glyph, "dim", "no gain", f"{since}: {_remain(left)}")
    if run.source == "estimate":
        text = f"estimated: from activity only, progress is not measured; {_remain(left)}"
        return Verdict(begun.glyph, "dim", "estimated", text)
    if signal.forecast is None:
        return _no_pace(state, left)
    need = iterations_needed(signal.forecast)
    more = f"about {count(need, 'more iteration')}"
    if need <= left:
        return Verdict(*mark("good"), "on track", f"on track: {more}")
    text = f"slow: needs {more}, {clip(str(left), 9)} left"
    return Verdict(*mark("warn"), "slow", text)


def _no_pace(state: RunState, left: int) -> Verdict:
    run, glyph = state.run, terms.PHASES["starting"].glyph
    now, start = run.completion or 0.0, run.baseline or 0.0
    if now <= start and not (run.best_iteration and run.best > now):
        word = "no progress yet"
        return Verdict(glyph, "dim", word, f"{word}: {_remain(left)}")
    word, back = "no progress now", ""
    if now <= start:  # completion was higher before
        best = f"best {percent(run.best, now)} after {place(run.best_iteration)}"
        back = f"back at {percent(now, run.best)}, {best}; "
    return Verdict(glyph, "dim", word, f"{word}: {back}{_remain(left)}")


def gains(state: RunState) -> bool:
    """Return True if one of the last two measurements was a new best."""
    return not state.gate.readings or state.gate.readings[-1].iteration - last_gain(state) < RECENT


def last_gain(state: RunState) -> int:
    """Return the iteration of the latest new best; 0: the start. Mere growth does not count."""
    signal = state.control.latest
    return state.run.best_iteration if signal is None or signal.best_at is None else signal.best_at


def leads(state: RunState) -> bool:
    """Return True if the pace allows a forecast to be shown."""
    readings = state.gate.readings
    read = bool(readings) and not (readings[-1].held or readings[-1].broken or readings[-1].added)
    return read and gains(state) and state.run.source != "estimate"


def growth_words(state: RunState) -> str:
    """Describe growth, as ``41/66, 12 new, the same 25 fail``; empty without growth."""
    last = state.gate.readings[-1] if state.gate.readings else None
    if last is None or not last.added or last.passed is None or last.total is None:
        return ""
    failing = last.total - last.passed
    fail = "still fails" if failing == 1 else "fail"
    return f"{last.passed}/{last.total}, {last.added} new, the same {failing} {fail}"


def iterations_left(state: RunState, measured: int) -> int:
    """Return how many iterations can be measured after `measured`, including any current one."""
    run, span = state.run, state.timeline.current
    ended = run.iteration <= measured or (span is not None and span.finished is not None)
    return max(0, run.max_iterations - run.iteration + (0 if ended else 1))


def _remain(left: int) -> str:
    return f"{count(left, 'iteration')} left"
