"""A run as plain lines, for pipes, CI and logs: one line per fact that a human would want."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ralph_tui.events import Event, UnknownEvent
from ralph_tui.layers.control.advice import band_words
from ralph_tui.state.overseer_rows import ROWS
from ralph_tui.text.format import clock, count, day_and_clock, duration, ending, money
from ralph_tui.text.sanitize import clip, one_line

WIDTH = 160
"""A line is cut here; the journal has the rest."""
WHOLE = 2000
"""Lines that say what to do are not cut so soon."""


def _run_started(e: Any) -> str:
    return f"run {e.task}/{e.attempt}: {e.objective}"


def _iteration_started(e: Any) -> str:
    return f"iteration {e.iteration}/{e.max_iterations}"


def _gate_finished(e: Any) -> str:
    if e.error:
        return f"gate    {e.error}"
    word = "passed" if e.ok else ("ran out of time" if e.timed_out else f"exit {e.exit_code}")
    counts = "" if e.passed is None else f", {e.passed}/{e.total} tests pass"
    if e.ok and e.iteration == 0:
        counts += "; it passes already, so the run ends only with a promise and a changed file"
    return f"gate    {word}{counts} ({duration(e.duration_s)})"


def _reading_taken(e: Any) -> str:
    where = "baseline" if e.iteration == 0 else f"after iteration {e.iteration}"
    held = ", held" if e.held else ""
    return f"reading {e.completion:.1f} % {where} (from {e.source}{held})"


def _signal_computed(e: Any) -> str:
    return (
        f"control output {e.output:.2f} {band_words(e.band, e.completion)} · {e.profile} "
        f"kp {e.kp:.2f} ki {e.ki:.2f} kd {e.kd:.2f} · urgency {e.urgency}"
    )


def _tool_finished(e: Any) -> str | None:
    return None if e.ok else f"agent   ✗ {e.summary}"


def _tool_denied(e: Any) -> str:
    how = f'; permissions.allow = ["{e.permit}"] permits it' if e.permit else ""
    return f"agent   {e.tool} denied{': ' + e.message if e.message else ''}{how}"


def _session_finished(e: Any) -> str:
    cost = "" if e.cost_usd is None else f", {money(e.cost_usd, exact=True)}"
    why = f": {e.reason}" if e.reason else ""
    return f"agent   {e.outcome} in {duration(e.duration_s)}, {e.tool_calls} tool calls{cost}{why}"


def _files_changed(e: Any) -> str | None:
    if e.live:
        return None
    files = ", ".join(f"{t.category} {t.files} +{t.added} −{t.removed}" for t in e.totals)
    return f"files   {files or 'nothing changed'}"


def _checkpoint(e: Any) -> str | None:
    return f"checkpoint {e.number} ({e.trigger})" if e.trigger in ("timer", "key") else None


def _wait_started(e: Any) -> str:
    until = "" if e.until is None else f" until {day_and_clock(e.until, e.at)}"
    return f"waiting{until}, the iteration is not spent: {e.reason}"


def _question_asked(e: Any) -> str:
    choices = ", ".join(dict.fromkeys(option.answer for option in e.options))
    by = "" if e.deadline is None else f" at {clock(e.deadline)}"
    silence = f"{e.default}{by} when nobody answers" if e.default else "it waits for an answer"
    return f"question {e.text} ({choices}; {silence})"


def _overseer(kind: str, e: Any) -> str | None:
    row = ROWS[kind](e)
    return None if row is None else f"{row[1].lower():<7} {row[2]}"


def _run_finished(e: Any) -> str:
    return (
        f"{ending(e.outcome, e.reason)} · {count(e.iterations, 'iteration')}, "
        f"{e.completion:.1f} %, {duration(e.duration_s)}"
    )


LINES: dict[str, Callable[[Any], str | None]] = {
    **{kind: partial(_overseer, kind) for kind in ROWS},
    "redirect_decided": lambda e: (
        f"redirect {e.about.replace('_', ' ')} {'approved' if e.approved else 'declined'} by {e.by}"
    ),
    "run_started": _run_started,
    "iteration_started": _iteration_started,
    "gate_finished": _gate_finished,
    "reading_taken": _reading_taken,
    "signal_computed": _signal_computed,
    "alarm_raised": lambda e: f"alarm   {e.severity} {e.alarm}: {e.reason}",
    "alarm_cleared": lambda e: f"alarm   {e.alarm} cleared",
    "agent_spoke": lambda e: f"agent   {e.text}",
    "tool_started": lambda e: f"agent   ▸ {e.tool} {e.summary}",
    "tool_finished": _tool_finished,
    "tool_denied": _tool_denied,
    "session_finished": _session_finished,
    "files_changed": _files_changed,
    "checkpoint_captured": _checkpoint,
    "guidance_queued": lambda e: f"guidance queued: {e.text}",
    "guidance_delivered": lambda e: f"guidance delivered into the {e.into}",
    "paused": lambda e: "paused: waiting for you",
    "unpaused": lambda e: f"goes on, said {e.by}",
    "stop_requested": lambda e: f"stopping {e.mode.replace('_', ' ')}, asked by {e.by}",
    "abort_requested": lambda e: f"aborting, asked by {e.by}",
    "command_refused": lambda e: f"{e.command}: {e.reason}",
    "noticed": lambda e: f"{e.level:7} {e.text}",
    "journal_restored": lambda e: "warn    the journal had been deleted; it was written again",
    "wait_started": _wait_started,
    "wait_ended": lambda e: f"goes on after {duration(e.waited_s)}, by {e.by}",
    "question_asked": _question_asked,
    "question_answered": lambda e: f"answer   {e.answer}, by {e.by}",
    "question_withdrawn": lambda e: f"question closed: {e.reason}",
    "interrupt_requested": lambda e: f"interrupting the agent, asked by {e.by}",
    "permissions_changed": lambda e: f"permissions from the next session on: {e.mode}",
    "run_finished": _run_finished,
    "run_crashed": lambda e: f"crashed: {e.error}",
}


def plain_line(event: Event) -> str | None:
    """The line for an event, local time first; None for those that only a screen shows."""
    word = LINES.get(event.kind)
    text = word(event) if word else None
    if isinstance(event, UnknownEvent):
        text = f"newer   {event.words}"
    if text is None:
        return None
    width = WHOLE if event.kind in ("run_finished", "run_crashed", "noticed") else WIDTH
    return f"{clock(event.at, seconds=True)} {clip(one_line(text), width)}"
