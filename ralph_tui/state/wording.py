"""How events are worded, where the log, the lines and the agent's stream say the same.

Rule: what one of them says shorter or longer than the others, it words itself.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from ralph_tui.events import (
    AgentReported,
    BackgroundAwaited,
    ConflictsFound,
    EffectObserved,
    EscalationDelivered,
    Event,
    GateFinished,
    GuidanceDelivered,
    HealthChecked,
    InterventionMade,
    LimitsChanged,
    Noticed,
    PromptEditRequested,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    RunResumed,
    SessionFinished,
    StandingInstructionChanged,
    StopRequested,
    ToolDenied,
    Unpaused,
    WaitStarted,
    WorktreeRestored,
)
from ralph_tui.events.agent import BackgroundTask
from ralph_tui.events.waiting import SILENCE
from ralph_tui.state.asking_wording import ALLOWED
from ralph_tui.state.fold import on
from ralph_tui.text.format import count, day_and_clock, duration, percent, points_gained, wait_time
from ralph_tui.text.sanitize import clip, clip_name, one_line
from ralph_tui.text.terms import SEVERITIES, WAITS, RowLevel, in_words, subject_words, who_words


class Row(NamedTuple):
    """What the log says of an event."""

    level: RowLevel
    word: str
    """LOG, WARN, STUCK...: severity is never told by colour alone."""
    text: str
    detail: str = ""
    """Its evidence."""


Wording = Callable[[Any], Row | None]
"""From an event of one type to its row; None for what is not worth one."""

NAMED = 5
"""Failing tests that a sentence names."""
LONGEST_NAME = 120
NAMED_TASKS = 3
"""Background tasks that a sentence names."""
LONGEST_TASK = 60
LONGEST_AGE_S = 1e7
"""Of a background task; a record can be damaged."""

_LEVELS: dict[str, RowLevel] = {
    "LOG": "log",
    "WARN": "warn",
    "REDIRECT": "critical",
    "PAUSE": "critical",
}


def alarm_word(name: str) -> str:
    """``stuck``, ``budget``: an alarm as people read it."""
    return in_words(name).lower().removesuffix(" exceeded")


def intervention_level(e: InterventionMade) -> RowLevel:
    """How much it matters."""
    return _LEVELS.get(e.level, "critical")


def _intervention(e: InterventionMade) -> Row:
    parts = [*e.others, *(f"recommended: {what}" for what in e.recommendations)]
    text = f"{subject_words(e.about)}: {e.reason}"
    return Row(intervention_level(e), e.level, text, "\n".join(parts))


def effect_words(e: EffectObserved) -> str:
    """``REDIRECT of iteration 4: +14 points after 2 iterations``."""
    after = count(e.after, "iteration")
    return f"{e.level} of iteration {e.of}: {points_gained(e.points)} after {after}"


def _effect(e: EffectObserved) -> Row:
    return Row("good" if e.points >= 1 else "warn", "EFFECT", effect_words(e))


def _health(e: HealthChecked) -> Row | None:
    if e.ended is None:
        return None
    return Row("good", "OVER", f"{in_words(e.ended)}: a new best ends it")


def _resumed(e: RunResumed) -> Row:
    return Row("owner", "RESUMED", e.found or "the run goes on", e.checkpoints)


def _limits(e: LimitsChanged) -> Row:
    money = "" if e.budget_usd is None else f", ${e.budget_usd:,.2f}"
    why = f": the interrupted iteration {e.spared} is not spent" if e.spared else ""
    return Row(
        "owner", "NOW", f"{count(e.max_iterations, 'iteration')}{money}, by {who_words(e.by)}{why}"
    )


def _restored(e: WorktreeRestored) -> Row:
    kept = f", {e.left_alone:,} left alone" if e.kept else ""
    detail = "\n".join([*e.paths, *(f"left alone: {row}" for row in e.left_alone_rows)])
    text = (
        f"{count(e.files, 'file')} as in snapshot {e.snapshot}{kept}, by {who_words(e.by)}; "
        f"what was there is saved as snapshot {e.present}"
    )
    return Row("owner", "RESTORED", text, detail)


def conflict_words(e: ConflictsFound) -> str:
    """``unresolved in a.py, b.py and 3 more``."""
    more = f" and {len(e.paths) - 3} more" if len(e.paths) > 3 else ""
    return f"unresolved in {', '.join(e.paths[:3])}{more}"


def conflicts_row(e: ConflictsFound) -> Row:
    """What it says, all paths in its evidence."""
    return Row("warn", "CONFLICTS", conflict_words(e), "\n".join(e.paths))


def _delivered(e: EscalationDelivered) -> Row:
    return Row("log" if e.ok else "warn", e.channel.upper(), e.text)


def _noticed(e: Noticed) -> Row:
    return Row(SEVERITIES[e.level], e.level.upper(), e.text, e.detail)


def _instructed(e: StandingInstructionChanged) -> Row:
    said = f"in every prompt from now on: {e.text}" if e.text else "taken back: no prompt says it"
    return Row("owner", "ALWAYS", f"{said} (by {who_words(e.by)})")


def _edit_requested(e: PromptEditRequested) -> Row:
    shown = "shown before it is sent" if e.wanted else "sent as it is"
    return Row("owner", "PROMPT", f"the next one is {shown}, asked by {who_words(e.by)}")


ROWS: dict[type[Event], Wording] = dict(
    [
        on(RunResumed, _resumed),
        on(InterventionMade, _intervention),
        on(EffectObserved, _effect),
        on(HealthChecked, _health),
        on(LimitsChanged, _limits),
        on(WorktreeRestored, _restored),
        on(ConflictsFound, conflicts_row),
        on(EscalationDelivered, _delivered),
        on(Noticed, _noticed),
        on(StandingInstructionChanged, _instructed),
        on(PromptEditRequested, _edit_requested),
        on(QuestionHeld, lambda e: Row("owner", "ANSWER", held_words(e))),
    ]
)
"""Rows of the log that are lines, too."""

JOURNAL_RESTORED = "the journal had been deleted; it was written again"


def stop_words(e: StopRequested) -> str:
    """``after this iteration, asked by you``."""
    who = who_words(e.by)
    if e.mode == "taken_back":
        return f"taken back by {who}: the run goes on"
    return f"{'now' if e.mode == 'now' else 'after this iteration'}, asked by {who}"


def unpaused_words(e: Unpaused) -> str:
    """``by you``."""
    return f"by {who_words(e.by)}"


def delivered_words(e: GuidanceDelivered) -> str:
    """``delivered with the prompt``."""
    return f"delivered {'into the session' if e.into == 'session' else 'with the prompt'}"


DECIDED = {
    **ALLOWED,
    "approve": "approved",
    "decline": "declined",
    "roll_back": "restored",
    "continue": "continued",
    "guide": "guided",
    "extend": "extended",
    "abort": "aborted",
    "retry": "interrupted",
    "hand_over": "handed over",
    "stop": "session ended",
    "yes": "accepted",
    "no": "not accepted",
    "send": "sent",
    "criterion": "until a criterion is met",
    "promise": "until the agent promises",
}
"""Answers as what was done."""


def held_words(e: QuestionHeld) -> str:
    """``countdown stopped by you``."""
    return f"countdown stopped by {who_words(e.by)}"


def decision_words(e: QuestionAnswered, asked: QuestionAsked | None = None) -> str:
    """``approved by you``, ``no answer in 2 min: approved``; `asked`: the question, where known."""
    done = DECIDED.get(e.answer, in_words(e.answer))
    if e.by != SILENCE:
        return f"{done} by {who_words(e.by)}"
    if asked is None or asked.deadline is None:
        return f"no answer: {done}"
    waited = (asked.deadline - asked.at).total_seconds()
    return f"no answer in {wait_time(waited)}: {done}" if waited >= 1 else f"nobody to ask: {done}"


def answer_words(e: QuestionAnswered) -> str:
    """What an answer was, where its question is not at hand."""
    return decision_words(e)


def report_words(e: AgentReported) -> str:
    """``claims 56 % · fixed two · blocked by no network · next: the parser``."""
    parts = [
        "" if e.completion is None else f"claims {percent(e.completion)}",
        e.summary,
        e.blockers and f"blocked by {'; '.join(e.blockers)}",
        e.next and f"next: {e.next}",
    ]
    return " · ".join(part for part in parts if part) or "empty report"


SAYS_DONE = "says it is done"
"""A promise in words."""


def denied_words(e: ToolDenied) -> str:
    """``Bash denied: it may not push``."""
    return f"{e.tool} denied{': ' + e.message if e.message else ''}"


def permit_words(e: ToolDenied) -> str:
    """The setting that permits what was denied, or that none does."""
    if e.final:
        return "no line of permissions.allow permits it"
    lines = ", ".join(f'"{line}"' for line in e.lines)
    return f"permissions.allow = [{lines}] permits it"


def background_words(e: BackgroundAwaited) -> str:
    """``waits for 2 background tasks: npm run dev (since 03:12), make (since 03:14)``; empty where
    nothing is waited for.
    """
    if not e.tasks:
        return ""
    tasks = [_since(task, e.at) for task in e.tasks[:NAMED_TASKS]]
    number = len(e.tasks) + e.unnamed
    more = [f"{number - len(tasks)} more"] if number > len(tasks) else []
    told = f"{count(number, 'background task')}: {', '.join([*tasks, *more])}"
    if e.given_up:
        return f"ended after {duration(e.silence_s)} of silence: {told}"
    return f"waits for {told}"


def _since(task: BackgroundTask, at: datetime) -> str:
    age = timedelta(seconds=max(0.0, min(task.age_s, LONGEST_AGE_S)))
    return f"{clip(one_line(task.what), LONGEST_TASK)} (since {day_and_clock(at - age, at)})"


def session_words(e: SessionFinished) -> str:
    """Why a session has ended: its reason, else its outcome."""
    return e.reason or in_words(e.outcome)


def wait_words(e: WaitStarted, now: datetime) -> str:
    """``service down since 03:12``: what is waited for, and since when, where no reset is known."""
    what = WAITS[e.cause].word + (f" of {' and '.join([e.agent, *e.others])}" if e.agent else "")
    if e.since is None or e.resets_at is not None:
        return what
    return f"{what} since {day_and_clock(e.since, now)}"


def retry_words(e: WaitStarted) -> str:
    """``next try at 10:59``; empty where it is tried again as soon as there is room."""
    return "" if e.until is None else f"next try at {day_and_clock(e.until, e.at)}"


def failing_words(e: GateFinished) -> str:
    """``test_a, test_b and 24 more``: the tests that failed, five of them by name."""
    # unittest says where a test stands behind its name, in brackets.
    short = [name.partition(" (")[0] if e.runner == "unittest" else name for name in e.failing]
    named = [clip_name(one_line(name), LONGEST_NAME) for name in short[:NAMED]]
    more = len(e.failing) - len(named) + e.unnamed
    return ", ".join(named) + (f" and {more} more" if more else "")


def gate_words(e: GateFinished) -> str:
    """How the completion command ended: ``exit 1``, or ``ran out of time``."""
    return "ran out of time" if e.timed_out else f"exit {e.exit_code}"
