"""An abort names its sender wherever the overseer's actions are shown."""

from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.cli.status_words import status_text
from ralph_tui.events import InterventionMade
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.world.recorder import Recorder


@each_row("who", ["a script", "you", "you (terminal pts/3)"])
def test_an_abort_names_who_ordered_it(who: str) -> None:
    run = Recorder()
    run.baseline()
    run.open(1)
    reason = f"aborted by {who}; the work stays as it is"
    made = InterventionMade(iteration=1, level="ABORT", about="owner", reason=reason)
    run.add(made)
    run.end("aborted", reason)
    state = RunState().apply_all(run.events)
    status = status_text(summarize(state) | {"alive": False})
    assert status.startswith(f"⊗ {reason}\n")
    assert "overseer" not in status
    text = report(run.events, Circumstances(), full=True)
    assert f"**ABORT** on request: {reason}" in text.replace("\\", "")
