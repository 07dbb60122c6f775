"""A run in a row of a list: what is told of it beside others. Rule: it is quick to import."""

from dataclasses import dataclass
from datetime import datetime

NO_OBJECTIVE = "(its objective cannot be read)"
"""Of a run of which other things can be read."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """What a list says of a run. Its texts may be shown as they are."""

    name: str
    """What the command line calls it."""
    objective: str = ""
    """Empty where nothing can be read of it."""
    status: str = "died"
    """Its outcome, its phase, ``died``, ``unheard``: names that `text.terms` has words for."""
    agent: str = ""
    iterations: int = 0
    max_iterations: int | None = None
    completions: tuple[float, ...] = ()
    """After each iteration, 0 to 1, the oldest first, the last ones of a long run; before the first
    has ended what was measured before it."""
    interventions: int | None = None
    """Beyond a warning; None where it was not recorded."""
    cost_usd: float | None = None
    """None where the agent does not tell."""
    cost_estimated: bool = False
    started: datetime | None = None
    updated: datetime | None = None
    """When it ended; of a live one when it recorded something last, of a lost one its last sign."""
    seconds: float = 0.0
    """That it has lasted, without those between an end and a resume."""
    live: bool = False
    """A process works on it, or sessions of its loop were heard of a while ago."""
    question: bool = False
    """It waits for an answer."""
    imported: str = ""
    """What wrote it, where that was another tool."""
    problem: str = ""
    """Which file of its record cannot be used; what else is said of it is made up of others."""
