"""How a run stood when somebody looked at it last: what the next look is compared with."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict

from ralph_tui.state import RunState


@dataclass(frozen=True)
class Seen:
    """Kept in a file that anybody could have written."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False)

    run: str
    """Its id: another run may have the same name by now."""
    seq: int
    """The last event that was shown."""
    at: datetime
    """When it was looked at."""
    iterations: int = 0
    completion: float | None = None
    """In points."""
    passed: int | None = None
    """Tests."""
    cost_usd: float = 0.0
    denied: int = 0
    """Tool calls."""
    over: bool = False
    """It had ended."""
    lost: bool = False
    """Its process was gone."""


def seen_of(state: RunState, now: datetime, *, lost: bool) -> Seen:
    """How it stands."""
    run = state.run
    return Seen(
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
