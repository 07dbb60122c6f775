"""What screens of a run tell of the fleet that it is a loop of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FleetWork:
    """What a fleet knows of a run that is one of its loops."""

    name: str
    """``fleet-001/1``."""
    base: str
    """The commit that it began with."""
    branch: str = ""
    """Of the user's repository, which holds its work; empty: none does."""
    record: str = ""
    """What a command there calls the run, to restore its snapshots; empty: none can be."""
