"""A completion command that passes before anything was done cannot say when the work is done.

Pure.
"""

from typing import Literal

from ralph_tui.events import RunStarted
from ralph_tui.events.sensor import ReadingTaken
from ralph_tui.layers.sensor.expected import are
from ralph_tui.state import RunState
from ralph_tui.state.goal import needed_words
from ralph_tui.text.format import count

PASSES_ALREADY = "the completion command passes already"
PASSED_BEFORE = (PASSES_ALREADY, f"{PASSES_ALREADY}: a promise and a change are needed")
"""Notes of a first reading that say so; the second is of older journals."""


CompletedBy = Literal["command", "promise", "judge"]
"""What completes a run whose command passes: that, the agent's promise, or a judge's yes."""


def earns(by: CompletedBy, *, green: bool, promised: bool) -> bool:
    """Whether a command that passes now completes the run.

    `green`: it passed at the baseline; `promised`: the agent promises, and a file has changed.
    """
    return by != "judge" and ((by == "command" and not green) or promised)


def completed_by(state: RunState) -> CompletedBy:
    """What completes this run once its command passes."""
    started = state.run.started
    if started is not None and started.criterion:
        return "judge"
    return "promise" if needs_promise(state) else "command"


def passed_before(state: RunState) -> bool:
    """Whether the completion command passed before iteration 1."""
    return bool(state.gate.readings) and _passed(state.gate.readings[0])


def _passed(first: ReadingTaken) -> bool:
    return first.iteration == 0 and first.note in PASSED_BEFORE


def passes_already(state: RunState) -> bool:
    """Whether it did so before iteration 1, passes still, and has not ended the run."""
    return passed_before(state) and bool(needed(state))


def needed(state: RunState) -> str:
    """Why the run goes on although its command passes; empty: it fails, or all is done."""
    gate, readings = state.gate.last, state.gate.readings
    if gate is None or not gate.ok or not readings or readings[-1].completion >= 100:
        return ""
    if missing := readings[-1].missing:
        return f"{count(missing, 'test')} {are(missing)} gone, and nobody has accepted that"
    return needed_words(state.run.started)


def goalless(state: RunState) -> bool:
    """Whether it passed before iteration 1, and nothing else says when the work is done."""
    started = state.run.started
    return started is not None and not _told(started) and passed_before(state)


def refused(state: RunState) -> bool:
    """Whether the run failed for that, before iteration 1."""
    end = state.run.finished
    failed = end is not None and end.outcome == "failed"
    return failed and not state.run.iteration and goalless(state)


def needs_promise(state: RunState) -> bool:
    """Whether a command that passes completes the run only with a promise and a changed file."""
    started = state.run.started
    return started is not None and (started.until_promise or goalless(state))


def _told(started: RunStarted) -> bool:
    return bool(started.criterion) or started.until_promise
