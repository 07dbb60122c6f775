"""The report lists only records that exist."""

from ralph_tui.analysis.report import Circumstances, report
from tests.tui.driving import story


def test_a_fleets_loop_lists_no_reflections_beside_its_journal() -> None:
    events = story("steady")
    own = report(events, Circumstances())
    assert "reflections.jsonl" in own
    loop = report(events, Circumstances(loop="fleet-001/1"))
    assert "reflections.jsonl" not in loop
