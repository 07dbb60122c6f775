"""Facts about a run's fleet for the screens of the run."""

from typing import NamedTuple


class FleetWork(NamedTuple):
    """What the fleet knows about one of its runs."""

    name: str
    """Fleet and loop, as in ``fleet-001/1``."""
    base: str
    """The commit that the run started from."""
    branch: str = ""
    """The branch in the user's repository with the run's work; empty if there is none."""
    record: str = ""
    """The run's name in restore commands in that repository; empty if none can restore it."""
