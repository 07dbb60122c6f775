"""Which iterations a loop had: recorded ones in the order of the file, and those that crashed.

A number that comes twice is one iteration. A number that is missing is one that crashed before it
was recorded. Standard library only.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ralph_tui.adapters.agents.json_fields import as_map
from ralph_tui.importers.fields import Json, as_points
from ralph_tui.importers.state_file import number_of

WIDEST_GAP = 50
"""Missing numbers in a row that are taken for crashes wherever nothing lies there of them."""


@dataclass
class Numbered:
    """An iteration, and what was recorded of it."""

    number: int
    """By which its files are found."""
    shown: int
    """By which it is told: it never goes back."""
    entry: Json | None = None
    """None for one that crashed."""
    again: list[Json] = field(default_factory=list)
    """What was recorded of it another time."""


def numbered(
    entries: Sequence[Json], current: int, left: Callable[[int], bool], *, whole: bool
) -> list[Numbered]:
    """All of them; `left` says whether a prompt or an output of a number lies there.

    `current`: the iteration the loop was in last. `whole`: it is the only loop of the state, so
    what lies there below its first number is its own.
    """
    return list(_renumbered(_with_crashed(recorded(entries), current, left, whole=whole)))


def recorded(entries: Sequence[Json]) -> list[Numbered]:
    """In the order of the file; one without a number follows the one before it.

    What was recorded of one first counts, unless only what was recorded later has a reading.
    """
    found: list[Numbered] = []
    by_number: dict[int, Numbered] = {}
    for entry in entries:
        number = number_of(entry) or (found[-1].number + 1 if found else 1)
        if number in by_number:
            known = by_number[number]
            if known.entry is not None and _reads(entry) and not _reads(known.entry):
                known.again.append(known.entry)
                known.entry = entry
            else:
                known.again.append(entry)
        else:
            by_number[number] = Numbered(number, number, entry)
            found.append(by_number[number])
    return found


def _reads(entry: Json) -> bool:
    return as_points(as_map(entry.get("analysis")).get("completionPercentage")) is not None


def _with_crashed(
    found: list[Numbered], current: int, left: Callable[[int], bool], *, whole: bool
) -> Iterator[Numbered]:
    known = {one.number for one in found}
    last = 0
    for one in found:
        first = not last
        for number in range(last + 1, one.number):
            there = left(number) if first else left(number) or one.number - last <= WIDEST_GAP
            if number not in known and there and (whole or not first):
                yield Numbered(number, number)
        yield one
        last = max(last, one.number)
    for number in range(last + 1, current + 1):
        if number == last + 1 or left(number):
            yield Numbered(number, number)


def _renumbered(found: Iterator[Numbered]) -> Iterator[Numbered]:
    last = 0
    for one in found:
        one.shown = last = max(one.number, last + 1)
        yield one
