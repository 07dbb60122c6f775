"""The agent's steps in an iteration, decided by the files and the iteration number. Pure.

With 25 tests, 12 of them passing, a test is worth 4 points:

    steady       48 56 64 72 80 88 100
    stuck        48 56 64 64 64 64 ...            until it is redirected or guided
    oscillating  48 64 52 64 52 64 ...            likewise
    regressing   48 64 76 60 48 48 ...            likewise
    limit        as steady, but iteration 2 meets a usage limit first
    asking       as steady, unless the user chooses otherwise: see `asking`

In `context` the agent works through a plan instead: see `planned`.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

from ralph_tui.demo.agent.bugs import BUGS, COMMENT, EXPONENT, GROUPS, POSITION, POWER, SIGN, Bug

SCENARIOS = ("steady", "stuck", "oscillating", "regressing", "limit", "context", "asking")
LIMITED_ITERATION = 2

StepAction = Literal["fix", "break", "fiddle"]


class Step(NamedTuple):
    """One action on one bug."""

    action: StepAction
    bug: Bug


WHOLE_LEXER = frozenset({EXPONENT, COMMENT, POSITION, POWER})
OTHER_SIDE = frozenset({GROUPS})
STUCK_AT = 4
"""Number of tests fixed before the agent meets the bug it cannot solve."""


def plan(
    scenario: str, iteration: int, fixed: Collection[Bug], *, guided: bool, first: str = ""
) -> list[Step]:
    """Return the steps of this iteration, given the `fixed` bugs; `guided`: by user or redirect.

    `first`: the file whose bugs come before all others.
    """
    done = frozenset(fixed)
    if scenario == "stuck" and not guided and sum(bug.tests for bug in done) == STUCK_AT:
        return [Step("fiddle", SIGN)]
    if scenario == "oscillating" and not guided and done in ({*()}, WHOLE_LEXER, OTHER_SIDE):
        return _swap_fixes(done)
    if scenario == "regressing" and iteration in (3, 4) and not guided:
        breakable = [bug for bug in BUGS if bug in done]
        return [Step("break", bug) for bug in _take_bugs(3, breakable)]
    if scenario == "regressing" and iteration > 4 and not guided and not done:
        return [Step("fiddle", SIGN)]
    left = (bug for bug in BUGS if bug not in done)
    order = sorted(left, key=lambda bug: bug.path != first)
    return [Step("fix", bug) for bug in _take_bugs(3 if scenario == "regressing" else 2, order)]


def _swap_fixes(done: frozenset[Bug]) -> list[Step]:
    """Return steps that switch between two sets of fixes, as if they were incompatible."""
    wanted = OTHER_SIDE if done == WHOLE_LEXER else WHOLE_LEXER
    breaks = [Step("break", bug) for bug in BUGS if bug in done]
    return breaks + [Step("fix", bug) for bug in BUGS if bug in wanted]


def _take_bugs(tests: int, bugs: list[Bug]) -> list[Bug]:
    """Return the first bugs that break at least `tests` tests; all if only one would be left."""
    chosen: list[Bug] = []
    for bug in bugs:
        left = sum(other.tests for other in bugs) - sum(other.tests for other in chosen)
        if sum(other.tests for other in chosen) >= tests and left > 1:
            break
        chosen.append(bug)
    return chosen
