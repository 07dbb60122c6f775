"""A run as plain lines, for pipes, CI and logs: one line per fact that a human would want.

Rule: each event is worded for itself; `PlainLines` leaves out what was said before.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ralph_tui.cli.fronts.agent_lines import (
    agent_reported,
    agent_spoke,
    background_awaited,
    session_finished,
    tool_denied,
    tool_finished,
)
from ralph_tui.cli.question_words import question_line
from ralph_tui.events import (
    AbortRequested,
    AgentChanged,
    AgentNoted,
    AgentRefusedAgain,
    AgentReported,
    AgentSpoke,
    AlarmCleared,
    AlarmRaised,
    BackgroundAwaited,
    CheckpointCaptured,
    CommandRefused,
    EffectObserved,
    Event,
    FilesChanged,
    GateFinished,
    GuidanceDelivered,
    GuidanceQueued,
    InterruptRequested,
    IterationStarted,
    JournalRestored,
    LearningChanged,
    LearningPromoted,
    LearningsRetrieved,
    Noticed,
    Paused,
    PermissionsChanged,
    PlanMade,
    PromiseMade,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ReadingTaken,
    RedirectDecided,
    ReflectionWritten,
    RunCrashed,
    RunFinished,
    RunStarted,
    SessionFinished,
    StopRequested,
    StrategyPlanned,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UnknownEvent,
    Unpaused,
    ValidationDone,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.events.waiting import SILENCE
from ralph_tui.state.asking_wording import refused_again_words
from ralph_tui.state.context_wording import CONTEXT_ROWS
from ralph_tui.state.fold import on
from ralph_tui.state.memory_wording import (
    changed_words,
    plan_words,
    promoted_row,
    reflection_words,
    retrieved_words,
)
from ralph_tui.state.model_wording import MODEL_ROWS
from ralph_tui.state.roster_wording import changed_words as agent_changed_words
from ralph_tui.state.strategy_wording import issues_words, strategy_words
from ralph_tui.state.wording import (
    JOURNAL_RESTORED,
    ROWS,
    SAYS_DONE,
    Wording,
    alarm_word,
    answer_words,
    delivered_words,
    effect_words,
    gate_words,
    stop_words,
    unpaused_words,
    wait_words,
)
from ralph_tui.text.format import (
    clock,
    count,
    due,
    duration,
    ending,
    money,
    percent,
    with_lines,
)
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import BUG, SEVERITIES, permission_words, subject_words, who_words

WIDTH = 160
"""A line is cut here; the journal has the rest."""
WHOLE = 2000
"""Lines that say what to do, and the agent's own words, are not cut so soon."""
UNCUT = (
    RunFinished, RunCrashed, Noticed, AgentNoted, AgentSpoke, AgentReported, StrategyPlanned,
    ReflectionWritten, GuidanceQueued, RedirectDecided, QuestionAsked,
    SessionFinished, AgentChanged, WaitStarted,
)  # fmt: skip
LEVEL_WORDS = {"warn": "warn", "log": "log"}
"""Of an alarm that is no more than that."""
LINED = (AgentSpoke, AgentReported, ToolDenied)
"""Told in a line for each of their lines."""


def _run_started(e: RunStarted) -> str:
    name = f"run {e.task}/{e.attempt}" if e.task else f"loop of {e.agent} sessions"
    return f"{name}: {e.objective}"


def _iteration_started(e: IterationStarted) -> str:
    return f"iteration {e.iteration} of {e.max_iterations}"


def _refused_again(e: AgentRefusedAgain) -> str | None:
    return f"agent   {refused_again_words(e.times)}" if e.times == 1 else None


def _redirect(e: RedirectDecided) -> str:
    by = "no answer" if e.by == SILENCE else f"by {who_words(e.by)}"
    sent = f"; {words}" if (words := redirect_sends(e)) else ""
    decided = "approved" if e.approved else "declined"
    return f"redirect {subject_words(e.about)}: {decided}, {by}{sent}"


def redirect_sends(e: RedirectDecided) -> str:
    """The first line of the instructions that go to the agent; empty where none do."""
    first = next((line for line in e.instructions.splitlines() if line.strip()), "")
    return f"it sends: {first.strip()}" if e.approved and first else ""


def _gate_finished(e: GateFinished) -> str:
    if e.error:
        return f"command {e.error}"
    ended = "" if e.ok else f", {gate_words(e)}"
    so = ", before anything was done" if e.ok and e.iteration == 0 else ""
    took = duration(e.duration_s)
    if e.passed is None:
        return f"command {ended.removeprefix(', ') or 'passed'}{so} ({took})"
    if e.broken:
        return f"tests   build broken{ended} ({took})"
    return f"tests   {e.passed} of {e.total} pass{ended}{so} ({took})"


def _reading_taken(e: ReadingTaken) -> str:
    where = "at the start" if e.iteration == 0 else f"after iteration {e.iteration}"
    kept = ", as before: nothing new could be read" if e.held else ""
    passed = "the completion command passed" if e.by_command else ""
    if e.broken:
        passed = "build broken"
    if e.promised:
        passed = "promised by the agent"
    if e.held and e.measured:
        kept = passed = f"not measured: {e.note}"
    elif e.uncounted and not passed:
        passed = "command passes" if e.source == "tests" else e.note or "nothing is counted"
    source = e.accepted or passed or f"from {e.source}{kept}"
    return f"progress {percent(e.completion)} {where} ({source})"


def _alarm_level(e: AlarmRaised) -> str:
    return f"{LEVEL_WORDS.get(SEVERITIES[e.severity], 'alarm'):<7}"


def _alarm_cleared(e: AlarmCleared) -> str | None:
    word = alarm_word(e.alarm)
    return None if word == "budget" else f"alarm   no longer {word}"


def _files_changed(e: FilesChanged) -> str | None:
    if e.live:
        return None
    files = ", ".join(with_lines(f"{t.category} {t.files}", t.added, t.removed) for t in e.totals)
    return f"files   {files or 'nothing changed'}"


def _checkpoint(e: CheckpointCaptured) -> str | None:
    if e.trigger not in ("timer", "key"):
        return None
    asked = f", asked for by {who_words(e.by)}" if e.by else ""
    return f"saved   checkpoint {e.number}{asked}{f': {e.note}' if e.note else ''}"


def _wait_started(e: WaitStarted) -> str:
    until = "" if e.until is None else f" until {due(e.until, e.at)}"
    what = f" ({wait_words(e, e.at)})" if e.since is not None else ""
    why = f": {e.reason}" if e.reason else ""
    return f"waiting{until}{what}, the iteration is not spent{why}"


def _permissions(e: PermissionsChanged) -> str:
    return f"permissions from the next session on: {permission_words(e.mode)}"


def _under(word: str, words: str | None) -> str | None:
    return words and f"{word:<7} {words}"


def row_line(wording: Wording, e: Event) -> str | None:
    """A row of the log as a line."""
    row = wording(e)
    return None if row is None else f"{row.word.lower():<7} {row.text}"


def run_finished(e: RunFinished, *, measured: bool = True) -> str:
    """How it ended; of a run that was never measured no percentage is told."""
    done = count(e.iterations, "iteration") if e.iterations else "no iteration"
    came_to = percent(e.completion) if measured or e.completion else "never measured"
    cost = "" if e.cost_usd is None else f", {money(e.cost_usd)}"
    return f"{ending(e.outcome, e.reason)} · {done}, {came_to}, {duration(e.duration_s)}{cost}"


LINES: dict[type[Event], Callable[[Any], str | None]] = dict(
    [
        *(
            (event_type, partial(row_line, wording))
            for event_type, wording in (ROWS | MODEL_ROWS | CONTEXT_ROWS).items()
        ),
        on(EffectObserved, lambda e: f"result  {effect_words(e)}"),
        on(RedirectDecided, _redirect),
        on(RunStarted, _run_started),
        on(IterationStarted, _iteration_started),
        on(GateFinished, _gate_finished),
        on(ReadingTaken, _reading_taken),
        on(AlarmRaised, lambda e: f"{_alarm_level(e)} {alarm_word(e.alarm)}: {e.reason}"),
        on(AlarmCleared, _alarm_cleared),
        on(AgentSpoke, agent_spoke),
        on(AgentNoted, lambda e: f"agent   {e.text}" if e.level != "log" else None),
        on(AgentReported, agent_reported),
        on(PromiseMade, lambda e: f"agent   {SAYS_DONE}"),
        on(ToolStarted, lambda e: f"tool    {e.tool} {e.summary}"),
        on(ToolFinished, tool_finished),
        on(ToolDenied, tool_denied),
        on(BackgroundAwaited, background_awaited),
        on(SessionFinished, session_finished),
        on(AgentChanged, lambda e: f"agent   {agent_changed_words(e, e.at)}"),
        on(FilesChanged, _files_changed),
        on(CheckpointCaptured, _checkpoint),
        on(GuidanceQueued, lambda e: f"guidance queued: {e.text}"),
        on(GuidanceDelivered, lambda e: f"guidance {delivered_words(e)}"),
        on(Paused, lambda e: "paused: waiting for you"),
        on(Unpaused, lambda e: f"goes on, {unpaused_words(e)}"),
        on(StopRequested, lambda e: f"stop    {stop_words(e)}"),
        on(AbortRequested, lambda e: f"aborting, asked by {who_words(e.by)}"),
        on(CommandRefused, lambda e: f"{e.command}: {e.reason}"),
        on(JournalRestored, lambda e: f"warn    {JOURNAL_RESTORED}"),
        on(WaitStarted, _wait_started),
        on(WaitEnded, lambda e: f"goes on after {duration(e.waited_s)}, by {who_words(e.by)}"),
        on(QuestionAsked, question_line),
        on(QuestionAnswered, lambda e: f"answer  {answer_words(e)}"),
        on(AgentRefusedAgain, _refused_again),
        on(QuestionWithdrawn, lambda e: f"question closed: {e.reason}"),
        on(InterruptRequested, lambda e: f"interrupting the agent, asked by {who_words(e.by)}"),
        on(PermissionsChanged, _permissions),
        on(LearningsRetrieved, lambda e: _under("memory", retrieved_words(e))),
        on(LearningPromoted, partial(row_line, promoted_row)),
        on(LearningChanged, lambda e: f"memory  {changed_words(e)}"),
        on(StrategyPlanned, lambda e: f"strategy {strategy_words(e)}"),
        on(ValidationDone, lambda e: _under("note", issues_words(e.issues))),
        on(PlanMade, lambda e: f"plan    {plan_words(e)}"),
        on(ReflectionWritten, lambda e: f"reflection {reflection_words(e)}"),
        on(RunFinished, run_finished),
        on(RunCrashed, lambda e: f"{BUG}: {e.error}"),
        on(UnknownEvent, lambda e: f"newer   {e.words}"),
    ]
)
"""The words for each type of event that a human without a screen would want to know of."""


def plain_line(event: Event) -> str | None:
    """The line for an event, local time first; None for those that only a screen shows.

    What the agent says has as many lines as it said, and a denied tool has two.
    """
    return stamped(event, text_of(event))


def text_of(event: Event) -> str | None:
    """What the line says."""
    word = LINES.get(type(event))
    return word(event) if word else None


def stamped(event: Event, text: str | None, where: str = "") -> str | None:
    """The line, or lines, with local time and `where` in front; None for no text."""
    if not text:
        return None
    at, whole = clock(event.at, seconds=True), isinstance(event, UNCUT)
    pieces = text.splitlines() if isinstance(event, LINED) else [text]
    return "\n".join(
        f"{at} {where}{clip(one_line(piece), WHOLE if whole else WIDTH)}" for piece in pieces
    )
