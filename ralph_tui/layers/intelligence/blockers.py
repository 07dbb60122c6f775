"""What is in the agent's way: a completion command that gives no answer, a tool that fails again
and again, and what the agent itself reports. Failing tests are none: they are the task.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from ralph_tui.events import AgentReported
from ralph_tui.events.intelligence import Blocker, BlockerSource
from ralph_tui.layers.intelligence.accomplishments import sentences, short
from ralph_tui.layers.intelligence.evidence import Evidence
from ralph_tui.layers.memory.issues import without_details
from ralph_tui.layers.memory.similarity import similar
from ralph_tui.state import AgentRow
from ralph_tui.text.format import duration
from ralph_tui.text.words import without_particulars

SAME_ERROR = 3
"""Calls of a tool that end in the same failure, with none after them that works."""
MOST_REPORTED = 10
MOST_TOOLS = 5
MOST_GUESSES = 2

_OF_A_COMMAND = re.compile(r"exit (?!12[67]$)\d+")
"""A command that ran and failed: a failing test tells the agent what it has to know."""
_NO_FAILURE = ("interrupted", "no answer", "denied")
_IN_THE_WAY = re.compile(
    r"""\b(?:blocked\ (?:by|on)|unable\ to|permission\ denied|no\ (?:access|network|internet)
    |(?:could|can|did)(?:\ ?not|n['’]t)\ (?:be\ )?(?:access|connect|download|find|get|install
        |open|reach|read|resolve|run|start|write)
    |(?:is|are)(?:\ not|n['’]t)\ (?:available|installed)|need(?:s)?\ (?:access|credentials))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def blockers(evidence: Evidence) -> list[Blocker]:
    """Those that evidence shows, then what the agent says; mere words where there is neither."""
    found = [*_of_the_gate(evidence), *_of_tools(evidence.calls)]
    if evidence.report is not None:
        return [*found, *_reported(evidence.report, evidence.previous)]
    if found:
        return found
    guesses = (each for each in sentences(evidence.words) if _IN_THE_WAY.search(each))
    return [_blocker("text", each) for each, _ in zip(guesses, range(MOST_GUESSES), strict=False)]


def same_blocker(one: str, other: str) -> bool:
    """Whether they say the same, whatever the numbers, paths and addresses in them."""
    one, other = without_details(one), without_details(other)
    return one.casefold() == other.casefold() or similar(one, other)


def _blocker(source: BlockerSource, text: str, *, standing: bool = False) -> Blocker:
    return Blocker(text=short(text), source=source, standing=standing)


def _of_the_gate(evidence: Evidence) -> Iterator[Blocker]:
    gate = evidence.gate
    if gate is None:
        return
    if gate.error:
        text = f"the completion command cannot be run: {gate.error}"
        yield _blocker("gate", text, standing=True)
    elif gate.timed_out:
        text = f"the completion command ran out of time after {duration(gate.duration_s)}"
        yield _blocker("gate", text, standing=True)


def _of_tools(calls: Sequence[AgentRow]) -> Iterator[Blocker]:
    """Tools whose last calls have all failed in the same way, and calls denied again and again."""
    yield from _denied(calls)
    by_tool: dict[str, list[AgentRow]] = {}
    for call in calls:
        if not call.running and call.result not in _NO_FAILURE:
            by_tool.setdefault(call.tool, []).append(call)
    found = 0
    for tool, mine in by_tool.items():
        error = _error(mine[-1])
        if not error or found == MOST_TOOLS:
            continue
        same = sum(1 for _ in takewhile(lambda call: _error(call) == error, reversed(mine)))  # noqa: B023
        if same >= SAME_ERROR:
            found += 1
            text = f"{short(tool, 40)} failed {same} times in the same way: {mine[-1].result}"
            yield _blocker("tool", text, standing=True)


def _denied(calls: Sequence[AgentRow]) -> Iterator[Blocker]:
    """The same command, denied again and again; that others were denied, too, says nothing."""
    by_command: dict[tuple[str, str], list[bool]] = {}
    for call in calls:
        if call.text and not call.running:
            by_command.setdefault((call.tool, call.text), []).append(call.result == "denied")
    times = {one: len(list(takewhile(bool, reversed(all_)))) for one, all_ in by_command.items()}
    again = [(one, same) for one, same in times.items() if same >= SAME_ERROR]
    for (tool, text), same in again[:MOST_TOOLS]:
        said = f"{short(tool, 40)} was denied {same} times for the same: {text}"
        yield _blocker("tool", said, standing=True)


def _error(call: AgentRow) -> str:
    """What a failed call said, without what differs from one to the next; empty: no failure."""
    if call.ok or _OF_A_COMMAND.fullmatch(call.result):
        return ""
    return without_particulars(call.result) or "failed"


def _reported(report: AgentReported, previous: AgentReported | None) -> Iterator[Blocker]:
    before = previous.blockers[:MOST_REPORTED] if previous else []
    for text in report.blockers[:MOST_REPORTED]:
        if text.strip():
            again = any(same_blocker(text, other) for other in before)
            yield _blocker("report", text, standing=again)
