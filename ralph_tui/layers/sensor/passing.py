"""Criteria that complete a run, in particular if its completion command passed from the start.

A command that passed before any work was done cannot show that the work is done.
"""

from typing import Literal

from ralph_tui.events import RunStarted
from ralph_tui.events.sensor import ReadingTaken
from ralph_tui.state import RunState
from ralph_tui.state.goal import needed_words
from ralph_tui.text.format import are, count

PASSES_ALREADY = "the completion command already passes"
_OLDER = "the completion command passes already"
PASSED_BEFORE = (PASSES_ALREADY, _OLDER, f"{_OLDER}: a promise and a change are needed")
"""Notes that report this at the first measurement; older journals have one of the last two."""


CompletedBy = Literal["command", "promise", "judge"]
"""The criterion that completes a run: the command, the agent's promise, or a judge's verdict."""


def completes(by: CompletedBy, *, green: bool, promised: bool) -> bool:
    """True if a command that passes now completes the run.

    `green`: it passed at the baseline; `promised`: the agent promised, and a file has changed.
    """
    return by != "judge" and ((by == "command" and not green) or promised)


def completed_by(state: RunState) -> CompletedBy:
    """Return the criterion that completes this run once its command passes."""
    started = state.run.started
    if started is not None and started.criterion:
        return "judge"
    return "promise" if needs_promise(state) else "command"


def passed_before(state: RunState) -> bool:
    """True if the completion command passed before iteration 1."""
    return bool(state.gate.readings) and _passed(state.gate.readings[0])


def _passed(first: ReadingTaken) -> bool:
    return first.iteration == 0 and first.note in PASSED_BEFORE


def passes_already(state: RunState) -> bool:
    """True if the command passed before iteration 1, still passes, and the run is not complete."""
    return passed_before(state) and bool(needed(state))


def needed(state: RunState) -> str:
    """Explain why the run continues despite a passing command; empty if it fails or is done."""
    gate, readings = state.gate.last, state.gate.readings
    if gate is None or not gate.ok or not readings or readings[-1].completion >= 100:
        return ""
    if missing := readings[-1].missing:
        return f"{count(missing, 'test')} {are(missing)} gone, and you have not accepted that"
    return needed_words(state.run.started)


def goalless(state: RunState) -> bool:
    """True if the command passed before iteration 1 and nothing else can complete the run."""
    started = state.run.started
    return started is not None and not _has_goal(started) and passed_before(state)


def refused(state: RunState) -> bool:
    """True if the run failed before iteration 1 because it was `goalless`."""
    end = state.run.finished
    failed = end is not None and end.outcome == "failed"
    return failed and not state.run.iteration and goalless(state)


def needs_promise(state: RunState) -> bool:
    """True if a passing command completes the run only with a promise and a changed file."""
    started = state.run.started
    return started is not None and (started.until_promise or goalless(state))


def _has_goal(started: RunStarted) -> bool:
    return bool(started.criterion) or started.until_promise
