"""What it takes to go on with a run that is over, or damaged. Standard library only."""

from ralph_tui.text.terms import RECORD_BROKEN

MORE = 5
"""Iterations that are offered where the granted ones are used up."""


def resuming(run: str = "", kept: int | None = None, more: str = "") -> str:
    """The command that goes on with a run, the newest where it has no name.

    `kept`: of a damaged journal, the events before the damage; `more`: see `lacking`.
    """
    named = f" {run}" if run else ""
    return f"ralph-tui resume{named}{'' if kept is None else f' --from {kept}'}{more}"


def broken_off(run: str, kept: int) -> str:
    """Why nobody can tell how a run ended whose journal is damaged, and how it goes on."""
    return f"{RECORD_BROKEN}; {resuming(run, kept)} goes on from here"


def lacking(done: int, most: int, budget_usd: float | None, *, limited: bool) -> str:
    """Options of `resume`, a space before them; empty where it needs none.

    `limited`: it ended at its limit. However it ended, one whose iterations are used up needs more.
    """
    if done >= most or (limited and budget_usd is None):
        return f" --max-iterations {most + MORE}"
    if limited and budget_usd is not None:
        return f" --budget {2 * budget_usd:g}"
    return ""
