"""Find the first error that prevented tests from being collected, imported or compiled.

Errors are used only for runners that counted one, so output quoted by a test rarely misleads.
"""

import re
from typing import NamedTuple

from ralph_tui.text.sanitize import clip

LONGEST = 200
"""Maximum length of an error, in characters."""
_NEAR = 400
"""Lines below a heading that may contain the error itself."""

_NAME = r"((?:[a-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception|Failed)\b.*)"
_NAMED = re.compile(_NAME)


class _Report(NamedTuple):
    """How a runner reports such an error: a heading, and the error below it."""

    runner: str
    heading: re.Pattern[str]
    error: re.Pattern[str] = _NAMED


_REPORTS = (
    _Report("pytest", re.compile(r"_+ (ERROR collecting \S.*?) _+"), re.compile(rf"E +{_NAME}")),
    _Report("unittest", re.compile(r"(ERROR: \S+ \(unittest\.loader\._FailedTest.*)")),
    _Report("jest", re.compile(r" *● (Test suite failed to run)"), re.compile(r" +(\S.*)")),
    _Report("vitest", re.compile("⎯+ (Failed Suites \\d+) ⎯+")),
)
_SUMMARY = re.compile(r"ERROR ([^\s:]+)(?: - (.*))?")  # pytest, about a file rather than a test
_RUST = re.compile(r"error(?:\[E\d+\])?: .*")
_NOT_COMPILED = re.compile(r"error: could not compile `.*")
_GO = re.compile(r"FAIL\t(\S+ \[(?:build|setup) failed\])")
_MODULE = "ImportError: Failed to import test module"


class FirstError:
    """A search, line by line, that remembers one error per runner."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._open: _Report | None = None
        self._left = 0
        self._rust = self._go = ""
        self._go_next = False

    def feed(self, line: str) -> None:
        """Process one line, which must not contain control sequences."""
        if self._open is not None and self._left:
            self._left -= 1
            error = self._open.error.fullmatch(line)
            if error and not line.startswith(_MODULE):
                self._found[self._open.runner] = error[1]
                self._open = None
        if line[:1] in "_E \u23af●":
            self._heading(line)
        elif line.startswith("error"):
            self._cargo(line)
        elif self._go_next:
            self._go, self._go_next = line, False
        elif line.startswith("# ") and not self._go:
            self._go_next = True
        elif line.startswith("FAIL\t") and (failed := _GO.fullmatch(line)):
            self._found.setdefault("go", self._go or failed[1])

    def of(self, runners: str) -> str:
        """Return the first error of these runners, named as in `Counts`; empty without one."""
        names = runners.replace("nextest", "cargo").split("+")
        return clip(next((self._found[name] for name in names if name in self._found), ""), LONGEST)

    def _heading(self, line: str) -> None:
        for report in _REPORTS:
            heading = report.heading.fullmatch(line)
            if heading and report.runner not in self._found:
                self._found[report.runner] = heading[1]
                self._open, self._left = report, _NEAR
                return
        summary = _SUMMARY.fullmatch(line)
        if summary and "pytest" not in self._found:
            self._found["pytest"] = summary[2] or f"ERROR collecting {summary[1]}"

    def _cargo(self, line: str) -> None:
        if _NOT_COMPILED.fullmatch(line):
            self._found.setdefault("cargo", self._rust or line)
        elif not self._rust and _RUST.fullmatch(line):
            self._rust = line
