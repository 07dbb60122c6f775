"""What an iteration reached for the first time in its run.

A test that was failing whenever it was named is not failing any more, or a plan item that was there
before is ticked. Each counts once: a test that comes and goes is no news.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from zlib import crc32

from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.text.sanitize import shorten

MOST_ITEMS = 500
"""Open items of a plan that are told apart."""
LONGEST_ITEM = 300
"""Characters of an item that is named."""


@dataclass(frozen=True)
class Novelty:
    """What was ever open, and what of it was ever seen done or gone."""

    open: frozenset[str] = frozenset()
    """Failing tests, or hashes of items without a tick, that were named and always open since."""
    closed: frozenset[str] = frozenset()
    """Those that were once open and then were not: they are no news again."""

    def after(self, open_: Iterable[str]) -> "Novelty":
        """With one more complete list of what is open."""
        now = frozenset(open_)
        gone = self.open - now
        return replace(self, open=(self.open | now) - self.closed - gone, closed=self.closed | gone)

    def naming(self, some: Iterable[str]) -> "Novelty":
        """With one more list that may leave out what is open."""
        return replace(self, open=self.open | (frozenset(some) - self.closed))


def all_named(counts: Counts, most: int) -> bool:
    """Whether a test that is not named did not fail.

    `most`: the most tests ever counted. Where fewer ran, or not every failing one has a name,
    silence says nothing.
    """
    return counts.total >= most and len(counts.failing) >= counts.failed + counts.errors


def hashes(items: Iterable[str]) -> tuple[str, ...]:
    """A short name for each item, the same in every reading; equal items are numbered."""
    seen: dict[str, int] = {}
    found = []
    for item in items:
        seen[item] = number = seen.get(item, 0) + 1
        found.append(f"{crc32(f'{number} {item}'.encode()):08x}")
    return tuple(found)


def open_items(plan: Progress) -> tuple[str, ...]:
    """Hashes of a plan's items that are not ticked, the first 500."""
    names = hashes(text for text, _ in plan.items)
    return tuple(name for name, (_, done) in zip(names, plan.items, strict=True) if not done)[
        :MOST_ITEMS
    ]


def next_item(plan: Progress) -> str:
    """The first item that is not ticked; empty when all are."""
    return next((shorten(text, LONGEST_ITEM) for text, done in plan.items if not done), "")


def ticked_items(plan: Progress) -> dict[str, str]:
    """What a plan's items say that are ticked, by their hashes."""
    names = hashes(text for text, _ in plan.items)
    return {name: text for name, (text, done) in zip(names, plan.items, strict=True) if done}
