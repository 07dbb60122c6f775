"""TAP 12 to 14 (prove, node:test, git's test scripts): test points confirmed by a plan.

``ok`` lines without a plan are prose. Planned tests that never ran are errors, SKIP and TODO do not
count, and subtests count through their parent's point. In vitest's output, blocks in braces are
files and suites, so their leaves count. node:test's own totals below the plan count leaves and take
precedence. prove's ``Files=1, Tests=3`` counts only if no points were printed.
"""

import re
from dataclasses import dataclass, field

from ralph_tui.layers.sensor.runners import Tally

_VERSION = re.compile(r"TAP version 1\d")
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: *#.*)?")
_POINT = re.compile(r"(not )?ok\b(?: +(\d{1,9})\b)?(.*)")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(skip|todo\b)", re.IGNORECASE)
_BLOCK = re.compile(r".* # (?:time=\d[\d.]*ms|SKIP|TODO) \{")
_TIME = re.compile(r" # time=\d[\d.]*m?s(?: \{)?$")
_TOTAL = re.compile(r"# (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})")
_NODE = {"tests", "suites", "pass", "fail", "cancelled"}
_PROVE_FILE = re.compile(r"(\S.*?)\s+\(Wstat: .*?Tests: (\d{1,9}) Failed: (\d{1,9})\)")
_PROVE_PLAN = re.compile(r"  Parse errors: .*You planned (\d{1,9}) tests? but ran (\d{1,9})\.")
_PROVE_NO_PLAN = "Parse errors: No plan found"
_PROVE_NAME = re.compile(r"# {3}Failed test '(.+)'")
_PROVE_TESTS = re.compile(r"  Failed tests?:\s+(\S.*)")
_PROVE_END = re.compile(r"Files=\d+, Tests=(\d{1,9}),.*")
_DEEPEST = 100


@dataclass
class _Block:
    """A point with nested points in braces; its failure counts only if no nested point failed."""

    failing: str
    failed_inside: bool = False


@dataclass
class _Document:
    """One TAP stream, from its version, plan or first point to the start of the next stream."""

    headed: bool = False
    plan: int | None = None
    points: int = 0
    starts_at_one: bool = True
    bailed: bool = False
    tally: Tally = field(default_factory=Tally)
    totals: dict[str, int] = field(default_factory=dict)
    failing_indent: int = 0
    blocks: list[_Block] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        return self.headed or self.plan is not None or self.points > 0

    @property
    def full(self) -> bool:
        return self.plan is not None and self.points >= self.plan

    def settled(self) -> Tally | None:
        """Return its counts; None if it turned out not to be TAP."""
        if self.totals.keys() >= _NODE:
            return self._node()
        if not (self.headed or (self.points and self.starts_at_one) or self.plan == 0):
            return None
        if self.plan is None and not (self.headed and (self.points or self.bailed)):
            return None
        tally = self.tally
        missing = max(0, (self.plan or 0) - self.points)
        tally.errors += max(missing, 1) if self.bailed else missing
        return tally

    def _node(self) -> Tally:
        counted = self.totals
        return Tally(
            passed=counted["pass"],
            failed=counted["fail"],
            errors=counted["cancelled"],
            skipped=counted.get("skipped", 0) + counted.get("todo", 0),
            names=self.tally.names,
        )


class Tap:
    """Counts of TAP streams."""

    name = "tap"
    inside = False  # test output appears as comments or indented

    def __init__(self) -> None:
        self._total: Tally | None = None
        self._document = _Document()
        self._yaml = -1  # indent of the YAML block being skipped
        self._prove = Tally()
        self._diagnosed = Tally()  # names in Test::More's messages
        self._points_for_prove = False

    def feed(self, line: str) -> None:
        if not line:
            return
        if line[0] == " ":
            self._indented(line)
            return
        self._yaml = -1
        match line[0]:
            case "o" | "n":
                if point := _POINT.fullmatch(line):
                    self._point(point, indent=0)
            case "}" if line == "}":
                self._end_block()
            case "1":
                if plan := _PLAN.fullmatch(line):
                    self._plan(int(plan[1]), skipped="#" in line)
            case "#":
                self._comment(line)
            case "T" if _VERSION.fullmatch(line):
                self._next()
                self._document.headed = True
            case "B" if line.startswith("Bail out!"):
                self._document.bailed = self._document.begun
            case "F" if end := _PROVE_END.fullmatch(line):
                self._prove_end(int(end[1]))
        if "Wstat" in line and (file := _PROVE_FILE.fullmatch(line)):
            self._prove.failed += int(file[3])

    def result(self) -> Tally | None:
        self._next()
        return self._total

    def _point(self, point: re.Match[str], indent: int) -> None:
        failing, number, rest = point[1] is not None, point[2], point[3]
        if indent == 0 and not self._counts_as_point(number, rest):
            return
        document = self._document
        directive = _DIRECTIVE.search(rest)
        title = _TIME.sub("", rest.strip()).removeprefix("-").strip() or f"test {number or '?'}"
        if indent == 0:
            document.points += 1
            document.blocks.clear()
        if len(document.blocks) < _DEEPEST and _BLOCK.fullmatch(rest):
            document.blocks.append(_Block(title if failing and directive is None else ""))
            return
        is_parent = document.failing_indent > indent
        if failing and directive is None:
            if not is_parent:
                document.tally.name(title)
            document.failing_indent = indent
            if document.blocks:
                document.blocks[-1].failed_inside = True
        elif is_parent:
            document.failing_indent = indent
        if indent != 4 * len(document.blocks):
            return
        if directive is not None and (failing or directive[1].lower() == "skip"):
            document.tally.skipped += 1
        elif failing:
            document.tally.failed += 1
        else:
            document.tally.passed += 1

    def _counts_as_point(self, number: str | None, rest: str) -> bool:
        """True if this is a test point; it may begin another document."""
        document = self._document
        if number is None:
            # prove also ends a file with a bare ``ok``.
            return (document.headed or document.plan is not None) and not document.full
        if rest and not rest[0].isspace():
            return False
        if document.points and (document.full or number == "1"):
            self._next()
        if self._document.points == 0:
            self._document.starts_at_one = number == "1"
        return True

    def _plan(self, plan: int, *, skipped: bool) -> None:
        if self._document.plan is not None:
            self._next()
        if plan == 0 and not (self._document.headed or skipped):
            return
        self._document.plan = plan

    def _indented(self, line: str) -> None:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if self._yaml >= 0 and indent >= self._yaml:
            if indent == self._yaml and text == "...":
                self._yaml = -1
            return
        self._yaml = -1
        if text == "}":
            self._end_block()
        elif text == "---" and self._document.begun:
            self._yaml = indent
        elif text.startswith(("ok ", "not ok ")) and self._document.begun:
            if point := _POINT.fullmatch(text):
                self._point(point, indent)
        elif text.startswith("Parse errors:") and (plan := _PROVE_PLAN.fullmatch(line)):
            self._prove.errors += max(0, int(plan[1]) - int(plan[2]))
        elif text.startswith(_PROVE_NO_PLAN):
            self._prove.errors += 1
        elif text.startswith("Failed test") and (tests := _PROVE_TESTS.fullmatch(line)):
            self._prove.name(f"test {tests[1]}")

    def _end_block(self) -> None:
        document = self._document
        if not document.blocks:
            return
        block = document.blocks.pop()
        if block.failing and not block.failed_inside:
            document.tally.failed += 1
            document.tally.name(block.failing)
        if block.failing and document.blocks:
            document.blocks[-1].failed_inside = True

    def _comment(self, line: str) -> None:
        document = self._document
        if name := _PROVE_NAME.fullmatch(line):
            self._diagnosed.name(name[1])
        if document.plan is not None and (total := _TOTAL.fullmatch(line)):
            if total[1] == "tests":
                document.totals.clear()
            document.totals[total[1]] = int(total[2])

    def _next(self) -> None:
        """Close the current document and begin another."""
        document, self._document = self._document, _Document()
        tally = document.settled()
        if tally is not None:
            self._points_for_prove = True
            self._add(tally)

    def _prove_end(self, tests: int) -> None:
        self._next()
        counted, self._prove = self._prove, Tally()
        named, self._diagnosed = self._diagnosed, Tally()
        if len(named.names) == counted.failed:
            counted.names = named.names
        if not self._points_for_prove:
            counted.passed = max(0, tests - counted.failed)
            self._add(counted)
        self._points_for_prove = False

    def _add(self, tally: Tally) -> None:
        if self._total is None:
            self._total = Tally()
        self._total.add(tally)
