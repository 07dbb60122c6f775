"""Guidance that no prompt carried is reported at the end, not dropped."""

from ralph_tui import events as ev
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.cli.status_words import status_text
from ralph_tui.events.base import Event
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.world.stories import STORIES

QUEUED = ev.GuidanceQueued(guidance_id="g1", text="use small commits", by="you")
WORDS = "never sent to the agent: use small commits"


def lines_and_status(*more: Event) -> tuple[str, str]:
    events = [event for event in STORIES["running"]() if not isinstance(event, ev.GuidanceQueued)]
    seq, at = events[-1].seq, events[-1].at
    for number, event in enumerate(
        [*more, ev.RunFinished(outcome="completed", reason="", iterations=1, completion=100.0)],
        start=1,
    ):
        events.append(event.model_copy(update={"seq": seq + number, "at": at}))
    lines = PlainLines()
    said = [line for event in events if (line := lines.line(event))]
    status: RunStatus = {**summarize(RunState().apply_all(events)), "alive": False, "problem": ""}
    return said[-1], status_text(status)


@each_row("words", [QUEUED, ev.StandingInstructionChanged(text=QUEUED.text)])
def test_the_last_line_and_status_name_what_was_never_sent(words: Event) -> None:
    line, status = lines_and_status(words)
    assert line.endswith(WORDS)
    assert f"guidance    {WORDS}" in status


@each_row("sent", [
    (QUEUED, ev.GuidanceDelivered(guidance_id="g1", iteration=1, into="prompt")),
    (ev.StandingInstructionChanged(text="x"), ev.PromptPrepared(iteration=8, path="prompt.md")),
    (ev.StandingInstructionChanged(text="x"), ev.StandingInstructionChanged(text="")),
])  # fmt: skip
def test_what_was_delivered_is_not_named(sent: tuple[Event, ...]) -> None:
    line, status = lines_and_status(*sent)
    assert "never sent" not in line + status
