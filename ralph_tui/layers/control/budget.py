"""What a run may spend, how fine its yardstick is, and so how long it may stand still.

All of it may change between iterations: a human adds iterations, the agent adds tests.
"""

import math
from dataclasses import dataclass

from ralph_tui.layers.control.history import History
from ralph_tui.layers.control.settings import ControlSettings
from ralph_tui.layers.control.tolerance import TOLERANCE, above, below
from ralph_tui.text.format import count

UNKNOWN_TESTS = 100
"""Taken when the number of tests is unknown or 0."""
KNOWN_RISES = 5
"""Rises after which the run itself tells how long one takes."""
LONGEST_STRIDE = 10
LAST_FROM = 80.0
"""Points: from here on the few tests or items left may be the slow ones."""
LAST_ITEMS = 3
LAST_SHARE = 0.05
"""Of all tests or items: as many as this are few, too."""


@dataclass(frozen=True)
class Budget:
    """The limits as they stand now."""

    max_iterations: int
    tests: int | None = None
    """Tests or plan items; None or 0 when unknown."""
    spent: float = 0.0
    """The larger of cost and tokens as a share of their own budgets; 0 without such budgets."""
    slow_last: bool = True
    """Wait longer for the last tests or items; False for readings of older journals."""

    @property
    def items(self) -> int:
        """T: tests or plan items, 100 when unknown."""
        return self.tests or UNKNOWN_TESTS

    @property
    def grain(self) -> float:
        """Points that two tests are worth: smaller moves may be one flaky test."""
        return 200 / self.items

    def few_left(self, best: float) -> bool:
        """Whether at most 3 tests or items, or 5 % of them, are open at this best in points."""
        few = max(float(LAST_ITEMS), LAST_SHARE * self.items)
        return not below(best, LAST_FROM) and not above(self.items * (100 - best) / 100, few)

    @property
    def stride(self) -> int:
        """s: iterations that are little of a budget of this size."""
        return min(LONGEST_STRIDE, -(-self.max_iterations // 30))

    def used(self, iteration: int) -> float:
        """The largest used share, a fraction; above 1 beyond the budget."""
        return max(iteration / self.max_iterations, self.spent)

    def used_words(self, iteration: int) -> str:
        """``9 of 10 iterations are used``; ``95 % of the budget is spent`` by cost or tokens."""
        if self.spent <= iteration / self.max_iterations:
            used = "is" if self.max_iterations == 1 else "are"
            return f"{iteration} of {count(self.max_iterations, 'iteration')} {used} used"
        return f"{self.spent:.0%} of the budget is spent".replace("%", " %", 1)

    def has_used(self, tenths: int, iteration: int) -> bool:
        """Whether that many tenths are used; iterations are compared in whole numbers."""
        return (
            10 * iteration >= tenths * self.max_iterations or 10 * self.spent >= tenths - TOLERANCE
        )


@dataclass(frozen=True)
class Patience:
    """Iterations that may pass before a loop counts as stuck."""

    short: int
    """n: without a rise of the best and without anything new."""
    long: int
    """N: twice this with hardly a rise, whatever the steps were."""

    @classmethod
    def of(cls, history: History, budget: Budget, settings: ControlSettings) -> "Patience":
        """3 and 3 for a loop that rises every time, at budgets up to 30.

        More where the budget is large, where this run has waited longer before and rose after all,
        where only the last tests are open, and, until it has shown how it rises, where each test
        is a large step.
        """
        short = max(3, budget.stride, 3 * history.longest_wait)
        if history.rises < KNOWN_RISES:
            short = max(short, -(-3 * budget.max_iterations // budget.items))
        if budget.slow_last and budget.few_left(history.best):
            short = max(short, -(-12 * budget.max_iterations // 100))
        cap = max(3, -(-budget.max_iterations // 4))
        short = min(cap, short)
        long = min(cap, max(short, -(-budget.max_iterations // 10)))
        return cls(_scaled(short, settings.patience), _scaled(long, settings.patience))


def _scaled(iterations: int, patience: float) -> int:
    return max(1, math.ceil(iterations * patience - TOLERANCE))
