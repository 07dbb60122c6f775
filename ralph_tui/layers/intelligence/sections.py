"""The sections of a prompt, with their content and importance.

Sentences are ours or the user's; text by any other author is fenced.
"""

from collections.abc import Mapping, Sequence

from ralph_tui.events.intelligence import Approach
from ralph_tui.events.sensor import ReadingSource, ReadingTaken
from ralph_tui.layers.control.law import Phase
from ralph_tui.layers.intelligence.blocks import NAMED_TESTS, foreign, rank_of, uncut_section, whole
from ralph_tui.layers.intelligence.budget import Block, Section, lines_of, units_of
from ralph_tui.layers.intelligence.fence import closed, fenced, item
from ralph_tui.layers.intelligence.files_section import files_section
from ralph_tui.layers.intelligence.handoff_section import resume_section
from ralph_tui.layers.intelligence.history_sections import (
    findings_section,
    knowledge_section,
    last_iteration,
    reports,
    verdict,
)
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.output import useful_lines
from ralph_tui.layers.intelligence.take_on_section import take_on_section
from ralph_tui.layers.sensor.expected import gone_words
from ralph_tui.text.format import count, percent, place

ESTIMATED_FROM = 3
"""Minimum number of runs that an estimate must be based on for a prompt to include it."""
SOURCES: Mapping[ReadingSource, str] = {
    "tests": "the tests",
    "plan": "the plan",
    "agent": "the agent's own report",
    "estimate": "an estimate based on activity",
}
REPORT = (
    '{"ralph": {"completion": 0-100, "summary": "...", "blockers": [], "learnings": [], '
    '"next": "..."}}'
)
ITEM_REPORT = f'{REPORT[:-2]}, "item_progress": 0-100}}}}'
"""With a plan, the agent also reports how far along the first open item is."""
PROMISE = "<promise>COMPLETE</promise>"

_APPROACHES: Mapping[Approach, str] = {
    "persist": "",
    "pivot": "Change the approach.",
    "escalate": "No approach has worked so far. Take the smallest step that you are sure of.",
}
_PHASES: Mapping[Phase | None, str] = {
    "early": "Phase: early. Explore first: read the code and tests that matter here, and find out "
    "how to run them. Then take the first step.",
    "mid": "Phase: middle. Finish one open task at a time, and run the tests after each change.",
    "late": "Phase: late. Finish what is open before anything else, and verify the result: run the "
    "checks yourself before you stop.",
}


def sections_of(inputs: PromptInput) -> dict[str, Section]:
    """Return all sections by their names in a template."""
    return {
        "objective": uncut_section("Objective", closed(inputs.objective.strip())),
        "criteria": uncut_section("This iteration", _frame(inputs), _PHASES.get(inputs.phase, "")),
        "resume": resume_section(inputs),
        "instruction": uncut_section(
            "Standing instruction",
            inputs.instruction and "This applies to every iteration:",
            closed(inputs.instruction.strip()),
        ),
        "guidance": guidance_section(inputs.guidance),
        "redirect": _redirect(inputs),
        "state": _state(inputs),
        "verdict": verdict(inputs),
        "assessment": last_iteration(inputs),
        "files": files_section(inputs),
        "strategy": _strategy(inputs),
        "control": _control(inputs),
        "plan": _plan(inputs),
        "reports": reports(inputs),
        "findings": findings_section(inputs),
        "knowledge": knowledge_section(inputs.learnings),
        "context": take_on_section(inputs),
        "contract": _contract(inputs),
    }


def guidance_section(guidance: Sequence[str]) -> Section:
    """Return the user's guidance."""
    words = [closed(text.strip()) for text in guidance]
    return uncut_section(
        "Guidance from the user",
        *(["This takes precedence over everything else:"] if words else []),
        *words,
    )


def _frame(inputs: PromptInput) -> str:
    return (
        f"Iteration {inputs.iteration} of {inputs.max_iterations} of an automated loop. You start "
        "with no memory of earlier sessions. You have only the files and this prompt. "
        f"{_end(inputs)}"
    )


def _end(inputs: PromptInput) -> str:
    """Describe when the run ends."""
    command, criterion = fenced(inputs.command), fenced(inputs.criterion)
    judged = "The work is done when this is true. It is checked after you promise completion:"
    green = "This command must also pass. It runs automatically after you stop:"
    if inputs.criterion and inputs.command:
        return f"{judged}\n\n{criterion}\n\n{green}\n\n{command}"
    if inputs.criterion:
        return f"{judged}\n\n{criterion}"
    if inputs.until_promise:
        return (
            "The work is done when the objective is reached and you promise completion, as the "
            "last section describes. A promise counts only after a file has changed. "
            f"{green}\n\n{command}"
        )
    return (
        "The work is done when this command exits with 0. It runs automatically after you "
        f"stop:\n\n{command}"
    )


def _redirect(inputs: PromptInput) -> Section:
    if not inputs.redirect:
        return uncut_section("Redirect")
    lead = f"The approach changed after iteration {inputs.redirected_at}. "
    if inputs.redirect_undid:
        lead += (
            f"Then the files were restored to {inputs.redirect_undid}. The instructions below were "
            "written before that: anything they ask you to undo is already undone. "
        )
    lead += "Follow these instructions until completion reaches a clear new best:"
    said = Block(units_of(closed(inputs.redirect.strip())), rank_of("redirect"), "the redirect")
    return Section("Redirect", (*whole(lead), said))


def _state(inputs: PromptInput) -> Section:
    reading, gate = inputs.reading, inputs.gate
    if not inputs.restored and reading is None:
        return uncut_section("Measured state")
    said = [_restored(inputs)] if inputs.restored else []
    if reading is not None:
        said.append(f"Completion: {percent(reading.completion)} ({_origin(inputs, reading)}).")
        if reading.missing:
            names = [item(name) for name in reading.gone]
            counted = reading.passed or 0, reading.total or 0, reading.expected or 0
            said.append(f"{gone_words(*counted, names)}. Missing tests count as failing.")
    if gate is None:
        return uncut_section("Measured state", *said)
    if gate.passed is not None and not gate.broken:
        errors = f", {count(gate.errors, 'error')}" if gate.errors else ""
        skipped = f", {gate.skipped} skipped" if gate.skipped else ""
        said.append(
            f"The command reported {gate.passed} passed, {gate.failed} failed{errors}{skipped}."
        )
    if gate.timed_out:
        said.append("The command ran out of time.")
    failed = [] if gate.broken else gate.failing  # in a broken build, these are modules
    names = [f"- {item(name)}" for name in failed[:NAMED_TESTS]]
    failing = Block(
        lines_of(names),
        rank_of("failing"),
        "names of failing tests",
        label="Failing tests, as named by the command",
        unsaid=0 if gate.broken else gate.unnamed + max(0, len(failed) - NAMED_TESTS),
        counted=True,
    )
    error = foreign(
        "output", "why the command could not run", "Why the command could not run",
        [item(gate.error)] if gate.error else [],
    )  # fmt: skip
    output = foreign(
        "output", "the command's output", "End of the command's output",
        () if gate.ok else useful_lines(gate.tail), keep_last=True,
    )  # fmt: skip
    return Section("Measured state", (*whole(*said), failing, error, output))


def _origin(inputs: PromptInput, reading: ReadingTaken) -> str:
    """Say how completion was measured."""
    if reading.held and inputs.measured_last is not None:
        return f"not measured since {place(inputs.measured_last)}: {item(reading.note)}"
    if reading.broken:
        return f"the build is broken; {reading.expected} tests are expected"
    if reading.uncounted:
        gate = inputs.gate
        if gate and gate.ok and gate.passed is not None:
            return "the command already passes"
        return f"the command {'passes' if gate and gate.ok else 'fails'} and reports no counts"
    silent = ", unchanged: nothing new could be measured" if reading.held else ""
    return f"from {SOURCES[reading.source]}{silent}"


def _restored(inputs: PromptInput) -> str:
    apart = count(inputs.left_alone, "file")
    but = f", except for {apart} that could not be restored" if inputs.left_alone else ""
    measured = "The measurements below are of that state:"
    then = measured if inputs.reading else "That state was not measured: inspect it first."
    return f"The files were restored to {inputs.restored}{but}. {then}"


def _strategy(inputs: PromptInput) -> Section:
    planned = inputs.strategy
    if planned is None:
        return uncut_section("Strategy")
    # A redirect in effect says how to continue; before iteration 1 there is no approach.
    begun = inputs.reading is None or inputs.reading.iteration > 0
    explain = begun and not inputs.redirect
    how = f"{_APPROACHES[planned.approach]} {planned.reasoning.strip()}" if explain else ""
    order, left, known = "Priorities, in order", inputs.handoff, set[str]()
    if left is not None:  # the priorities are older than the work to be continued
        order, known = "Priorities after that, in order", {left.item, *left.done}
    open_ones = [text for text in planned.priorities if text not in known]
    first = foreign(
        "strategy", "the priorities", order,
        [f"{number}. {item(text)}" for number, text in enumerate(open_ones, 1)],
    )  # fmt: skip
    reason = Block(units_of(how), rank_of("reason"), "the reason for the strategy")
    return Section("Strategy", (reason, first))


def _control(inputs: PromptInput) -> Section:
    if inputs.signal is None or inputs.restored or not inputs.advice:
        return uncut_section("Control")
    units = units_of(inputs.advice)
    return Section("Control", (Block(units, rank_of("control"), "the control advice"),))


def _plan(inputs: PromptInput) -> Section:
    plan, reading = inputs.plan, inputs.reading
    expected = ""
    known = plan is not None and plan.estimate_from >= ESTIMATED_FROM
    if plan is not None and plan.estimated_iterations and known:
        expected = (
            f"Tasks like this one took about {count(plan.estimated_iterations, 'iteration')}."
        )
    current = reading.next_item if reading is not None and not inputs.restored else ""
    if inputs.handoff is not None:  # the handoff names the current item
        current = ""
    named = foreign(
        "plan", "the plan's current item", "First open item in the plan",
        [item(current)] if current else [],
    )  # fmt: skip
    said = Block(units_of(expected), rank_of("plan"), "the plan")
    return Section("Plan", (named, said))


def _contract(inputs: PromptInput) -> Section:
    return uncut_section(
        "When you stop",
        "Print one line of JSON that reports your status honestly:",
        fenced(ITEM_REPORT if inputs.open_items else REPORT),
        '"item_progress" is how far along the plan\'s first open item is.'
        * bool(inputs.open_items),
        promise_line(inputs),
    )


def promise_line(inputs: PromptInput) -> str:
    """Say when and how the agent should promise completion."""
    proofs = {"the criterion is met": inputs.criterion, "the command passes": inputs.command}
    proof = " and ".join(proof for proof, asked in proofs.items() if asked)
    only = f"Only if the objective is reached and {proof}, also print {PROMISE}"
    needed = inputs.criterion or inputs.until_promise
    return f"{only}. Without that line the loop continues." if needed else only
