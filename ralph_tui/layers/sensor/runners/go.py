"""go test with ``-v`` or ``-json``: results of tests whose start is in the output.

Only leaves count: a test with subtests is counted itself only if it fails although none of them
did. A package that fails without a failing test (build failure, panic, exit) is one error. Without
``-v``, go does not name passing tests, so an output with such a package yields no counts rather
than wrong ones.
"""

import re
from dataclasses import dataclass, field

from ralph_tui.layers.sensor.runners import Runs, Tally
from ralph_tui.text.foreign_json import parse_json

_STARTED = re.compile(r"=== (RUN|PAUSE) +(\S+)")
_RESULT = re.compile(r"(?:.*?)--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d\ds\)")
_PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(?:[\t ](.*))?")
_NO_TESTS = re.compile(r"\[no tests? (?:to run|files)\]")
_UNBUILT = re.compile(r"\[(?:build|setup) failed\]")
_EVENT = '{"'
_MOST = 20_000  # limit on remembered tests and packages


@dataclass
class _Package:
    """One package's tests while it runs."""

    tally: Tally = field(default_factory=Tally)
    running: set[str] = field(default_factory=set)
    parents: set[str] = field(default_factory=set)
    failed_parents: set[str] = field(default_factory=set)
    blamed: set[str] = field(default_factory=set)
    active: str = ""  # the top-level test that has neither ended nor paused
    over: bool = False

    def start(self, test: str) -> None:
        """Record the start of a test; its nearest running ancestor by name becomes its parent."""
        parent = next((name for name in _ancestors(test) if name in self.running), None)
        if parent is not None and len(self.parents) < _MOST:
            self.parents.add(parent)
        if len(self.running) < _MOST:
            self.running.add(test)

    def end(self, test: str, result: str) -> bool:
        """Record the end of a test; return whether it had started."""
        if test not in self.running:
            return False
        self.running.discard(test)
        if test == self.active:
            self.active = ""
        if test in self.parents:
            if result == "fail":
                self.failed_parents.add(test)
        elif result == "pass":
            self.tally.passed += 1
        elif result == "skip":
            self.tally.skipped += 1
        else:
            self._fail(test)
        return True

    def settled(self, *, ok: bool) -> Tally:
        """Return the package's tests once it has ended."""
        for parent in sorted(self.failed_parents - self.blamed, key=len, reverse=True):
            if parent not in self.blamed:
                self._fail(parent)
        if ok:  # tests whose result was lost in their own output passed too
            self.tally.passed += len(self.running - self.parents)
        elif not self.tally.failed:
            self.tally.errors += 1
        return self.tally

    def _fail(self, test: str) -> None:
        self.tally.failed += 1
        self.tally.name(test)
        if len(self.blamed) < _MOST:
            self.blamed.update(_ancestors(test))


class Go:
    """Counts of go test runs."""

    name = "go"

    def __init__(self) -> None:
        self._runs = Runs()
        self._open: list[_Package] = []  # a test may print another run
        self._by_name: dict[str, _Package] = {}  # for -json
        self._uncounted = 0  # packages whose tests were not named
        self._unexplained = Tally()  # packages that failed before any test, if -v was on
        self._verbose = False

    @property
    def inside(self) -> bool:
        """True from a package's first test to its end."""
        return bool(self._open) and not self._open[-1].over

    def feed(self, line: str) -> None:
        if line.startswith("=== "):
            if started := _STARTED.fullmatch(line):
                self._started(started[1], started[2])
        elif line in ("PASS", "FAIL"):
            if self._open and not self._open[-1].active:
                self._open[-1].over = True
        elif line.startswith(("ok  ", "FAIL", "?   ")):
            if package := _PACKAGE.fullmatch(line):
                self._package(package[1], package[2], package[3] or "")
        elif line.startswith(_EVENT):
            if '"Action":"' in line:
                self._event(line)
        elif self._open and "--- " in line and (result := _RESULT.fullmatch(line)):
            self._ended(result[2], result[1].lower())

    def result(self) -> Tally | None:
        """Return the total of all packages; None also if a package did not name its tests."""
        while self._open and self._open[-1].over:  # a test binary run directly prints no package
            self._close(ok=True)
        if self._uncounted or (self._unexplained.errors and not self._verbose):
            return None
        if self._unexplained.errors:
            self._runs.end(self._unexplained)
            self._unexplained = Tally()
        return self._runs.result()

    def _started(self, what: str, test: str) -> None:
        top = self._open[-1] if self._open else None
        if what == "PAUSE":
            if top is not None and test == top.active:
                top.active = ""
            return
        if test.startswith("Benchmark"):
            return
        if top is not None and top.over:
            self._close(ok=not top.tally.failed)
            top = self._open[-1] if self._open else None
        if top is None or (top.active and "/" not in test):
            top = _Package()
            self._open.append(top)
            del self._open[100:]
        if "/" not in test:
            top.active = test
        top.start(test)
        self._verbose = True

    def _ended(self, test: str, result: str) -> None:
        for depth in reversed(range(len(self._open))):
            if self._open[depth].end(test, result):
                del self._open[depth + 1 :]  # printed lines that looked like a run
                return

    def _package(self, verdict: str, name: str, rest: str) -> None:
        if _UNBUILT.search(rest):
            self._runs.end(Tally(errors=1, names={name: None}), quoted=bool(self._open))
        elif self._open and verdict == "FAIL":
            self._close(ok=False, name=name)
        elif self._open:
            if verdict == "ok  " and not self._open[-1].active:  # otherwise a test printed it
                self._close(ok=True)
        elif _NO_TESTS.search(rest):
            self._runs.end(Tally())
        elif verdict == "FAIL":
            self._unexplained.errors += 1
            self._unexplained.name(name)
        elif verdict == "ok  ":
            self._uncounted += 1

    def _close(self, *, ok: bool, name: str = "") -> None:
        package = self._open.pop()
        tally = package.settled(ok=ok)
        if not ok and not tally.failed:
            tally.name(name)
        self._runs.end(tally, quoted=bool(self._open))

    def _event(self, line: str) -> None:
        try:
            event = parse_json(line)
        except ValueError:
            return
        action, name, test = (event.get(key) for key in ("Action", "Package", "Test"))
        if not isinstance(name, str) or not isinstance(test, str | None):
            return
        package = self._by_name.get(name)
        if action == "run" and test:
            if package is None:
                if len(self._by_name) >= _MOST:
                    return
                package = self._by_name[name] = _Package()
            package.start(test)
        elif action in ("pass", "fail", "skip"):
            if test:
                if package is not None:
                    package.end(test, action)
                return
            tally = (self._by_name.pop(name, None) or _Package()).settled(ok=action != "fail")
            if tally.errors:
                tally.name(name)
            self._runs.end(tally)


def _ancestors(test: str) -> list[str]:
    """Return a test's ancestors, nearest first: ``A/b/c`` has ``A/b`` and ``A``."""
    parts = test.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
