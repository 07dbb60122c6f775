"""What stood in the way of a run: the same issue in two of its iterations, whatever its details.

An issue is what the agent reports as a blocker, how its session failed, or why the completion
command gave no answer. Failing tests are none: they are the task.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ralph_tui.events.agent import SessionOutcome
from ralph_tui.layers.memory.similarity import similar
from ralph_tui.state import IterationSpan

STANDS: Final = 2
"""Iterations an issue has to be in."""
FAILURES: Final[frozenset[SessionOutcome]] = frozenset(
    {"error", "silent", "timeout", "max_turns", "context_full"}
)
"""Ends of a session that tell something of how it worked; the others tell of its service,
or of its program."""
OUT_OF_TIME: Final = "The completion command ran out of time"
LONGEST: Final = 1000
"""Characters of an issue that are looked at: an agent can report a megabyte."""
GONE: Final = "…"
"""Stands for a particular."""

_PARTICULARS: Final = re.compile(
    r"""
    \b[a-z][a-z+.-]*://\S+                              # addresses: of pages and services,
    | \b[\w.+-]+@[\w-]+(?:\.[\w-]+)+                    # of people,
    | \b0x[0-9a-f]+\b                                   # of memory,
    | \b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b  # ids of commits and requests
    | (?<![^\s"'`(\[=,<])                               # paths: words that a slash joins,
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
    """One of them, and where it stood."""

    text: str
    """As it was said first, without particulars."""
    iterations: list[int] = field(default_factory=list)


def without_details(text: str) -> str:
    """A sentence with `GONE` in the place of numbers, paths and addresses."""
    line = _PARTICULARS.sub(GONE, " ".join(text[:LONGEST].split()))
    return _AGAIN.sub(GONE, line).strip()


def standing(spans: Sequence[IterationSpan]) -> list[Issue]:
    """The issues that stood, those that stood longest first."""
    found: list[Issue] = []
    for span in spans:
        for said in _said(span):
            text = without_details(said)
            if _WORD.search(text) is None:
                continue
            issue = next((one for one in found if similar(one.text, text)), None)
            if issue is None:
                found.append(issue := Issue(text))
            if span.number not in issue.iterations:
                issue.iterations.append(span.number)
    stood = [issue for issue in found if len(issue.iterations) >= STANDS]
    return sorted(stood, key=lambda issue: -len(issue.iterations))


def _said(span: IterationSpan) -> Iterator[str]:
    for report in span.reports:
        yield from report.blockers
    for end in span.ends:
        if end.outcome in FAILURES:
            yield end.reason
    if span.gate is not None:
        if span.gate.timed_out:
            yield OUT_OF_TIME
        yield span.gate.error
