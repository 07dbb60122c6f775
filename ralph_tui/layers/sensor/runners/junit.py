"""JUnit XML in an output: count test cases; a suite's attributes make up for missing ones.

This is a tag scanner, not a parser. Other text may surround the documents, a document may be cut
off, and entities and doctypes are never expanded.
"""

import re
from dataclasses import dataclass, field
from html import unescape

from ralph_tui.layers.sensor.runners import Tally

_START = re.compile(r"(?:^\s*|<\?xml [^<>]*\?>\s*)(?=<testsuites?[\s/>])")
_DECLARED = re.compile(r"<\?xml [^<>]*\?>\s*$")
_SPANS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
_TAG = re.compile(
    r"<(/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*(/?)>", re.ASCII
)
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.ASCII)
_OUTCOME = re.compile(r"<(failure|error|skipped)[\s/>]")
_LONGEST_TAG = 1 << 17
_DEEPEST = 200


@dataclass
class _Suite:
    attributes: dict[str, str]
    tally: Tally = field(default_factory=Tally)

    def settled(self) -> Tally:
        """Return its cases and inner suites, or its declared numbers if it shows fewer tests."""
        declared = {
            name: self._number(name) for name in ("tests", "failures", "errors", "disabled")
        }
        tests, declared["tests"] = declared["tests"], 0
        if self.tally.seen >= tests:
            return self.tally
        skipped = self._number("skipped") or self._number("skip")
        skipped += declared["disabled"]
        failed, errors = declared["failures"], declared["errors"]
        passed = max(0, tests - failed - errors - skipped)
        return Tally(passed, failed, errors, skipped, self.tally.names)

    def _number(self, name: str) -> int:
        value = self.attributes.get(name, "")
        return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0


class JUnit:
    """Counts of JUnit XML documents."""

    name = "junit"

    def __init__(self) -> None:
        self._total: Tally | None = None
        self._suites: list[_Suite] = []
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._outcomes: set[str] = set()
        self._until = ""  # end marker of the comment, CDATA or instruction being skipped
        self._carry: list[str] = []  # an unfinished tag
        self._carried = 0
        self._declared = False

    @property
    def inside(self) -> bool:
        """True from ``<testsuite`` to its end."""
        return self._depth > 0

    def feed(self, line: str) -> None:
        """Process one line, or a piece of a long one."""
        if self._depth == 0:
            if "<" not in line:
                self._declared = self._declared and not line.strip()
                return
            after_declaration, self._declared = self._declared, bool(_DECLARED.search(line))
            start = _START.search(line)
            if start is None:
                if after_declaration and line.lstrip().startswith("<!--"):
                    self._declared = True
                return
            line = line[start.end() :]
        self._scan(self._joined(line))

    def result(self) -> Tally | None:
        """Return the total of all documents; a truncated one counts up to its end."""
        total = self._total
        if not self._suites:
            return total
        suites = [_Suite(suite.attributes, _copy(suite.tally)) for suite in self._suites]
        while len(suites) > 1:
            inner = suites.pop()
            suites[-1].tally.add(inner.settled())
        result = _copy(total) if total is not None else Tally()
        result.add(suites[0].settled())
        return total if result.seen == 0 else result  # Open tags alone do not count.

    def _joined(self, line: str) -> str:
        if not self._carry:
            return line + "\n"
        self._carry.append(line + "\n")
        self._carried += len(line) + 1
        if ">" not in line and "<" not in line and self._carried < _LONGEST_TAG:
            return ""
        text, self._carry = "".join(self._carry), []
        return text

    def _scan(self, text: str) -> None:
        at = 0
        while True:
            if self._until:
                end = text.find(self._until, at)
                if end < 0:
                    return
                at, self._until = end + len(self._until), ""
            start = text.find("<", at)
            if start < 0:
                return
            span = next((span for span in _SPANS if text.startswith(span[0], start)), None)
            if span is not None:
                at, self._until = start + len(span[0]), span[1]
                continue
            tag = _TAG.match(text, start)
            if tag is not None:
                self._tag(tag[2], tag[3], opens=not tag[1], closes=bool(tag[1] or tag[4]))
                at = tag.end()
                if self._depth == 0:
                    self.feed(text[at:].rstrip("\n"))
                    return
                continue
            if text.find("<", start + 1) < 0 and len(text) - start < _LONGEST_TAG:
                self._carry, self._carried = [text[start:]], len(text) - start
                return
            # Not a tag, or one too long to read: only the outcome of its test case matters.
            if outcome := _OUTCOME.match(text, start):
                self._outcomes.add(outcome[1])
            at = start + 1

    def _tag(self, name: str, attributes: str, *, opens: bool, closes: bool) -> None:
        if name in ("testsuite", "testsuites"):
            if opens:
                self._open_suite(_attributes(attributes))
            if closes:
                self._close_suite()
        elif name == "testcase":
            if opens:
                self._case, self._outcomes = _attributes(attributes), set()
            if closes and self._case is not None:
                self._close_case(self._case)
                self._case = None
        elif self._case is not None and opens and name in ("failure", "error", "skipped"):
            self._outcomes.add(name)

    def _open_suite(self, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= _DEEPEST:
            self._suites.append(_Suite(attributes))

    def _close_suite(self) -> None:
        if self._depth == 0:
            return
        self._depth -= 1
        if self._depth >= _DEEPEST:
            return
        tally = self._suites.pop().settled()
        if not self._suites:
            if self._total is None:
                self._total = Tally()
            self._total.add(tally)
        else:
            self._suites[-1].tally.add(tally)

    def _close_case(self, case: dict[str, str]) -> None:
        tally = self._suites[-1].tally
        left_out = case.get("status", "") in ("notrun", "disabled", "skipped")
        if "skipped" in self._outcomes or left_out:
            tally.skipped += 1
            return
        if not self._outcomes:
            tally.passed += 1
            return
        if "failure" in self._outcomes:
            tally.failed += 1
        else:
            tally.errors += 1
        names = (case.get("classname", ""), case.get("name", ""))
        tally.name(unescape(".".join(filter(None, names))))


def _attributes(text: str) -> dict[str, str]:
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(text)}


def _copy(tally: Tally) -> Tally:
    copy = Tally()
    copy.add(tally)
    return copy
