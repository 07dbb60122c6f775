"""pytest: the last line of a session has the counts, and its short summary names the failures.

A session quotes captured output, which may contain whole sessions (a test that runs pytest).
Sessions are therefore kept on a stack, and only the end of the outermost counts. A session opens
with its header or, with ``-q``, which prints no header, with its first section. ``-qq`` prints no
last line, so the progress letters are counted instead.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from ralph_tui.layers.sensor.runners import Tally

_START = "test session starts"
_SHORT = 9
_SECTIONS = {
    "ERRORS": 1,
    "FAILURES": 2,
    "XFAILURES": 3,
    "warnings summary": 4,
    "PASSES": 5,
    "XPASSES": 6,
    "short test summary info": _SHORT,
}
_QUOTING = {1, 2, 3, 5, 6}  # sections that show captured output
_NAMING = {1, 2}  # sections headed by the names of failing tests

_TITLE = re.compile(r"=+ (\S.*?) =+")
_HEADING = re.compile(r"__+ (?:ERROR at \w+ of |ERROR collecting )?(\S.*?) __+")
_PART = r"\d+ [a-z]+(?: [a-z]+)?"
_LAST = re.compile(
    rf"(no tests ran|{_PART}(?:, {_PART})*) in \d+\.\d+(?:s| seconds)"
    r"(?: \((?:\d+ days?, )?\d+:\d\d:\d\d\))?"
)
_OUTCOMES = re.compile(r"(?:passed|failed|errors?|skipped|deselected|xfailed|xpassed)")
_PROGRESS = re.compile(r"([.FEsxXRu,-]+)(?: +\[ *(?:(\d+)%|(\d+)/(\d+))\])?")
_BROKEN_OFF = re.compile(
    r"!+ (?:Interrupted: (\d+) errors? during collection|stopping after .*) !+"
)
_LONGEST = 4096
_FIRSTS = frozenset("n0123456789=_!.FEsxXRu,-")  # first characters of relevant lines


@dataclass
class _Session:
    """A session whose last line has not appeared yet."""

    headed: bool
    section: int = 0
    summary: Tally = field(default_factory=Tally)
    headings: Tally = field(default_factory=Tally)
    perhaps: Tally | None = None
    """Counts from a last line among quoted output; they are used only if nothing else follows."""

    def names(self) -> dict[str, None]:
        return self.summary.names or self.headings.names


class Pytest:
    """Counts of pytest sessions."""

    name = "pytest"

    def __init__(self) -> None:
        self._total: Tally | None = None
        self._open: list[_Session] = []
        self._inner: Tally | None = None  # the end of a session that seemed to be quoted
        self._letters: Counter[str] = Counter()
        self._letters_done = False
        self._loose = False  # the previous line was progress without a percentage

    @property
    def inside(self) -> bool:
        """True from a session's header or first section to its last line."""
        return bool(self._open)

    def feed(self, line: str) -> None:
        loose, self._loose = self._loose, False
        first = line[:1]
        if first not in _FIRSTS or len(line) > _LONGEST:
            return
        if first in "n0123456789":
            if " in " in line:
                self._last(line, decorated=False)
        elif first == "=":
            if title := _TITLE.fullmatch(line):
                self._titled(title[1], after_progress=loose)
        elif first == "_":
            self._heading(line)
        elif first == "!":
            self._broken_off(line)
        elif line.startswith(("FAILED ", "ERROR ")):
            if self._open and self._open[-1].section == _SHORT:
                self._open[-1].summary.name(_node_id(line.partition(" ")[2]))
        else:
            self._progress(line)

    def result(self) -> Tally | None:
        """Return the total of all sessions; a truncated one is counted by its last report."""
        total = self._total
        last: Tally | None = None
        if self._open:
            last = self._open[0].perhaps or self._inner
        if last is None and self._letters_done:
            last = _of_letters(self._letters)
        if last is None:
            return total
        if self._open:
            last.name(*self._open[0].names())
        result = Tally()
        for tally in (total, last):
            if tally is not None:
                result.add(tally)
        return result

    def _titled(self, title: str, *, after_progress: bool) -> None:
        if title == _START:
            if self._open and self._open[-1].perhaps is not None:
                self._close(self._open[-1].perhaps)  # the session had ended: this is another one
            self._open.append(_Session(headed=True))
            del self._open[100:]
        elif section := _SECTIONS.get(title):
            self._letters_done = self._letters_done or after_progress
            top = self._open[-1] if self._open else None
            if top is not None and section <= top.section and top.perhaps is not None:
                self._close(top.perhaps)
                top = None
            if top is None or section <= top.section:
                top = _Session(headed=False)
                self._open.append(top)
                del self._open[100:]
            top.section, top.perhaps = section, None
        else:
            self._last(title, decorated=True)

    def _heading(self, line: str) -> None:
        if self._open and self._open[-1].section in _NAMING:
            heading = _HEADING.fullmatch(line)
            if heading:
                self._open[-1].headings.name(heading[1])

    def _progress(self, line: str) -> None:
        progress = _PROGRESS.fullmatch(line)
        if progress is None or (self._open and self._open[-1].section):
            return
        letters, percent, done, of = progress.groups()
        self._letters.update(letters)
        self._loose = percent is None and done is None
        if not self._loose:
            self._letters_done = percent == "100" or (done is not None and done == of)

    def _broken_off(self, line: str) -> None:
        broken = _BROKEN_OFF.fullmatch(line)
        if broken and len(self._open) == 1 and not self._open[0].headed:
            self._letters["E"] += int((broken[1] or "0")[:9])
            self._letters_done = True

    def _last(self, text: str, *, decorated: bool) -> None:
        tally = _parse_last(text, decorated=decorated)
        if tally is None:
            return
        if not self._open:
            self._commit(tally)
            return
        top = self._open[-1]
        if top.headed and not decorated:
            return
        if top.section in _QUOTING:
            top.perhaps = tally
        else:
            self._close(tally)

    def _close(self, tally: Tally) -> None:
        session = self._open.pop()
        tally.name(*session.names())
        if self._open:
            self._inner = tally
        else:
            self._commit(tally)

    def _commit(self, tally: Tally) -> None:
        if self._total is None:
            self._total = Tally()
        self._total.add(tally)
        self._inner = None
        self._letters.clear()
        self._letters_done = False


def _parse_last(text: str, *, decorated: bool) -> Tally | None:
    match = _LAST.fullmatch(text)
    if match is None:
        return None
    if match[1] == "no tests ran":
        return Tally()
    counted: Counter[str] = Counter()
    for part in match[1].split(", "):
        number, _, word = part.partition(" ")
        if word.endswith("collected"):  # --collect-only runs nothing
            return None
        counted[word] += int(number[:12])
    if not any(_OUTCOMES.fullmatch(word) for word in counted) and not (
        decorated and counted.keys() <= {"warning", "warnings"}
    ):
        return None
    return Tally(
        passed=counted["passed"] + counted["xpassed"],
        failed=counted["failed"],
        errors=counted["error"] + counted["errors"],
        skipped=counted["skipped"] + counted["xfailed"],
    )


def _of_letters(letters: Counter[str]) -> Tally:
    return Tally(
        passed=letters["."] + letters["X"],
        failed=letters["F"],
        errors=letters["E"],
        skipped=letters["s"] + letters["x"],
    )


def _node_id(text: str) -> str:
    """Return the test's name before `` - message``; bracketed parameters may contain a dash too."""
    name, _, _ = text.partition(" - ")
    if "[" in name and not name.endswith("]"):
        end = text.find("] - ")
        name = text[: end + 1] if end >= 0 else text
    return name
