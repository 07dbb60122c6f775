"""What is recommended about a window: go on, hand over, which items of the plan to take. Pure.

Standard library only.
"""

from collections.abc import Iterable
from typing import Protocol

RECENT = 5
"""Iterations that are looked back on."""
FILLED = 2
"""Windows of these that filled up: then it was no accident."""


class Use(Protocol):
    """How the window was used in one iteration."""

    @property
    def peak_percent(self) -> float | None:
        """Of the window; None while nothing is known."""
        ...

    @property
    def filled(self) -> int:
        """Windows that were full: those handed over for it, and those the agent summed up."""
        ...


def windows_fill(history: Iterable[Use], checkpoint_percent: float = 85.0) -> bool:
    """Whether windows of this run fill up: then prompts advise how to load less.

    They do when two windows of the last five iterations of which anything is known did.
    """
    known = [use for use in history if use.filled or use.peak_percent is not None]
    return (
        sum(
            max(use.filled, (use.peak_percent or 0.0) >= checkpoint_percent)
            for use in known[-RECENT:]
        )
        >= FILLED
    )
