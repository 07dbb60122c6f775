"""What a run that is over lacks to go on: more iterations, or more money. Standard library only."""

MORE = 5
"""Iterations that are offered where the granted ones are used up."""


def lacking(done: int, most: int, budget_usd: float | None, *, limited: bool) -> str:
    """Options of `resume`, a space before them; empty where it needs none.

    `limited`: it ended at its limit. However it ended, one whose iterations are used up needs more.
    """
    if done >= most or (limited and budget_usd is None):
        return f" --max-iterations {most + MORE}"
    if limited and budget_usd is not None:
        return f" --budget {2 * budget_usd:g}"
    return ""
