"""Tests and plan items that an iteration completed for the first time in its run.

A novelty is a failing test that passes for the first time, or a known plan item that is ticked for
the first time. A flaky test is therefore not news each time it recovers.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from zlib import crc32

from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.text.sanitize import shorten

MAX_ITEMS = 500
"""Maximum number of open plan items to track."""
LONGEST_ITEM = 300
"""Maximum length of the next item's text, in characters."""


@dataclass(frozen=True)
class Novelty:
    """Tests or items that have been open, and which of them have been closed since."""

    open: frozenset[str] = frozenset()
    """Tests that have failed and never passed since, or hashes of items that were never ticked."""
    closed: frozenset[str] = frozenset()
    """Tests or items that were once open and later closed; closing them again is not news."""

    def after(self, open_: Iterable[str]) -> "Novelty":
        """Return the state updated with another complete list of open tests or items."""
        now = frozenset(open_)
        gone = self.open - now
        return replace(self, open=(self.open | now) - self.closed - gone, closed=self.closed | gone)

    def naming(self, some: Iterable[str]) -> "Novelty":
        """Return the state after another list that may omit open tests."""
        return replace(self, open=self.open | (frozenset(some) - self.closed))


def all_named(counts: Counts, most: int) -> bool:
    """True if every unnamed test can be assumed not to fail.

    `most` is the highest number of tests ever counted. If fewer ran, or some failing test has no
    name, a missing name proves nothing.
    """
    return counts.total >= most and len(counts.failing) >= counts.failed + counts.errors


def hashes(items: Iterable[str]) -> tuple[str, ...]:
    """Return short hashes that stay the same between measurements; equal items get unique ones."""
    seen: dict[str, int] = {}
    found = []
    for item in items:
        seen[item] = number = seen.get(item, 0) + 1
        found.append(f"{crc32(f'{number} {item}'.encode()):08x}")
    return tuple(found)


def open_items(plan: Progress) -> tuple[str, ...]:
    """Return hashes of a plan's unticked items, at most 500."""
    names = hashes(text for text, _ in plan.items)
    return tuple(name for name, (_, done) in zip(names, plan.items, strict=True) if not done)[
        :MAX_ITEMS
    ]


def next_item(plan: Progress) -> str:
    """Return the first unticked item, shortened; empty if all are ticked."""
    return next((shorten(text, LONGEST_ITEM) for text, done in plan.items if not done), "")


def ticked_items(plan: Progress) -> dict[str, str]:
    """Return the texts of a plan's ticked items by hash."""
    names = hashes(text for text, _ in plan.items)
    return {name: text for name, (text, done) in zip(names, plan.items, strict=True) if done}
