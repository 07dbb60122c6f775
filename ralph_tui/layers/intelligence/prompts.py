"""The prompt of an iteration, from what was measured.

The control law reaches the agent only here: as urgency and as advice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ralph_tui.events import GateFinished, ReadingTaken, SignalComputed
from ralph_tui.events.control import Urgency
from ralph_tui.events.sensor import ReadingSource
from ralph_tui.text.format import count, percent

NAMED = 20
"""Failing tests that a prompt names."""
LONGEST_TAIL = 2000
"""Characters of the gate's output that go into a prompt."""

SOURCES: dict[ReadingSource, str] = {
    "tests": "the tests",
    "plan": "the plan",
    "agent": "the agent's own report",
    "estimate": "an estimate of activity",
}

REPORT = (
    '{"ralph": {"completion": 0-100, "summary": "...", "blockers": [], "learnings": [], '
    '"next": "..."}}'
)
PROMISE = "<promise>COMPLETE</promise>"


@dataclass(frozen=True)
class PromptInput:
    """Everything a prompt is made of; what is not known is left out of the text."""

    objective: str
    command: str
    """The completion command; empty where a human judges by the criterion."""
    iteration: int
    max_iterations: int
    reading: ReadingTaken | None = None
    gate: GateFinished | None = None
    signal: SignalComputed | None = None
    """None with the control layer switched off, and before the first reading."""
    advice: str = ""
    """The control layer's words."""
    criterion: str = ""
    guidance: Sequence[str] = ()
    redirect: str = ""
    """Instructions of the approved REDIRECT that stands."""
    redirected_at: int = 0
    """The iteration it was approved in."""
    redirect_undid: str = ""
    """What the files were brought back to since that REDIRECT was made; empty: they were not."""
    restored: str = ""
    """What the files were brought back to after the last reading. `reading` and `gate` then are
    those of that state, or None where it was never measured."""
    left_alone: int = 0
    """Files that could not be brought back then."""
    interrupted: str = ""
    """What the iteration before had done when it was interrupted."""
    claimed: bool = False
    """The last session promised to be done, and the gate did not agree."""
    next_step: str = ""
    """What the last session reported as its next step."""
    blockers: Sequence[str] = field(default=())
    knowledge: str = ""
    """The section about what earlier runs have taught."""


@dataclass(frozen=True)
class Prompt:
    """What is sent."""

    text: str
    urgency: Urgency


def build_prompt(given: PromptInput) -> Prompt:
    """The whole prompt, in Markdown, most important first."""
    parts = [
        f"# Objective\n\n{given.objective.strip()}",
        _frame(given),
        _guidance(given.guidance),
        _redirect(given),
        _state(given),
        _control(given),
        _last_words(given),
        given.knowledge,
        _contract(given),
    ]
    urgency: Urgency = given.signal.urgency if given.signal else "normal"
    return Prompt("\n\n".join(part for part in parts if part) + "\n", urgency)


def _frame(given: PromptInput) -> str:
    how = (
        "The work is done when this command exits with 0; it is run for you after you stop:\n\n"
        f"{_fenced(given.command)}"
        if given.command
        else f"The work is done when this is true; a human judges it:\n\n{_fenced(given.criterion)}"
    )
    return (
        "# This iteration\n\n"
        f"Iteration {given.iteration} of {given.max_iterations} of an automatic loop. "
        f"You start with a fresh memory: all there is are the files and this text. {how}"
    )


def _guidance(guidance: Sequence[str]) -> str:
    if not guidance:
        return ""
    words = "\n\n".join(text.strip() for text in guidance)
    return f"# Guidance from the owner\n\nThis comes before everything else:\n\n{words}"


def _redirect(given: PromptInput) -> str:
    if not given.redirect:
        return ""
    changed = f"The approach was changed after iteration {given.redirected_at}"
    if given.redirect_undid:
        changed += (
            f", and then the files were brought back to {given.redirect_undid}: what the "
            "instructions say of the state of the files was said before that, and what they ask "
            "to undo is undone"
        )
    return (
        f"# Redirect\n\n{changed}. Until there is a clear new best, what was said then stands:\n\n"
        f"{given.redirect.strip()}"
    )


def _state(given: PromptInput) -> str:
    reading, gate = given.reading, given.gate
    if given.restored:
        lines = [_restored(given)]
    elif reading is None:
        return ""
    else:
        lines = []
    if reading is not None:
        silent = ", as before: nothing new could be read" if reading.held else ""
        lines.append(
            f"Completion: {percent(reading.completion)} "
            f"(read from {SOURCES[reading.source]}{silent})."
        )
    if gate is not None and gate.passed is not None:
        errors = f", {count(gate.errors, 'error')}" if gate.errors else ""
        skipped = f", {gate.skipped} skipped" if gate.skipped else ""
        lines.append(
            f"The command counted {gate.passed} passed, {gate.failed} failed{errors}{skipped}."
        )
    if gate is not None and gate.failing:
        named = "".join(f"\n- {name}" for name in gate.failing[:NAMED])
        unnamed = gate.unnamed + max(0, len(gate.failing) - NAMED)
        more = f"\n- and {unnamed} more, not named" if unnamed else ""
        lines.append(f"Failing:{named}{more}")
    if gate is not None and gate.timed_out:
        lines.append("The command ran out of time.")
    if gate is not None and gate.error:
        lines.append(f"The command could not be run: {gate.error}")
    if gate is not None and not gate.ok and gate.tail.strip():
        lines.append("The end of its output:\n\n" + _fenced(_end(gate.tail)))
    return "# Measured state\n\n" + "\n\n".join(lines)


def _restored(given: PromptInput) -> str:
    apart = count(given.left_alone, "file")
    but = f", except for {apart} that had to be left alone" if given.left_alone else ""
    then = "This was measured there:" if given.reading else "It was not measured: look at it first."
    return f"The files were brought back to {given.restored}{but}. {then}"


def _control(given: PromptInput) -> str:
    if given.signal is None or given.restored or not given.advice:
        return ""
    return f"# Control\n\n{given.advice}"


def _last_words(given: PromptInput) -> str:
    lines = [given.interrupted] if given.interrupted else []
    judge = "Measured," if given.command else "The owner says"
    if given.claimed:
        lines.append(
            f"The last iteration promised to be complete. {judge} it is not: "
            "do not repeat the promise before it is true."
        )
    if given.blockers:
        lines.append("Reported blockers:\n" + "\n".join(f"- {b}" for b in given.blockers))
    # What it meant to do next belongs to an approach that was given up since, or to work undone.
    given_up = given.redirect and given.redirected_at == given.iteration - 1
    if given.next_step and not given.restored and not given_up:
        lines.append(f"Its next step would have been: {given.next_step}")
    if lines and given.restored:
        lines.append("The files were brought back after it.")
    return "# From the last iteration\n\n" + "\n\n".join(lines) if lines else ""


def _contract(given: PromptInput) -> str:
    proof = "the command passes" if given.command else "the criterion is met"
    return (
        "# When you stop\n\n"
        "Print one line of JSON that says honestly where things stand:\n\n"
        f"{_fenced(REPORT)}\n\n"
        f"Only if the objective is reached and {proof}, also print {PROMISE}"
    )


def _end(tail: str) -> str:
    """The last lines, none of them cut."""
    text = tail.strip()
    if len(text) <= LONGEST_TAIL:
        return text
    last = text[-LONGEST_TAIL - 1 :]
    return last.partition("\n")[2].lstrip("\n") or last[1:]


def _fenced(text: str) -> str:
    """A code block that its content cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
