"""Ways for a wait to end other than by its condition."""

from ralph_tui.base.errors import RalphError
from ralph_tui.events.run import Outcome
from ralph_tui.ports.host import Job


class Ended(Exception):  # noqa: N818  an end is not an error
    """The end of the run, raised where the loop waits and caught where it closes."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Late(RalphError):  # noqa: N818  as above
    """A job that did not finish in time; it is abandoned but may still finish."""

    def __init__(self, job: Job, within_s: float) -> None:
        super().__init__(f"{job.name} has given no result within {within_s:.0f} s")
        self.job = job
