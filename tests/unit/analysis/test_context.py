"""How full the window is, and handoffs: one sentence on every screen."""

from datetime import timedelta

from ralph_tui import events as ev
from ralph_tui.analysis.context import level, thresholds, use_of
from ralph_tui.analysis.verdict import verdict
from ralph_tui.state import RunState
from ralph_tui.text.format import clock
from tests.world.recorder import Recorder


def filled(tokens: int = 172_000, **config: float) -> Recorder:
    """A session with this fill level; 86 % of the window by default."""
    run = Recorder(10, config={f"context.{name}": value for name, value in config.items()})
    run.baseline(0)
    run.open(1)
    run.add(ev.UsageReported(iteration=1, context_tokens=tokens, context_window=200_000))
    return run


def reached(run: Recorder, percent: float = 86.9) -> None:
    run.add(ev.ContextLevelReached(iteration=1, level="L2", percent=percent))


def says(run: Recorder) -> str:
    return verdict(RunState().apply_all(run.events), run.at).text


def test_while_a_tool_runs_it_is_said_until_when() -> None:
    run = filled()
    run.add(ev.ToolStarted(iteration=1, tool_id="a", tool="Bash", summary="pytest -q"))
    assert not says(run).startswith("handing over")
    reached(run)
    until = clock(run.at + timedelta(seconds=60), seconds=True)
    run.wait(seconds=20)
    assert says(run) == (
        f"handing off: the context is 86 % full; the running tool may take until {until}"
    )


def test_the_wait_is_that_of_the_run() -> None:
    run = filled(tool_wait_s=300.0)
    run.add(ev.ToolStarted(iteration=1, tool_id="a", tool="Bash", summary="pytest -q"))
    reached(run)
    assert says(run).endswith(clock(run.at + timedelta(seconds=300), seconds=True))


def test_between_two_sessions_it_is_said_what_follows() -> None:
    run = filled()
    reached(run)
    until = clock(run.at + timedelta(seconds=60), seconds=True)
    at_it = f"handing off: the context is 86 % full; its current message may take until {until}"
    assert says(run) == at_it, "the message with the usage may be about to use a tool"
    run.add(ev.SessionFinished(iteration=1, outcome="rolled_over"))
    run.add(
        ev.RolloverBegan(iteration=1, number=1, cause="L2", percent=86, reason="the window fills")
    )
    after = "handing off: the window fills; a fresh session continues from its handoff"
    assert says(run) == after
    run.add(ev.SessionStarted(iteration=1, session_id="s2", agent="claude"))
    assert not says(run).startswith("handing over")


def test_what_you_asked_for_is_said_to_be_under_way() -> None:
    run = filled(20_000)
    run.add(ev.RolloverRequested(by="ada"))
    assert says(run) == "handing off: requested by ada; the session ends now"


def test_a_session_that_stays_is_not_said_to_hand_over() -> None:
    off = filled(rollover=False)
    reached(off)
    assert not says(off).startswith("handing over")
    often = filled()
    for number in (1, 2, 3):
        often.add(ev.RolloverBegan(iteration=1, number=number, cause="L2"))
        often.add(ev.SessionStarted(iteration=1, session_id=f"s{number}", agent="claude"))
    often.add(ev.UsageReported(iteration=1, context_tokens=172_000, context_window=200_000))
    reached(often)
    assert not says(often).startswith("handing over"), "an iteration has three rollovers"


def test_thresholds_are_those_the_run_was_started_with() -> None:
    state = RunState().apply_all(filled(90_000, warn_percent=30.0, stop_percent=99).events)
    assert thresholds(state) == (30.0, 85.0, 99.0)
    assert level(state) == "L1"
    assert level(RunState()) is None
    assert thresholds(RunState()) == (70.0, 85.0, 95.0)


def test_an_iteration_knows_how_full_its_window_was() -> None:
    run = filled(100_000)
    run.add(ev.ContextCompacted(iteration=1, before=180_000, after=20_000, window=200_000))
    run.close(1, 30)
    run.open(2)
    run.add(ev.UsageReported(iteration=2, context_tokens=20_000, context_window=200_000))
    state = RunState().apply_all(run.events)
    start, first, second = state.timeline.spans
    assert use_of(state, start) is None
    uses = [use_of(state, span) for span in (first, second)]
    assert [(use.iteration, use.peak_percent, use.compactions) for use in uses if use] == [
        (1, 90.0, 1),
        (2, 10.0, 0),
    ]
