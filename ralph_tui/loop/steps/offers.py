"""Answers to the overseer's questions, each described with its full effect."""

from collections.abc import Sequence

from ralph_tui.events.waiting import Option, Rollback, Takes
from ralph_tui.state import RunState
from ralph_tui.text.format import count, percent, place

APPROVE = Option(
    key="y", answer="approve", verb="approve: added to every prompt until completion improves"
)
EDIT = Option(
    key="e", answer="approve", verb="edit the instructions first; y approves", takes="instructions"
)
DECLINE = Option(key="n", answer="decline", verb="decline: continue without them")
CONTINUE = Option(key="y", answer="continue", verb="continue as before")
GUIDE = Option(key="g", answer="guide", verb="continue with guidance", takes="words")
ABORT = Option(key="a", answer="abort", verb="abort the run; the files stay as they are")
MORE: dict[Takes, str] = {
    "iterations": "iterations",
    "money": "money",
    "more": "iterations or money",
}
"""Words for the kinds of budget extension."""
NEAR_END = 0.7
"""Used share of a budget above which an extension is offered."""
GAINING = 2
"""Number of iterations without a new best after which a forecast is ignored."""


def extend(takes: Takes) -> Option:
    """Return the answer that continues with more of a budget."""
    verb = f"continue with more {MORE[takes]}"
    return Option(key="+", answer="extend", verb=verb, takes=takes)


def extensions(state: RunState) -> list[Option]:
    """Return at most one answer: more iterations or money, if these run out."""
    run, signal = state.run, state.control.latest
    gains = signal is not None and signal.iteration - (signal.best_at or 0) < GAINING
    needed = signal.forecast if signal is not None and gains else None
    found: list[Takes] = []
    if is_nearly_used(run.iteration, run.max_iterations, needed):
        found.append("iterations")
    if run.budget_usd and run.cost_known:
        each = run.cost_usd / max(1, run.iteration)
        if is_nearly_used(run.cost_usd, run.budget_usd, None if needed is None else needed * each):
            found.append("money")
    return [extend("more" if len(found) > 1 else takes) for takes in found[:1]]


def is_nearly_used(used: float, limit: float, needed: float | None) -> bool:
    """True if a budget is nearly used up, or less is left than a forecast needs."""
    return 10 * used >= 10 * NEAR_END * limit or (needed is not None and needed > limit - used)


def roll_back(
    to: Rollback | None, *, instructs: bool, readings: Sequence[float] = ()
) -> list[Option]:
    """Return the option to restore a better snapshot, with its effects; empty without `to`.

    `instructs`: the answer also approves instructions. `readings`: percentages shown beside the
    option, which must look different from its own.
    """
    if to is None:
        return []
    reached = "" if to.completion is None else f" ({percent(to.completion, *readings)})"
    changed = count(to.files, "file") if to.files else "no files"
    then = "send the instructions" if instructs else "continue"
    verb = f"restore {place(to.iteration)}{reached}, which changes {changed}, and {then}"
    return [Option(key="r", answer="roll_back", verb=verb)]
