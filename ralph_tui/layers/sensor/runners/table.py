"""Read the totals of the runners that the rows in `formats` describe. Every pattern must match a
whole line. Text printed by a test may look like a total, but it precedes the real one: within a
run, later totals replace earlier ones. If a row has a `begin`, totals outside a run do not count,
and runs are added up; otherwise each total is a run.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ralph_tui.layers.sensor.runners import Tally

_WORDS = ("name", "errors")
"""Fields of a row that are not patterns."""
_MOST_PARTS = 10_000
LONGEST = 1000
"""Maximum length of a line in characters; a longer one is no total or name, and slow to match."""
_NEAR = 2
"""Maximum distance, in lines, between totals of one run, such as one line per number."""


def any_of(rows: Sequence["Format"]) -> re.Pattern[str]:
    """Return a pattern that matches the lines of these rows, except names below a heading."""
    texts: list[str] = []
    for row in rows:
        texts += row.total, row.begin, row.listing, row.passing, row.skipping, row.broken
        texts += row.part, row.counted, "" if row.listing else row.failing
    # An alternative that starts with a group is compared even if its first character differs.
    plain = (re.sub(r"(?<!\\)\((?:\?P<\w+>)?(?!\?)", "(?:", text) for text in texts if text)
    return re.compile("|".join(f"(?:{text})$" for text in plain))


@dataclass(frozen=True)
class Format:
    """One runner's report, as patterns for whole lines; an empty pattern matches nothing."""

    name: str
    total: str
    """Numbers as named groups, or with labels in one group: ``3 passed, 1 failed``, ``Failed: 1``.

    Without numbers, no test ran.
    """
    after_blank: bool = False
    """True if a total counts only below a blank line."""
    begin: str = ""
    """The first line of a run's report."""
    failing: str = ""
    """A failing test; the groups are its name."""
    counts_names: bool = False
    """True if the totals do not say how many tests failed, so that failing lines are counted."""
    listing: str = ""
    """Heading above test names; if one of its groups matched nothing, the tests did not fail."""
    one_below: bool = False
    """True if only the first name below a heading counts."""
    passing: str = ""
    """A passing test, counted if the totals do not say how many passed."""
    skipping: str = ""
    """A skipped test that the totals count like any other test."""
    part: str = ""
    """A set of tests that ran, with or without a total; the pattern's group is its name."""
    counted: str = ""
    """A set of tests with a total. If a set without one ran, the runner's counts are unknown."""
    broken: str = ""
    """An error while loading or compiling tests; the pattern's group is its text."""
    errors: Literal["tests", "beside", "failures"] = "tests"
    """How errors are counted: as tests, in addition to the tests, or also among the failures."""

    @cached_property
    def own(self) -> re.Pattern[str]:
        """Pattern of the lines that match this row."""
        return any_of((self,))

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """The compiled patterns by field."""
        given = vars(self).items()
        texts = {name: text for name, text in given if isinstance(text, str)}
        return {name: re.compile(text) for name, text in texts.items() if name not in _WORDS}


_FIELDS = tuple(
    (name, re.compile(words, re.IGNORECASE))
    for name, words in {
        "skipped": r"skip|pending|omission|todo|ignored|disabled|incomplete|known|expected|warning"
        r"|did not run|excluded",
        "errors": r"error|exception|invalid|interrupted",
        "failed": r"fail",
        "passed": r"pass|success|succeeded|flaky",
        "tests": r"\b(?:tests?|examples?|runs?|cases?|total|doctests?|propert|features?)\b",
    }.items()
)
_NUMBER_FIRST = re.compile(r"(\d{1,12}) ([A-Za-z][A-Za-z ]*)")
_NUMBER_LAST = re.compile(r"([A-Za-z][A-Za-z ]*?)[:=] *(\d{1,12})")


def labelled(text: str) -> dict[str, int]:
    """Return numbers by their label, from ``3 tests, 1 failure`` or ``Tests: 3, Failures: 1``."""
    if found := _NUMBER_LAST.findall(text):
        return {label.strip(): int(number) for label, number in found}
    return {label.strip(): int(number) for number, label in _NUMBER_FIRST.findall(text)}


def fields_of(said: Mapping[str, int]) -> Counter[str]:
    """Return the numbers by field of a `Tally`, or ``tests``; other labels are omitted."""
    fields: Counter[str] = Counter()
    for label, number in said.items():
        name = next((name for name, words in _FIELDS if words.search(label)), None)
        if name is not None:
            fields[name] += number
    return fields


@dataclass
class Lines:
    """Test counts from a run's individual lines."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    broken: bool = False


def tally_of(totals: Counter[str], lines: Lines, row: Format) -> Tally:
    """Return the tests of a run; missing totals are derived from the others or from its lines."""
    skipped = totals["skipped"] + lines.skipped
    # A test may print such an error, so a run in which every test passed was not broken.
    sound = totals["tests"] + totals["passed"] > 0 and not totals["failed"] + totals["errors"]
    errors = max(totals["errors"], int(lines.broken and not sound))
    others = skipped + (totals["errors"] if row.errors == "tests" else 0)
    if row.counts_names:
        failed = lines.failed
    elif "failed" in totals or "passed" not in totals or "tests" not in totals:
        failed = totals["failed"] - (errors if row.errors == "failures" else 0)
    else:
        failed = totals["tests"] - totals["passed"] - others
    passed = totals["passed"]
    if "passed" not in totals:
        passed = totals["tests"] - failed - others if "tests" in totals else lines.passed
    return Tally(max(0, passed), max(0, failed), errors, skipped)


class Reader:
    """The totals of one row's runner in one stream of lines."""

    inside = False

    def __init__(self, row: Format) -> None:
        self.name, self.row, self.broken = row.name, row, ""
        self._begun, self._naming = not row.begin, not row.listing
        self._runs: Tally | None = None
        self._names = Tally()
        self._lines = Lines()
        self._parts: dict[str, bool] = {}
        self._said: dict[str, int] | None = None
        self._at = 0

    @property
    def listing(self) -> bool:
        """True below a heading of names: any line may be a name."""
        return self._naming and bool(self.row.listing)

    @property
    def uncounted(self) -> bool:
        """True if some tests that ran have no total, so that the counts are unknown."""
        return not all(self._parts.values())

    def feed(self, line: str, number: int = 0, *, after_blank: bool = False) -> None:
        """Process one line that is not empty; `number` is its line number."""
        if not (self.listing or self.row.own.match(line)):
            return
        if self._fits("begin", line):
            self._end()
            self._begun = True
        self._count(line)
        may_total = self._begun and (after_blank or not self.row.after_blank)
        if may_total and (total := self._fits("total", line)):
            self._read(total, number)
        elif number - self._at <= _NEAR:
            self._at = number

    def _fits(self, field: str, line: str) -> re.Match[str] | None:
        return self.row.patterns[field].fullmatch(line)

    def result(self) -> Tally | None:
        """Return the tests of all runs; one error if the tests were broken and there is no total.

        None if nothing was reported, or some tests that ran have no total.
        """
        self._said = {} if self._said is None and self._lines.broken else self._said
        self._end()
        if self.uncounted:
            return None
        if self._runs is not None and self._runs.failed + self._runs.errors:
            self._runs.name(*self._names.names)
        return self._runs

    def _count(self, line: str) -> None:
        lines = self._lines
        if listing := self._fits("listing", line):
            self._naming = all(listing.groups())
        elif self._naming and (failing := self._fits("failing", line)):
            lines.failed += 1
            self._names.name(_group(failing))
            self._naming = not self.row.one_below
        elif self._fits("passing", line):
            lines.passed += 1
        if self._fits("skipping", line):
            lines.skipped += 1
        if part := self._fits("part", line) or self._fits("counted", line):
            name, counted = _group(part), self._fits("counted", line) is not None
            if len(self._parts) < _MOST_PARTS or name in self._parts:
                self._parts[name] = counted or self._parts.get(name, False)
        if broken := self._fits("broken", line):
            lines.broken = True
            self.broken = self.broken or _group(broken)

    def _read(self, total: re.Match[str], number: int) -> None:
        said = {name: int(digits) for name, digits in total.groupdict().items() if digits}
        said = said or labelled(_group(total))
        far = number - self._at > _NEAR and bool(said)
        another = far or not said.keys().isdisjoint(self._said or {})
        if another and not self.row.begin:
            self._end()
        self._said = said if another or self._said is None else self._said | said
        self._at = number

    def _end(self) -> None:
        said, self._said = self._said, None
        if said is None:
            return
        self._runs = self._runs or Tally()
        self._runs.add(tally_of(fields_of(said), self._lines, self.row))
        self._lines = Lines()


def _group(found: re.Match[str]) -> str:
    """Return the text of the groups that matched."""
    return "".join(filter(None, found.groups()))


class Table:
    """Readers of all rows for one stream of lines; most lines cost one comparison."""

    def __init__(self, rows: Sequence[Format], relevant: re.Pattern[str]) -> None:
        self.readers = [Reader(row) for row in rows]
        self._relevant = relevant
        self._number, self._blank = 0, True
        self._listing: list[Reader] = []

    @property
    def uncounted(self) -> bool:
        """True if tests of a row's runner ran and their number is unknown."""
        return any(reader.uncounted for reader in self.readers)

    def feed(self, line: str) -> None:
        """Process one line, without its newline and without control sequences."""
        self._number += 1
        after_blank, self._blank = self._blank, not line
        if not line or len(line) > LONGEST:
            return
        if readers := self.readers if self._relevant.match(line) else self._listing:
            for reader in readers:
                reader.feed(line, self._number, after_blank=after_blank)
            self._listing = [reader for reader in self.readers if reader.listing]
