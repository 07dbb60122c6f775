"""The answers that the overseer's questions offer, each with all that it does."""

from collections.abc import Sequence

from ralph_tui.events.waiting import Option, Rollback
from ralph_tui.text.format import count, percent, place

APPROVE = Option(
    key="y",
    answer="approve",
    verb="approve the instructions: in every prompt until there is a new best",
)
EDIT = Option(
    key="e", answer="approve", verb="edit the instructions first; y approves", takes="instructions"
)
DECLINE = Option(key="n", answer="decline", verb="decline: go on as before, without them")
CONTINUE = Option(key="y", answer="continue", verb="continue as before")
GUIDE = Option(key="g", answer="guide", verb="continue, with words to the agent", takes="words")
EXTEND = Option(
    key="+", answer="extend", verb="continue, with more iterations or money", takes="more"
)
ABORT = Option(key="a", answer="abort", verb="abort the run; the files stay as they are")


def roll_back(
    to: Rollback | None, *, instructs: bool, readings: Sequence[float] = ()
) -> list[Option]:
    """The answer that leads back, where there is a way, and all that it does.

    `instructs`: it approves instructions, too; `readings`: what it is written beside, points.
    """
    if to is None:
        return []
    reached = "" if to.completion is None else f" ({percent(to.completion, *readings)})"
    changed = count(to.files, "file") if to.files else "no file"
    then = "send the instructions" if instructs else "go on"
    verb = f"restore {place(to.iteration)}{reached}: changes {changed}, and {then}"
    return [Option(key="b", answer="roll_back", verb=verb)]
