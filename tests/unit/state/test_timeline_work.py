"""An iteration's work on the timeline: kinds of action, each round once."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.state.timeline import MAX_TOOLS, IterationSpan
from ralph_tui.text.tool_kinds import ActionKind
from tests.rows import each_row
from tests.unit.layers.memory.histories import BEGAN, Worked, state_of

KINDS: list[ActionKind] = ["read", "write", "edit", "bash", "grep", "glob", "task"]


def run_of(*kinds: ActionKind) -> list[ActionKind]:
    span = IterationSpan(1, BEGAN)
    for kind in kinds:
        span.use(kind)
    return span.tools


@each_row(
    ("kinds", "expected"),
    [
        ([], []),
        (["edit", "edit", "edit"], ["edit"]),
        (["bash", "grep", "read", "edit", "bash"], ["bash", "grep", "read", "edit", "bash"]),
        (["read", "edit", "bash"] * 20, ["read", "edit", "bash"]),
        (["read", "edit", "edit", "bash", "edit", "bash"], ["read", "edit", "bash"]),
    ],
)
def test_a_round_that_is_walked_again_is_told_once(
    kinds: list[ActionKind], expected: list[ActionKind]
) -> None:
    assert run_of(*kinds) == expected


@given(st.lists(st.sampled_from(KINDS), max_size=200))
def test_it_stays_short_and_begins_with_what_was_done_first(kinds: list[ActionKind]) -> None:
    reported = run_of(*kinds)
    assert len(reported) <= MAX_TOOLS
    assert reported[:1] == kinds[:1]
    assert all(one != other for one, other in pairwise(reported))


def test_an_iteration_remembers_its_reports_ends_and_tools() -> None:
    state = state_of(Worked(5, "one", tools=["Read", "Edit"]), Worked(9, "two", tools=["Bash"]))
    _, first, second = state.timeline.spans
    assert [report.summary for report in first.reports] == ["one"]
    assert [end.outcome for end in second.ends] == ["success"]
    assert (first.tools, second.tools) == (["read", "edit"], ["bash"])
