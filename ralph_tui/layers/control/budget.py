"""What a run may spend, how fine its yardstick is, and so how long it may stand still.

All of it may change between iterations: a human adds iterations, the agent adds tests.
"""

import math
from dataclasses import dataclass

from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.control.tolerance import TOLERANCE

UNKNOWN_TESTS = 100
"""Taken when the number of tests is unknown or 0."""


@dataclass(frozen=True)
class Budget:
    """The limits as they stand now."""

    max_iterations: int
    tests: int | None = None
    """Tests or plan items; None or 0 when unknown."""
    spent: float = 0.0
    """The larger of cost and tokens as a share of their own budgets; 0 without such budgets."""

    @property
    def grain(self) -> float:
        """Points that two tests are worth: smaller moves may be one flaky test."""
        return 200 / (self.tests or UNKNOWN_TESTS)

    def used(self, iteration: int) -> float:
        """The largest used share, a fraction; above 1 beyond the budget."""
        return max(iteration / self.max_iterations, self.spent)

    def has_used(self, tenths: int, iteration: int) -> bool:
        """Whether that many tenths are used; iterations are compared in whole numbers."""
        return (
            10 * iteration >= tenths * self.max_iterations or 10 * self.spent >= tenths - TOLERANCE
        )


@dataclass(frozen=True)
class Patience:
    """Iterations that may pass before a loop counts as stuck."""

    short: int
    """n: without any new best."""
    long: int
    """N: with too small a one; twice this whatever the steps were."""

    @classmethod
    def of(cls, budget: Budget, settings: ControlSettings) -> "Patience":
        """3 and 3 for budgets up to 30 with many tests; more where each test is a big step."""
        tests = budget.tests or UNKNOWN_TESTS
        cap = max(3, -(-budget.max_iterations // 4))
        short = min(cap, max(3, -(-3 * budget.max_iterations // tests)))
        long = min(cap, max(short, -(-budget.max_iterations // 10)))
        return cls(_scaled(short, settings.patience), _scaled(long, settings.patience))


def _scaled(iterations: int, patience: float) -> int:
    return max(1, math.ceil(iterations * patience - TOLERANCE))
