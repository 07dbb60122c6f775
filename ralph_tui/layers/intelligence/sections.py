"""The sections of a prompt: what each says about the run, and how important it is.

Sentences are ours or the user's; text by any other author is fenced.
"""

from collections.abc import Mapping, Sequence

from ralph_tui.events.intelligence import Approach
from ralph_tui.events.sensor import ReadingSource, ReadingTaken
from ralph_tui.layers.intelligence.blocks import foreign, rank_of, spoken, whole
from ralph_tui.layers.intelligence.budget import Block, Section, lines_of, units_of
from ralph_tui.layers.intelligence.fence import closed, fenced, item
from ralph_tui.layers.intelligence.handover import resume_section
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.output import useful_lines
from ralph_tui.layers.intelligence.recollection import (
    findings_section,
    knowledge_section,
    last_iteration,
    reports,
    verdict,
)
from ralph_tui.layers.sensor.expected import gone_words
from ralph_tui.text.format import count, percent, place

NAMED = 20
"""Maximum failing tests named in a prompt."""
ESTIMATED_FROM = 3
"""Minimum runs behind an estimate before an agent reads it."""
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
PROMISE = "<promise>COMPLETE</promise>"

LOAD_LESS = (
    "This run's context windows fill up before the work is done. Load less into yours:\n\n"
    "- Start with the plan and the handoff, if there are any. Open other files only when you are "
    "about to change them. Read only the relevant part of a long file.\n"
    "- Have commands print only failures and their last lines.\n"
    "- If you have subagents, delegate heavy reading to them: finding code, reviewing, going "
    "through test results. Use their summaries.\n"
    "- Finish one item and mark it done before you start the next.\n"
)

_APPROACHES: Mapping[Approach, str] = {
    "persist": "",
    "pivot": "Change the approach.",
    "escalate": "No approach has worked so far. Take the smallest step that you are sure of.",
}


def sections_of(given: PromptInput) -> dict[str, Section]:
    """Return all sections by their names in a template."""
    return {
        "objective": spoken("Objective", closed(given.objective.strip())),
        "criteria": spoken("This iteration", _frame(given)),
        "resume": resume_section(given),
        "instruction": spoken(
            "Standing instruction",
            given.instruction and "This applies to every iteration:",
            closed(given.instruction.strip()),
        ),
        "guidance": guidance_section(given.guidance),
        "redirect": _redirect(given),
        "state": _state(given),
        "verdict": verdict(given),
        "assessment": last_iteration(given),
        "strategy": _strategy(given),
        "control": _control(given),
        "plan": _plan(given),
        "reports": reports(given),
        "findings": findings_section(given),
        "knowledge": knowledge_section(given.learnings),
        "context": _context(given),
        "contract": _contract(given),
    }


def guidance_section(guidance: Sequence[str]) -> Section:
    """Return the user's guidance."""
    words = [closed(text.strip()) for text in guidance]
    return spoken(
        "Guidance from the user",
        *(["This takes precedence over everything else:"] if words else []),
        *words,
    )


def _frame(given: PromptInput) -> str:
    return (
        f"Iteration {given.iteration} of {given.max_iterations} of an automatic loop. You start "
        "with no memory of earlier sessions. You have only the files and this prompt. "
        f"{_end(given)}"
    )


def _end(given: PromptInput) -> str:
    """Say what ends the run."""
    command, criterion = fenced(given.command), fenced(given.criterion)
    judged = "The work is done when this is true. It is checked after you promise completion:"
    green = "This command must also pass. It runs automatically after you stop:"
    if given.criterion and given.command:
        return f"{judged}\n\n{criterion}\n\n{green}\n\n{command}"
    if given.criterion:
        return f"{judged}\n\n{criterion}"
    if given.until_promise:
        return (
            "The work is done when the objective is reached and you promise completion, as the "
            "last section describes. A promise counts only after a file has changed. "
            f"{green}\n\n{command}"
        )
    return (
        "The work is done when this command exits with 0. It runs automatically after you "
        f"stop:\n\n{command}"
    )


def _redirect(given: PromptInput) -> Section:
    if not given.redirect:
        return spoken("Redirect")
    lead = f"The approach changed after iteration {given.redirected_at}. "
    if given.redirect_undid:
        lead += (
            f"Then the files were restored to {given.redirect_undid}. The instructions below were "
            "written before that: anything they ask you to undo is already undone. "
        )
    lead += "Follow these instructions until completion reaches a clear new best:"
    said = Block(units_of(closed(given.redirect.strip())), rank_of("redirect"), "the redirect")
    return Section("Redirect", (*whole(lead), said))


def _state(given: PromptInput) -> Section:
    reading, gate = given.reading, given.gate
    if not given.restored and reading is None:
        return spoken("Measured state")
    said = [_restored(given)] if given.restored else []
    if reading is not None:
        said.append(f"Completion: {percent(reading.completion)} ({_origin(given, reading)}).")
        if reading.missing:
            names = [item(name) for name in reading.gone]
            counted = reading.passed or 0, reading.total or 0, reading.expected or 0
            said.append(f"{gone_words(*counted, names)}. Missing tests count as failing.")
    if gate is None:
        return spoken("Measured state", *said)
    if gate.passed is not None and not gate.broken:
        errors = f", {count(gate.errors, 'error')}" if gate.errors else ""
        skipped = f", {gate.skipped} skipped" if gate.skipped else ""
        said.append(
            f"The command reported {gate.passed} passed, {gate.failed} failed{errors}{skipped}."
        )
    if gate.timed_out:
        said.append("The command ran out of time.")
    failed = [] if gate.broken else gate.failing  # modules, if the build is broken
    names = [f"- {item(name)}" for name in failed[:NAMED]]
    failing = Block(
        lines_of(names),
        rank_of("failing"),
        "names of failing tests",
        label="Failing tests, as named by the command",
        unsaid=0 if gate.broken else gate.unnamed + max(0, len(failed) - NAMED),
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


def _origin(given: PromptInput, reading: ReadingTaken) -> str:
    """Say how completion was measured."""
    if reading.held and given.measured_last is not None:
        return f"not measured since {place(given.measured_last)}: {item(reading.note)}"
    if reading.broken:
        return f"the build is broken; {reading.expected} tests are expected"
    if reading.uncounted:
        gate = given.gate
        if gate and gate.ok and gate.passed is not None:
            return "the command already passes"
        return f"the command {'passes' if gate and gate.ok else 'fails'} and reports no counts"
    silent = ", unchanged: nothing new could be measured" if reading.held else ""
    return f"from {SOURCES[reading.source]}{silent}"


def _restored(given: PromptInput) -> str:
    apart = count(given.left_alone, "file")
    but = f", except for {apart} that could not be restored" if given.left_alone else ""
    measured = "The measurements below are of that state:"
    then = measured if given.reading else "That state was not measured: inspect it first."
    return f"The files were restored to {given.restored}{but}. {then}"


def _strategy(given: PromptInput) -> Section:
    planned = given.strategy
    if planned is None:
        return spoken("Strategy")
    # A redirect in effect says how to continue; before iteration 1 there is no approach.
    begun = given.reading is None or given.reading.iteration > 0
    told = begun and not given.redirect
    how = f"{_APPROACHES[planned.approach]} {planned.reasoning.strip()}" if told else ""
    order, left, known = "Priorities, in order", given.handoff, set[str]()
    if left is not None:  # planned before the work that is to continue
        order, known = "Priorities after that, in order", {left.item, *left.done}
    open_ones = [text for text in planned.priorities if text not in known]
    first = foreign(
        "strategy", "the priorities", order,
        [f"{number}. {item(text)}" for number, text in enumerate(open_ones, 1)],
    )  # fmt: skip
    reason = Block(units_of(how), rank_of("reason"), "the reason for the strategy")
    return Section("Strategy", (reason, first))


def _control(given: PromptInput) -> Section:
    if given.signal is None or given.restored or not given.advice:
        return spoken("Control")
    units = units_of(given.advice)
    return Section("Control", (Block(units, rank_of("control"), "the control advice"),))


def _plan(given: PromptInput) -> Section:
    plan, reading = given.plan, given.reading
    expected = ""
    known = plan is not None and plan.estimate_from >= ESTIMATED_FROM
    if plan is not None and plan.estimated_iterations and known:
        expected = (
            f"Tasks like this one took about {count(plan.estimated_iterations, 'iteration')}."
        )
    current = reading.next_item if reading is not None and not given.restored else ""
    if given.handoff is not None:  # the handoff names it, as the plan is now
        current = ""
    named = foreign(
        "plan", "the plan's current item", "First open item in the plan",
        [item(current)] if current else [],
    )  # fmt: skip
    said = Block(units_of(expected), rank_of("plan"), "the plan")
    return Section("Plan", (named, said))


def _context(given: PromptInput) -> Section:
    said = units_of(LOAD_LESS) if given.windows_fill else ()
    return Section("Context window", (Block(said, rank_of("context"), "how to load less"),))


def _contract(given: PromptInput) -> Section:
    return spoken(
        "When you stop",
        "Print one line of JSON that reports your status honestly:",
        fenced(REPORT),
        promise_line(given),
    )


def promise_line(given: PromptInput) -> str:
    """Say when and how the agent is to promise completion."""
    proofs = {"the criterion is met": given.criterion, "the command passes": given.command}
    proof = " and ".join(proof for proof, asked in proofs.items() if asked)
    only = f"Only if the objective is reached and {proof}, also print {PROMISE}"
    needed = given.criterion or given.until_promise
    return f"{only}. Without that line the loop continues." if needed else only
