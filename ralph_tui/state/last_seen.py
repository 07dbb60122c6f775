"""A run's status when the user last viewed it, for comparison with the next view."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pydantic import AwareDatetime, ConfigDict

from ralph_tui.state import RunState


@dataclass(frozen=True)
class LastSeen:
    """A status as saved in a file, which anyone could have written."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False)

    run: str
    """The run's id: another run may have taken the name."""
    seq: int
    """The last event shown."""
    at: AwareDatetime
    """When the user viewed the run."""
    iterations: int = 0
    completion: float | None = None
    """Completion in points."""
    passed: int | None = None
    """Number of tests passed."""
    cost_usd: float = 0.0
    denied: int = 0
    """Number of denied tool calls."""
    over: bool = False
    """True if the run had ended."""
    lost: bool = False
    """True if the run's process was gone."""


def seen_of(state: RunState, now: datetime, *, lost: bool) -> LastSeen:
    """Return the run's current status."""
    run = state.run
    return LastSeen(
        run=run.started.run_id if run.started is not None else "",
        seq=state.seq,
        at=now,
        iterations=len(run.completions),
        completion=run.completion,
        passed=run.passed,
        cost_usd=run.cost_usd,
        denied=state.needs.denials,
        over=not run.live,
        lost=lost,
    )
