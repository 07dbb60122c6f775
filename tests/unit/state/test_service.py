"""A refusing service is shown everywhere while the agent retries."""

from datetime import timedelta

from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.verdict import verdict
from ralph_tui.cli.status_words import status_line, status_text
from ralph_tui.events import AgentNoted, AgentSpoke, SessionFinished, UsageReported
from ralph_tui.events.base import Event
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import activity
from tests.rows import each_row
from tests.world.stories import STORIES

REFUSED = AgentNoted(
    iteration=1, level="warn", service="overload", text="refused: overloaded (529); retry 1 of 10"
)


def state_after(*more: Event) -> RunState:
    """A run at work, and these later events, a second apart."""
    events = STORIES["running"]()
    last = events[-1]
    for number, event in enumerate(more, start=1):
        at = last.at + timedelta(seconds=number)
        events.append(event.model_copy(update={"seq": last.seq + number, "at": at}))
    return RunState().apply_all(events)


def test_it_is_said_in_verdict_header_and_status() -> None:
    state = state_after(REFUSED, REFUSED.model_copy(update={"text": "retry 7 of 10"}))
    now = state.at + timedelta(seconds=70)
    says = verdict(state, now)
    assert says.word == "waiting"
    assert says.text.startswith("waiting: overload since ")
    assert "the agent retries automatically" in says.text
    assert says.text.endswith("retry 7 of 10")
    assert "".join(text for text, _ in activity(state, now)) == "◷ 1m: overload"
    status: RunStatus = {**summarize(state, now), "alive": True, "problem": ""}
    assert "waiting: overload since" in status_line(status)
    assert "now         ◷ overload since" in status_text(status)


@each_row(
    "ends",
    [
        AgentSpoke(iteration=1, text="on it"),
        UsageReported(iteration=1, tokens=10**9),
        SessionFinished(iteration=1, outcome="success"),
    ],
)
def test_it_ends_when_the_agent_works_again(ends: Event) -> None:
    state = state_after(REFUSED, ends)
    assert state.service.trouble is None
    assert "overload" not in verdict(state, state.at).text
    assert summarize(state)["refused"] == ""


def test_another_note_changes_nothing() -> None:
    state = state_after(REFUSED, AgentNoted(iteration=1, text="Hook x: ended"))
    assert state.service.trouble is not None
    silent = state_after(AgentNoted(iteration=1, service="silent", text="No answer yet"))
    assert verdict(silent, silent.at).text.startswith("waiting: no answer from the agent's service")
