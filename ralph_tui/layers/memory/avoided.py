"""Recognize an antipattern from earlier runs in the last iterations of this run.

It is recognized by a changed file that it names, by a command in backticks that the agent ran, or
by its words in the agent's account or in an error.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ralph_tui.layers.control.history import below
from ralph_tui.layers.memory.issues import issues_of, without_details
from ralph_tui.layers.memory.similarity import contradicts, words
from ralph_tui.state import RunState

RECENT: Final = 2
"""Number of recent iterations to check."""
SHARE: Final = 0.6
"""Minimum share of the antipattern's distinctive words that a text must contain."""
DISTINCTIVE: Final = 3
"""Minimum number of distinctive words in common."""
SHORT: Final = 3
"""Words of at most this many letters are ignored."""
_FILE: Final = re.compile(r"[\w./-]*\w\.[A-Za-z]\w*")
_QUOTED: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Work:
    """The work of some iterations."""

    paths: frozenset[str] = frozenset()
    """Changed files."""
    calls: tuple[str, ...] = ()
    """Tools with their commands or patterns."""
    statements: tuple[str, ...] = ()
    """The agent's summaries, blockers and errors."""


def recent_work(state: RunState) -> Work:
    """Return the work of the last iterations."""
    spans = [span for span in state.timeline.spans if span.number][-RECENT:]
    numbers = {span.number for span in spans}
    changes = (change for span in spans if span.files for change in span.files.changes)
    rows = (row for row in state.agent.rows if row.kind == "tool" and row.iteration in numbers)
    said = (report.summary for span in spans for report in span.reports)
    issues = (text for span in spans for text in issues_of(span))
    return Work(
        frozenset(change.path for change in changes),
        tuple(f"{row.tool} {row.text}" for row in rows),
        (*said, *issues),
    )


def matches(pattern: str, work: Work) -> bool:
    """True if the work matches the antipattern."""
    quoted = set(_QUOTED.findall(pattern))
    commands = [text for text in quoted if not _FILE.fullmatch(text)]
    return (
        any(_is_named(name, work.paths) for name in _FILE.findall(pattern))
        or any(_is_run(command, call) for command in commands for call in work.calls)
        or any(_says(text, pattern) for text in work.statements)
    )


def _is_named(name: str, paths: Iterable[str]) -> bool:
    name = name.removeprefix("./")
    return any(path == name or path.endswith(f"/{name}") for path in paths)


def _is_run(command: str, call: str) -> bool:
    """True if the call contains the command as whole words."""
    return re.search(rf"(?<![\w-]){re.escape(command)}(?![\w-])", call) is not None


def _says(text: str, pattern: str) -> bool:
    distinctive, said = _distinctive(pattern), _distinctive(text)
    common = len(distinctive & said)
    if common < DISTINCTIVE or below(common / len(distinctive), SHARE):
        return False
    return not contradicts(text, pattern)


def _distinctive(text: str) -> set[str]:
    return {word for word in words(without_details(text)) if len(word) > SHORT}
