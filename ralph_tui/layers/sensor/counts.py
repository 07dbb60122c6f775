"""Parse test counts from a completion command's output: strictly, in one pass and bounded memory.

Several runs of one runner are added up, and so are different runners (``pytest+unittest``). When
pnpm or turbo runs a workspace's packages concurrently and prefixes each line with the package name,
every package is parsed separately. JUnit XML may repeat tests that a runner already printed in the
same output, so it counts only if no runner reported counts.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from ralph_tui.layers.sensor.first_error import LONGEST, FirstError
from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.runners import Runner, Tally
from ralph_tui.layers.sensor.runners.cargo import Cargo
from ralph_tui.layers.sensor.runners.formats import FORMATS, RELEVANT
from ralph_tui.layers.sensor.runners.go import Go
from ralph_tui.layers.sensor.runners.jest import Jest
from ralph_tui.layers.sensor.runners.junit import JUnit
from ralph_tui.layers.sensor.runners.mocha import Mocha
from ralph_tui.layers.sensor.runners.nextest import Nextest
from ralph_tui.layers.sensor.runners.node import Node
from ralph_tui.layers.sensor.runners.plain import LAST_LINES, count_plain
from ralph_tui.layers.sensor.runners.pytest import Pytest
from ralph_tui.layers.sensor.runners.table import LONGEST as LONGEST_LINE
from ralph_tui.layers.sensor.runners.table import Table
from ralph_tui.layers.sensor.runners.tap import Tap
from ralph_tui.layers.sensor.runners.unittest import Unittest
from ralph_tui.layers.sensor.runners.vitest import Vitest
from ralph_tui.text.sanitize import clip, strip_controls

RUNNERS: tuple[Callable[[], Runner], ...] = (
    Pytest,
    Unittest,
    Tap,
    Jest,
    Vitest,
    Mocha,
    Node,
    Go,
    Cargo,
    Nextest,
)
"""Runners that print their counts, in the order in which their names are joined."""

REPORTS: tuple[Callable[[], Runner], ...] = (JUnit,)
"""Formats that may repeat a runner's counts; the first one is used if no runner printed any."""

_ANNOUNCED = re.compile(
    r"(\S+ [\w:.-]+)\$ .+"  # pnpm: ``packages/a test$ jest``
    r"|(\S+:[\w.-]+): cache (?:miss|hit|bypass)\b.*"  # turbo
)
_MAX_PACKAGES = 1000


class _Readers:
    """All parsers for one stream of lines; a parser inside its report gets every line."""

    def __init__(self) -> None:
        alone = [make() for make in RUNNERS]
        self.table = Table(FORMATS, RELEVANT)
        self.runners: list[Runner] = [*alone, *self.table.readers]
        self.reports = [make() for make in REPORTS]
        self._all = [*alone, *self.reports]
        self._owner: Runner | None = None

    @property
    def is_quoting(self) -> bool:
        return self._owner is not None and self._owner.inside

    def feed(self, line: str) -> None:
        if self._owner is not None and self._owner.inside:
            self._owner.feed(line)
            return
        self._owner = None
        for reader in self._all:
            reader.feed(line)
            if reader.inside:
                self._owner = reader
                return
        self.table.feed(line)


def count_tests(lines: Iterable[str]) -> Counts | None:
    """Return the tests counted by known runners in this output; None if no runner reported."""
    own, first, last = _Readers(), FirstError(), deque[str](maxlen=LAST_LINES)
    packages: dict[str, _Readers] = {}
    for raw in lines:
        line = _clean(raw)
        first.feed(line)
        last.append(line[: LONGEST_LINE + 1])
        if packages:
            name, _, rest = line.partition(": ")
            package = packages.get(name)
            if package is not None:
                package.feed(rest)
                continue
        announced = None
        if ("$ " in line or ": cache " in line) and not own.is_quoting:
            announced = _ANNOUNCED.fullmatch(line)
        if announced and len(packages) < _MAX_PACKAGES:
            packages.setdefault(announced[1] or announced[2], _Readers())
        else:
            own.feed(line)
    everyone = [own, *packages.values()]
    counts = _sum([readers.runners for readers in everyone]) or _sum(
        [readers.reports[:1] for readers in everyone]
    )
    tables = [readers.table for readers in everyone]
    if counts is None:
        return None if any(table.uncounted for table in tables) else count_plain(last)
    if not counts.errors:
        return counts
    return replace(counts, broken=first.of(counts.runner) or _broken(tables))


def _broken(tables: list[Table]) -> str:
    """Return the first error found by a row of the table; empty if there is none."""
    found = (reader.broken for table in tables for reader in table.readers)
    return clip(next(filter(None, found), ""), LONGEST)


def _sum(streams: list[list[Runner]]) -> Counts | None:
    total, names, empty = Tally(), dict[str, None](), dict[str, None]()
    for same in zip(*streams, strict=True):
        for tally in filter(None, (reader.result() for reader in same)):
            total.add(tally)
            (names if tally.seen else empty)[same[0].name] = None
    named = names or empty
    return total.counts("+".join(named)) if named else None


def _clean(raw: str) -> str:
    # Most lines are printable already, and that check is much cheaper than stripping.
    line = raw.rstrip("\r\n")
    return line if line.isprintable() else strip_controls(line)
