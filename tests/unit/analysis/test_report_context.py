"""The report's section on the context window."""

from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.events import Event, WorkCommitted
from tests.world.stories import steady
from tests.world.windows import forgot, unknown


def page(events: list[Event]) -> str:
    return report(events, Circumstances("somewhere"))


def section(text: str) -> str:
    return text.partition("## Context\n\n")[2].partition("\n\n## ")[0]


def test_it_tells_peaks_rollovers_handoffs_and_what_was_forgotten() -> None:
    events = forgot()
    commit = WorkCommitted(iteration=3, commit="a" * 40, message="ralph: *wip*", files=2)
    events.append(commit.model_copy(update={"seq": len(events) + 1, "at": events[-1].at}))
    text = page(events)
    assert section(text) == (
        "| # | sessions | peak | handoffs | compactions |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| 1 | 1 | 45 % | 0 | 0 |\n"
        "| 2 | 1 | 62 % | 0 | 0 |\n"
        "| 3 | 2 | 86 % | 1 | 0 |\n"
        "| 4 | 1 | 82 % | 0 | 1 |\n"
        "\n"
        "- iteration 3, 2026-03-14 09:30 UTC: a session handed off at 86 % (the window was nearly "
        "full): `results/iter-003/handoff-1.md` (worded by a model, edited by you)\n"
        "  - in progress: Nested groups ask for the escape flag after the token was consumed.\n"
        "  - next: Read the flag in close_group, then run tests/test_nested.py.\n"
        "- iteration 4, 2026-03-14 09:32 UTC: the agent compacted its context, from 82 % to 22 % "
        "of the window; details may be lost\n"
        "- iteration 3, 2026-03-14 09:33 UTC: committed as `aaaaaaaaaaaa`, ralph: \\*wip\\*"
    )
    warnings = text.partition("## Warnings")[2].partition("\n\n## ")[0]
    assert "ROLLOVER" not in warnings, "it has a section of its own"


def test_nothing_is_told_of_windows_of_which_nothing_is_known() -> None:
    assert "## Context" not in page(unknown())
    assert "## Context" not in page(steady()), "every window had room"
