"""Patterns in tool calls: the same error, edits that undo each other, sessions that only read."""

from itertools import pairwise

from ralph_tui.events import FilesChanged
from ralph_tui.events.base import EPOCH
from ralph_tui.events.workspace import CategoryTotal
from ralph_tui.layers.intelligence import Evidence, assess
from ralph_tui.layers.intelligence.patterns import MANY_CALLS, turns, warnings
from ralph_tui.state import AgentRow
from ralph_tui.text.tool_edits import Edit
from tests.rows import each_row

NOTHING = FilesChanged(iteration=1, live=False, totals=[])


def call(tool: str, *edits: Edit, ok: bool = True, result: str = "") -> AgentRow:
    return AgentRow(1, EPOCH, 1, "tool", "x.py", tool=tool, ok=ok, result=result, edits=edits)


def swaps(texts: str, path: str = "x.py") -> list[AgentRow]:
    """Replace each text by the next one."""
    return [call("Edit", Edit(path, hash(one), hash(other))) for one, other in pairwise(texts)]


def writes(texts: str) -> list[AgentRow]:
    return [call("Write", Edit("x.py", None, hash(text))) for text in texts]


def names(evidence: Evidence) -> list[str]:
    return [one.name for one in assess(evidence).patterns]


@each_row(
    ("calls", "undone"),
    [
        (swaps("AB"), 0),
        (swaps("ABA"), 1),
        (swaps("ABAB"), 2),
        (swaps("ABABA"), 3),
        (swaps("ABCDE"), 0),
        (swaps("ABCBA"), 2),
        ([*swaps("AB", "x.py"), *swaps("BA", "y.py")], 0),
        (writes("AABB"), 0),
        (writes("ABAB"), 2),
        ([call("Edit", Edit("x.py", 1, 2)), call("Edit", Edit("x.py", 2, 1), ok=False)], 0),
    ],
)
def test_edits_that_undo_an_earlier_one_are_counted(calls: list[AgentRow], undone: int) -> None:
    assert turns(calls)["x.py"] == undone


def test_a_file_is_edited_back_and_forth_after_two_undone_edits() -> None:
    assert names(Evidence(1, calls=tuple(swaps("ABA")))) == []
    (one,) = assess(Evidence(1, calls=tuple(swaps("ABAB")))).patterns
    assert one.words == "x.py was edited back and forth: 2 edits undid an earlier one"


@each_row(
    ("calls", "words"),
    [
        ([call("Read")] * 10, "10 tool calls, all of them to read or search, and no edit"),
        ([call("Grep")] * 4 + [call("Bash")] * 6, "10 tool calls, 4 of them to read or search, "
         "and no edit"),
        ([call("Bash")] * 12, "12 tool calls and no edit"),
    ],
)  # fmt: skip
def test_a_session_without_an_edit_only_reads(calls: list[AgentRow], words: str) -> None:
    (one,) = assess(Evidence(1, calls=tuple(calls), files=NOTHING)).patterns
    assert (one.name, one.words) == ("only_reading", words)


@each_row(
    "evidence",
    [
        Evidence(1, calls=(call("Read"),) * (MANY_CALLS - 1), files=NOTHING),
        Evidence(1, calls=(call("Read"),) * 20),
        Evidence(1, calls=(*[call("Read")] * 20, call("Write")), files=NOTHING),
        Evidence(1, calls=(*[call("Read")] * 20, *[call("Edit", ok=False, result="no")] * 3),
                 files=NOTHING),
        Evidence(1, calls=(call("Read"),) * 20, files=FilesChanged(
            iteration=1, live=False, totals=[CategoryTotal(category="source", files=1)])),
    ],
)  # fmt: skip
def test_few_calls_edits_changes_and_obstacles_are_no_mere_reading(evidence: Evidence) -> None:
    assert "only_reading" not in names(evidence)


def test_patterns_so_far_keep_their_keys_while_they_go_on() -> None:
    failing = [call("Edit", ok=False, result="text not found")] * 3
    said = warnings([*swaps("ABAB"), *failing])
    later = warnings([*swaps("ABABA"), *failing, failing[0]])
    assert said.keys() == later.keys()
    assert [*said.values()] == [
        "Edit failed 3 times in the same way: text not found.",
        "x.py was edited back and forth: 2 edits undid an earlier one.",
    ]
    assert "Edit failed 4 times in the same way: text not found." in later.values()
    assert warnings([call("Bash", ok=False, result="denied")] * 3) == {}
