"""Runs in which one agent works while another is at its limit."""

from collections.abc import Callable

from ralph_tui.events import AgentChanged, Event, SessionFinished, SessionStarted
from tests.world.recorder import Recorder


def switch_agent(run: Recorder, k: int) -> None:
    """Let the first agent hit its limit at once; the second, which reports no cost, continues."""
    run.add(SessionFinished(iteration=k, outcome="limited", limit="usage_limit", cost_usd=0.0))
    run.add(AgentChanged(iteration=k, before="claude", agent="codex", cause="usage_limit"))
    run.add(SessionStarted(iteration=k, session_id=f"other-{k}", agent="codex"))


def shell(run: Recorder, k: int) -> None:
    """Record work without a cost."""
    run.tool(k, "Bash", "pytest -q", "19 passed", 4)


def taken_over() -> list[Event]:
    """Claude, then Codex within an iteration and alone in the next, then Claude again."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(20)
    run.open(2)
    switch_agent(run, 2)
    shell(run, 2)
    run.close(2, 40, None)
    run.open(3, agent="codex")
    shell(run, 3)
    run.close(3, 50, None)
    run.add(AgentChanged(iteration=4, before="codex", agent="claude", cause="back"))
    run.iterations(100, first=4)
    run.end("completed", "all tests pass")
    return run.events


def never_reported() -> list[Event]:
    """Claude is at its limit from the start and has reported $0.00; Codex does all the work."""
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    switch_agent(run, 1)
    shell(run, 1)
    run.close(1, 40, None)
    run.open(2, agent="codex")
    shell(run, 2)
    run.close(2, 100, None)
    run.end("completed", "all tests pass")
    return run.events


TAKEOVERS: dict[str, Callable[[], list[Event]]] = {
    story.__name__: story for story in (taken_over, never_reported)
}
