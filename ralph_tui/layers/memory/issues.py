"""Find issues that recur in at least two iterations of a run, ignoring details.

An issue is a blocker reported by the agent, a failed session, or the reason why the completion
command gave no result. Failing tests are not issues: they are the task.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ralph_tui.events.agent import SessionOutcome
from ralph_tui.layers.memory.similarity import similar
from ralph_tui.state import IterationSpan

MIN_ITERATIONS: Final = 2
"""Minimum number of iterations in which an issue must occur."""
FAILURES: Final[frozenset[SessionOutcome]] = frozenset(
    {"error", "silent", "timeout", "max_turns", "context_full"}
)
"""Session outcomes that reflect on the work; others reflect on the service or the program."""
OUT_OF_TIME: Final = "The completion command ran out of time"
LONGEST: Final = 1000
"""Maximum number of characters of an issue to compare: an agent can report a megabyte."""
GONE: Final = "…"
"""Placeholder for a detail."""

_PARTICULARS: Final = re.compile(
    r"""
    \b[a-z][a-z+.-]*://\S+                              # addresses of pages and services
    | \b[\w.+-]+@[\w-]+(?:\.[\w-]+)+                    # e-mail addresses
    | \b0x[0-9a-f]+\b                                   # memory addresses
    | \b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b  # ids of commits and requests
    | (?<![^\s"'`(\[=,<])                               # paths: words joined by a slash
        (?!(?:and/or|i/o|n/a|read/write|client/server|input/output|tcp/ip)\b)
        [\w.~@+:-]*[/\\][\w.~@+/\\:-]*[\w/\\]
    | \b\d[\d.,:]*\b                                    # numbers, versions, times
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AGAIN: Final = re.compile(rf"{GONE}(?:[\s:,]*{GONE})+")
_WORD: Final = re.compile(r"[^\W\d_]{2}")


@dataclass
class Issue:
    """An issue, and the iterations in which it occurred."""

    text: str
    """The first wording, without details."""
    iterations: list[int] = field(default_factory=list)


def without_details(text: str) -> str:
    """Return a sentence with `GONE` in place of numbers, paths and addresses."""
    line = _PARTICULARS.sub(GONE, " ".join(text[:LONGEST].split()))
    return _AGAIN.sub(GONE, line).strip()


def recurring_issues(spans: Sequence[IterationSpan]) -> list[Issue]:
    """Return the recurring issues, the most frequent first."""
    found: list[Issue] = []
    for span in spans:
        for said in issues_of(span):
            text = without_details(said)
            if _WORD.search(text) is None:
                continue
            issue = next((one for one in found if similar(one.text, text)), None)
            if issue is None:
                found.append(issue := Issue(text))
            if span.number not in issue.iterations:
                issue.iterations.append(span.number)
    recurring = [issue for issue in found if len(issue.iterations) >= MIN_ITERATIONS]
    return sorted(recurring, key=lambda issue: -len(issue.iterations))


def issues_of(span: IterationSpan) -> Iterator[str]:
    """Yield the blockers and errors of an iteration; some may be empty."""
    for report in span.reports:
        yield from report.blockers
    for end in span.ends:
        if end.outcome in FAILURES:
            yield end.reason
    if span.gate is not None:
        if span.gate.timed_out:
            yield OUT_OF_TIME
        yield span.gate.error
