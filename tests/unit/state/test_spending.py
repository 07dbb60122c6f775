"""The cost of a run with unreported parts: a lower bound, and never zero."""

from collections.abc import Callable

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.world.recorder import Recorder
from tests.world.takeovers import never_reported, taken_over

Step = Callable[[], list[ev.Event]]


def begins() -> list[ev.Event]:
    return [ev.SessionStarted(iteration=1, session_id="s", agent="any")]


def reports(cost: float) -> Step:
    return lambda: [*begins(), ev.SessionFinished(iteration=1, outcome="success", cost_usd=cost)]


def works() -> list[ev.Event]:
    """A session that does not report its cost."""
    used = ev.ToolStarted(iteration=1, tool_id="t", tool="Bash", summary="pytest")
    return [*begins(), used, ev.SessionFinished(iteration=1, outcome="success", tool_calls=1)]


def never_begins() -> list[ev.Event]:
    return [*begins(), ev.SessionFinished(iteration=1, outcome="limited", limit="usage_limit")]


def is_killed() -> list[ev.Event]:
    """Its usage so far was an estimate."""
    used = ev.UsageReported(iteration=1, tokens=9, cost_usd=0.25, cost_estimated=True)
    return [*begins(), used, ev.SessionFinished(iteration=1, outcome="stopped")]


def is_cut_off() -> list[ev.Event]:
    return [*begins(), ev.RunResumed(found="it was killed")]


def asks() -> list[ev.Event]:
    return [ev.ModelAnswered(iteration=1, question_id="m", purpose="judge", tokens=5)]


@each_row(
    ("steps", "cost", "estimated"),
    [
        ([], None, False),
        ([reports(0.5)], 0.5, False),
        ([reports(0.0)], 0.0, False),
        ([works], None, False),
        ([works, reports(0.5)], 0.5, True),
        ([reports(0.5), works, reports(0.5)], 1.0, True),
        ([reports(0.0), works], None, False),
        ([reports(0.0), never_begins], 0.0, False),
        ([reports(0.5), never_begins], 0.5, False),
        ([is_killed, reports(0.5)], 0.75, True),
        ([reports(0.5), is_cut_off], 0.5, True),
        ([reports(0.0), is_cut_off], None, False),
        ([reports(0.5), begins], 0.5, False),
        ([reports(0.0), begins], None, False),
        ([reports(0.5), asks], 0.5, True),
    ],
)
def test_a_sum_lacks_what_was_not_told(
    steps: list[Step], cost: float | None, *, estimated: bool
) -> None:
    run = Recorder()
    for step in steps:
        for event in step():
            run.add(event)
    state = RunState().apply_all(run.events)
    status = summarize(state)
    assert (status["cost_usd"], status["cost_estimated"]) == (cost, estimated)


def test_an_iteration_costs_what_those_who_worked_in_it_have_told() -> None:
    state = RunState().apply_all(taken_over())
    spans = state.timeline.spans[1:]
    done = [span.finished.cost_usd for span in spans if span.finished is not None]
    assert done == [0.26, None, None, 0.26]
    assert state.run.finished is not None
    assert state.run.finished.cost_usd == 0.52
    assert [span.agents for span in spans] == [
        ["claude"], ["claude", "codex"], ["codex"], ["claude"],
    ]  # fmt: skip


def test_nothing_that_was_told_is_no_cost_of_nothing() -> None:
    state = RunState().apply_all(never_reported())
    assert state.run.finished is not None
    assert state.run.finished.cost_usd is None
