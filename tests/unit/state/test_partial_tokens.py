"""Tokens are a lower bound when an agent reports only the last call of each prompt."""

from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.cli.status_words import status_text
from ralph_tui.events import SessionFinished, UsageReported
from ralph_tui.state import RunState
from ralph_tui.tui.panes.header import header_lines
from tests.rows import each_row
from tests.world.recorder import Recorder


def session(run: Recorder, k: int, tokens: int, *, partial: bool) -> None:
    run.open(k, agent="opencode" if partial else "claude")
    run.add(UsageReported(iteration=k, tokens=tokens, tokens_partial=partial))
    run.add(SessionFinished(iteration=k, outcome="success", tokens=tokens))
    run.gate(k, 40.0)
    run.add(run.iteration.recorder.finished(k))


@each_row("partial", [True, False])
def test_a_partial_count_is_marked_wherever_it_is_shown(*, partial: bool) -> None:
    run = Recorder()
    run.baseline()
    session(run, 1, 200_000, partial=False)
    session(run, 2, 16_853, partial=partial)
    state = RunState().apply_all(run.events)
    least = "at least " if partial else ""

    header = "\n".join("".join(t for t, _ in row) for row in header_lines(state, run.at, 170))
    assert f" {'≥' if partial else ''}217k tokens" in header
    assert f", {least}216,853 tokens" in status_text(summarize(state) | {"alive": True})

    worked = ", ".join(state.roster.worked_words)
    assert (f", {least}16,853 tokens" in worked) == partial

    text = report(run.events, Circumstances(), full=True)
    assert f"- Tokens: {least}216,853" in text
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert any("| 200,000 |" in row for row in rows), "the first iteration's count is whole"
    assert any(f"| {least}16,853 |" in row for row in rows)
