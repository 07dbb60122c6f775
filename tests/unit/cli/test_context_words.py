"""Wording for a context window: known, unknown, overfull, and from forged data."""

from typing import Any

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import context_status
from ralph_tui.analysis.context import thresholds_of
from ralph_tui.cli.context_words import context_mark, context_row, context_table
from ralph_tui.layers.context.levels import DEFAULT, Thresholds
from ralph_tui.state import RunState
from tests.rows import each_row

WINDOW = 200_000
STARTED = ev.RunStarted(
    run_id="r", root="/r", objective="Fix it", agent="fake", max_iterations=5, session_timeout_s=60
)


def usage(percent: float, window: int | None = WINDOW) -> ev.UsageReported:
    return ev.UsageReported(
        iteration=1, context_tokens=int(WINDOW * percent / 100), context_window=window
    )


def session(k: int = 1) -> list[ev.Event]:
    return [
        ev.IterationStarted(iteration=k, max_iterations=5),
        ev.SessionStarted(iteration=k, session_id="s", agent="fake"),
    ]


def climb(*percents: float) -> list[ev.Event]:
    events: list[ev.Event] = []
    for n, percent in enumerate(percents):
        events += [ev.ToolStarted(iteration=1, tool_id=f"t{n}", tool="Read"), usage(percent)]
    return events


def fields(*events: ev.Event) -> Any:
    return context_status(RunState().apply_all(events))


ITEM = ev.PlanItemBegan(
    iteration=1,
    item="Implement OAuth | callback",
    size="medium",
    basis="tag",
    done=1,
    total=4,
    later=["Log in [trivial]", "Move it [very complex]", "Read tokens [complex]"],
)


def test_the_table_is_that_of_the_design() -> None:
    known = fields(STARTED, *session(), ITEM, usage(47), *climb(52, 57, 62, 67))
    assert context_table(known, "task-001/001", alive=True).splitlines() == [
        "## Ralph Context Status",
        "",
        "| Metric              | Value                                     |",
        "|---------------------|-------------------------------------------|",
        "| Run                 | task-001/001                              |",
        "| Current Context     | 67 % of 200k tokens                       |",
        "| Level               | normal                                    |",
        "| Estimated Remaining | ~66k tokens                               |",
        "| Forecast            | 85 % in about 4 tool calls                |",
        '| Current Item        | "Implement OAuth \\| callback"             |',
        "| Item Complexity     | medium (est. 20-40 % context; by its tag) |",
        "| Per Iteration       | 2-3 items                                 |",
        "| Plan                | 1 of 4 done                               |",
        "",
        "| Iteration | Peak | Handoffs | Compactions |",
        "|-----------|------|----------|-------------|",
        "| 1         | 67 % | -        | -           |",
        "",
        "| Order | Item                   | Complexity   | Context  |",
        "|-------|------------------------|--------------|----------|",
        "| 1     | Log in [trivial]       | trivial      | 5-10 %   |",
        "| 2     | Read tokens [complex]  | complex      | 40-60 %  |",
        "| 3     | Move it [very complex] | very complex | split it |",
        "",
        "**Order**: 1 still fits in the remaining 18 %, smallest first; a fresh window starts "
        "with the largest, unless one depends on another.",
        "",
        "**Recommendation**: Safe to continue. A checkpoint triggers automatically at 85 %.",
    ]


def test_rollovers_and_what_was_forgotten_are_told() -> None:
    known = fields(
        STARTED, *session(), usage(87),
        ev.RolloverBegan(iteration=1, number=1, cause="L2"),
        ev.HandoffWritten(iteration=1, number=1, path="p", read_at=".aiwg/handoff-1.md",
                          cause="L2"),
        ev.SessionFinished(iteration=1, outcome="rolled_over"),
        ev.SessionStarted(iteration=1, session_id="t", agent="fake"), usage(88),
        ev.ContextLevelReached(iteration=1, level="L2", percent=88),
        ev.ContextCompacted(iteration=1, before=176_000, after=40_000),
    )  # fmt: skip
    table = context_table(known, "task-001/001", alive=True)
    assert "| 1         | 88 % | 1        | 1           |" in table
    assert 'normal; "handoff due" was reached' in table
    assert "| Last Handoff        | .aiwg/handoff-1.md" in table
    assert "This run's context windows fill up" in table
    assert context_row(known) == "20 % (normal), 160k tokens left, handed off once, compacted once"
    assert context_mark(known) == ""


@each_row("alive", [True, False])
def test_after_one_rollover_at_90_percent_no_window_had_room(*, alive: bool) -> None:
    known = fields(
        STARTED, *session(), usage(90),
        ev.RolloverBegan(iteration=1, number=1, cause="L2"),
        ev.SessionFinished(iteration=1, outcome="rolled_over"),
        ev.SessionStarted(iteration=1, session_id="t", agent="fake"), usage(20),
        ev.SessionFinished(iteration=1, outcome="success"),
    )  # fmt: skip
    table = context_table(known, "r", alive=alive)
    assert "| 1         | 90 % | 1        |" in table
    assert "had room" not in table
    assert ("One context window of this run filled up: if it happens again, " in table) != alive


def test_unknown_says_that_it_is_and_why() -> None:
    none = context_table(fields(STARTED), "r", alive=True)
    assert "| Current Context | unknown: the agent has reported no usage yet |" in none
    assert "| Level           | unknown" in none
    assert "No automatic handoff while the usage is unknown" in none
    silent = context_table(fields(STARTED, *session()), "r", alive=True)
    assert "unknown: the agent has reported no usage in this session" in silent
    no_window = fields(STARTED, *session(), usage(20, window=None))
    assert (
        "unknown: 40k tokens used; the agent does not report the size of its window"
        in context_table(no_window, "r", alive=True)
    )
    assert context_row(no_window) == context_mark(no_window) == ""


def test_a_status_bar_is_told_from_the_first_level_on() -> None:
    assert context_mark(fields(STARTED, *session(), usage(69.9))) == ""
    assert context_mark(fields(STARTED, *session(), usage(86.9))) == "context 86 %"
    ended = ev.SessionFinished(iteration=1, outcome="success")
    assert context_mark(fields(STARTED, *session(), usage(86.9), ended)) == ""


def test_a_run_that_is_over_is_told_so_and_not_what_to_do_now() -> None:
    table = context_table(fields(STARTED, *session(), ITEM, usage(40)), "r", alive=False)
    assert "r (over)" in table
    assert "Safe to continue" not in table
    assert "Order" not in table
    assert table.endswith(
        "**Recommendation**: This run's context windows had room: no change needed."
    )


def test_a_session_that_is_over_has_no_forecast() -> None:
    events = [STARTED, *session(), usage(47), *climb(52, 57, 62, 67)]
    assert "85 % in about" in context_row(fields(*events))
    ended = fields(*events, ev.SessionFinished(iteration=1, outcome="success"))
    assert "85 % in about" not in context_row(ended)
    assert "the next one starts with an empty window" in context_table(ended, "r", alive=True)


def test_hooks_continue_the_same_session_until_it_is_full() -> None:
    stopped = ev.SessionFinished(iteration=1, outcome="success")
    again = fields(STARTED, *session(), usage(72), stopped)
    words = context_table(again, "hooks/1", alive=True, watched=True)
    assert words.endswith(
        "**Recommendation**: Finish the current item and start nothing large. A checkpoint "
        "triggers automatically at 85 %. A fresh session starts with an empty window."
    )
    full = fields(STARTED, *session(), usage(87), stopped)
    words = context_table(full, "hooks/1", alive=True, watched=True)
    assert words.endswith("No session is running; the next one starts with an empty window.")


def test_the_levels_are_those_the_run_was_started_with() -> None:
    config = {
        "context.warn_percent": 50.0,
        "context.checkpoint_percent": 60,
        "context.rollover": False,
    }
    started = STARTED.model_copy(update={"config": config})
    assert thresholds_of(started) == Thresholds(50.0, 60.0, 95.0)
    assert thresholds_of(None) == DEFAULT
    known = fields(started, *session(), usage(40))
    assert "context.rollover is off" in context_table(known, "r", alive=True)


@each_row("forged", ["\x1b[2Jgone", "a\nb", "x" * 10_000, "| a | b |"])
def test_what_others_wrote_breaks_no_table(forged: str) -> None:
    known = fields(STARTED, *session(), usage(40)) | {
        "item": {"text": forged, "size": forged, "low": 1.0, "high": 2.0, "basis": forged,
                 "done": 0, "total": 1},
        "handoff": {"path": forged},
    }  # fmt: skip
    table = context_table(known, forged, alive=True)
    assert "\x1b" not in table
    metrics = [line for line in table.splitlines() if line.startswith("| ")]
    assert any(line.startswith("| Last Handoff") for line in metrics)
    assert all(line.endswith(" |") for line in metrics)
