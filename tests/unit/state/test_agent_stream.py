"""The agent's stream: an interruption leaves a line, and no report is shown raw."""

from ralph_tui.adapters.agents.claims import ClaimReader
from ralph_tui.adapters.agents.command.agent import LINES, SPOKEN, Batch
from ralph_tui.events import AgentSpoke, Event, RunCrashed, RunResumed, ToolStarted
from ralph_tui.state import RunState
from ralph_tui.text.format import lines_not_shown
from tests.rows import each_row

REPORT = """\
```json
{
  "ralph": {
    "completion": 56,
    "summary": "fixed two",
    "next": "the parser"
  }
}
```
<promise>COMPLETE</promise>"""


def folded(*events: Event) -> RunState:
    state = RunState()
    for seq, event in enumerate(events, start=1):
        state.apply(event.model_copy(update={"seq": seq}))
    return state


@each_row(
    ("event", "line"),
    [
        (
            RunResumed(found="It had ended in iteration 3.", away_s=7200),
            "resumed after 2h: It had ended in iteration 3",
        ),
        (RunCrashed(error="KeyError: 'x'", traceback=""), "the run failed: KeyError: 'x'"),
    ],
)
def test_a_crash_and_a_resume_leave_a_line_between_two_iterations(event: Event, line: str) -> None:
    state = folded(ToolStarted(iteration=3, tool_id="a", tool="Bash", summary="make"), event)
    assert [row.text for row in state.agent.rows] == ["make", line]
    assert state.agent.rows[-1].kind == "session"
    assert not state.agent.rows[0].running


def test_a_report_over_several_lines_is_told_as_a_claim_and_not_raw() -> None:
    batch, reader = Batch(), ClaimReader(1, frozenset())
    for line in ("I did two things.", *REPORT.splitlines()):
        batch.add(line, 0, reader.feed(line))
    lines = [row.text for row in folded(*batch.events(1)).agent.rows]
    assert lines[:2] == ["I did two things.", "claims 56 % · fixed two · next: the parser"]
    assert lines[2].startswith("says it is done")
    assert not any("ralph" in text or "promise" in text for text in lines)


@each_row(
    ("lines", "width"), [(24, 10), (24, 200), (25, 10), (5000, 10), (5000, 90), (3, 5000), (2, 990)]
)
def test_the_lines_of_a_batch_and_of_its_gap_are_all_there_are(lines: int, width: int) -> None:
    batch = Batch()
    for number in range(lines):
        batch.add(f"{number} ".ljust(width, "x"), 0, ())
    (spoken,) = batch.events(1)
    assert isinstance(spoken, AgentSpoke)
    assert len(spoken.text) <= SPOKEN
    shown = spoken.text.splitlines()
    gaps = [at for at, line in enumerate(shown) if line == lines_not_shown(spoken.left_out)]
    numbers = [int(line.split()[0]) for at, line in enumerate(shown) if at not in gaps]
    assert len(gaps) == bool(spoken.left_out)
    assert len(numbers) + spoken.left_out == lines
    at = gaps[0] if gaps else len(numbers)
    after = len(numbers) - at
    assert numbers == [*range(at), *range(lines - after, lines)]
    if lines > 2 * LINES and width == 10:
        assert (at, after) == (LINES, LINES)
