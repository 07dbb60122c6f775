"""Recurring patterns in the tool calls of an iteration.

A tool that keeps failing in the same way is a blocker. The other patterns indicate wasted work: a
file that is edited back and forth, and a session that only reads.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from ralph_tui.events.intelligence import Blocker, Pattern
from ralph_tui.layers.intelligence.accomplishments import short
from ralph_tui.layers.intelligence.evidence import Evidence
from ralph_tui.state import AgentRow
from ralph_tui.text.tool_edits import Edit
from ralph_tui.text.tool_kinds import ActionKind, action_type
from ralph_tui.text.words import without_particulars

SAME_ERROR = 3
"""A tool is a blocker if at least this many of its latest calls failed in the same way."""
TURNS = 2
"""Minimum number of edits that undo an earlier edit of a file; one is an ordinary correction."""
MANY_CALLS = 10
"""Minimum number of calls before a session without edits counts as one that only reads."""
MAX_TOOLS = 5
MAX_FILES = 3

_COMMAND_ERROR = re.compile(r"exit (?!12[67]$)\d+")
"""Matches the result of a command that ran and failed, such as a failing test; not a blocker."""
_NO_FAILURE = ("interrupted", "no answer", "denied")
_READS: tuple[ActionKind, ...] = ("read", "grep", "glob")
_EDITS: tuple[ActionKind, ...] = ("edit", "write")


def tool_blockers(calls: Sequence[AgentRow]) -> Iterator[Blocker]:
    """Yield tools whose latest calls all failed in the same way, and calls denied repeatedly."""
    yield from _denied(calls)
    yield from _failing(calls)


def _failing(calls: Sequence[AgentRow]) -> Iterator[Blocker]:
    by_tool: dict[str, list[AgentRow]] = {}
    for call in calls:
        if not call.running and call.result not in _NO_FAILURE:
            by_tool.setdefault(call.tool, []).append(call)
    found = 0
    for tool, mine in by_tool.items():
        error = _error(mine[-1])
        if not error or found == MAX_TOOLS:
            continue
        same = sum(1 for _ in takewhile(lambda call: _error(call) == error, reversed(mine)))  # noqa: B023
        if same >= SAME_ERROR:
            found += 1
            yield _standing(
                f"{short(tool, 40)} failed {same} times in the same way: {mine[-1].result}"
            )


def _denied(calls: Sequence[AgentRow]) -> Iterator[Blocker]:
    """Yield commands whose latest calls were all denied; other denied commands do not matter."""
    by_command: dict[tuple[str, str], list[bool]] = {}
    for call in calls:
        if call.text and not call.running:
            by_command.setdefault((call.tool, call.text), []).append(call.result == "denied")
    times = {one: len(list(takewhile(bool, reversed(all_)))) for one, all_ in by_command.items()}
    again = [(one, same) for one, same in times.items() if same >= SAME_ERROR]
    for (tool, text), same in again[:MAX_TOOLS]:
        yield _standing(f"{short(tool, 40)} was denied {same} times for the same call: {text}")


def _standing(text: str) -> Blocker:
    return Blocker(text=short(text), source="tool", standing=True)


def _error(call: AgentRow) -> str:
    """Return a failed call's error without variable details; empty if the call did not fail."""
    if call.ok or _COMMAND_ERROR.fullmatch(call.result):
        return ""
    return without_particulars(call.result) or "failed"


def patterns(evidence: Evidence, *, blocked: bool) -> list[Pattern]:
    """Return the patterns of wasted work; a `blocked` iteration may have no edits."""
    found = _edited_again(evidence.calls)
    return found if blocked else [*found, *_only_reading(evidence)]


def warnings(calls: Sequence[AgentRow]) -> dict[str, str]:
    """Describe patterns in the calls so far; a pattern's key stays the same while it continues.

    Denied calls are not included, because each has its own row.
    """
    again = {one.path: f"{one.words}." for one in _edited_again(calls)}
    failing = {without_particulars(one.text): f"{one.text.rstrip('.')}." for one in _failing(calls)}
    return {**failing, **again}


def _edited_again(calls: Sequence[AgentRow]) -> list[Pattern]:
    return [
        Pattern(name="back_and_forth", path=short(path), times=times)
        for path, times in turns(calls).most_common(MAX_FILES)
        if times >= TURNS
    ]


def turns(calls: Sequence[AgentRow]) -> Counter[str]:
    """Count, for each file, the edits that undo an earlier edit still in effect."""
    effective: set[tuple[str, int, int]] = set()
    written: dict[str, int] = {}
    found: Counter[str] = Counter()
    for edit in (edit for call in calls if call.ok and not call.running for edit in call.edits):
        before = _before(edit, written)
        if before is None or before == edit.after:
            continue
        if (undone := (edit.path, edit.after, before)) in effective:
            effective.remove(undone)
            found[edit.path] += 1
        effective.add((edit.path, before, edit.after))
    return found


def _before(edit: Edit, written: dict[str, int]) -> int | None:
    """Return the text that an edit replaces; for a whole file, its previous content."""
    if edit.before is not None:
        return edit.before
    before, written[edit.path] = written.get(edit.path), edit.after
    return before


def _only_reading(evidence: Evidence) -> Iterator[Pattern]:
    files, done = evidence.files, [call for call in evidence.calls if not call.running]
    if files is None or files.totals or len(done) < MANY_CALLS:
        return
    kinds = Counter(action_type(call.tool) for call in done if call.ok)
    if not any(kinds[kind] for kind in _EDITS):
        reads = sum(kinds[kind] for kind in _READS)
        yield Pattern(name="only_reading", times=len(done), reads=reads)
