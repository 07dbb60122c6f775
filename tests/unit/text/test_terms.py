"""The glossary: one entry for every state, and no glyph shared by accident."""

from collections import defaultdict
from collections.abc import Mapping
from typing import get_args

from ralph_tui.events.agent import AgentNoted
from ralph_tui.events.control import Severity
from ralph_tui.events.intelligence import IssueSeverity
from ralph_tui.events.run import Noticed, Outcome
from ralph_tui.events.waiting import WaitCause
from ralph_tui.events.workspace import Trigger
from ralph_tui.state import Phase
from ralph_tui.text import terms
from tests.rows import each_row

TOLD = (
    Severity,
    IssueSeverity,
    Noticed.model_fields["level"].annotation,
    AgentNoted.model_fields["level"].annotation,
)


@each_row(
    ("names", "table"),
    [
        (get_args(Phase), terms.PHASES),
        (get_args(Outcome), terms.OUTCOMES),
        (get_args(Outcome), terms.OUTCOME_TONES),
        (get_args(WaitCause), terms.WAITS),
        (get_args(Trigger), terms.CHECKPOINTS),
        (get_args(terms.RowLevel), terms.LEVELS),
        (get_args(terms.RowLevel), terms.LEVEL_TONES),
        ([name for kind in TOLD for name in get_args(kind)], terms.SEVERITIES),
    ],
)
def test_a_table_has_exactly_the_names_of_the_events(
    names: tuple[str, ...], table: Mapping[str, object]
) -> None:
    assert set(table) == set(names)


def test_two_states_share_a_glyph_only_where_it_is_meant() -> None:
    """Shared glyphs: all subjects of a severity, and a pause, an end, and a checkpoint between."""
    words: dict[str, set[str]] = defaultdict(set)
    tables = (terms.PHASES, terms.OUTCOMES, terms.WAITS, terms.CHECKPOINTS, terms.LEVELS)
    single = (
        terms.NEEDS_YOU,
        terms.DIED,
        terms.BEST,
        terms.ROLLED_BACK,
        terms.PASSED,
        terms.FAILED,
    )
    entries: list[terms.Term] = [term for table in tables for term in table.values()]
    for term in (*entries, *single):
        words[term.glyph].add(term.word)
    words.pop("", None)
    assert {glyph: shared for glyph, shared in words.items() if len(shared) > 1} == {
        terms.GOOD.glyph: {"good news", "completed", "passed"},
        "◷": {"waiting for a limit", "usage limit", "overload", "service down", "disk full"},
        "■": {"finished", "stopped"},
        "○": {"starting", "waiting for the agent"},
        "◈": {"by timer", "on request"},
    }


def test_a_sign_that_misled_means_one_thing() -> None:
    """Each of these once meant several unrelated things on one screen."""
    assert [
        term.word for term in terms.LOOPS.values() if term.glyph == terms.PHASES["starting"].glyph
    ] == ["starting"]
    others = {
        *terms.PHASES.values(),
        *terms.OUTCOMES.values(),
        *terms.LOOPS.values(),
        *terms.CHECKPOINTS.values(),
    }
    assert terms.CRITICAL.glyph not in {term.glyph for term in others}
    assert terms.UNPROVEN.glyph not in {term.glyph for term in others}
    assert terms.LEVELS["owner"].glyph not in {"▸", *(term.glyph for term in others)}


def test_every_glyph_is_one_cell_and_every_word_is_plain() -> None:
    for table in (terms.PHASES, terms.OUTCOMES, terms.WAITS, terms.CHECKPOINTS, terms.LEVELS):
        for term in table.values():
            assert len(term.glyph) == 1
            assert term.word
            assert "_" not in term.word
            assert len(term.brief) <= len(term.word)


def test_a_term_is_told_with_its_glyph() -> None:
    assert terms.BEST.label == "★ best"
    assert (terms.PHASES["thinking"].brief, terms.PHASES["paused"].brief) == (
        "between iterations",
        "paused",
    )
    assert terms.in_words("limit_reached") == terms.OUTCOMES["limit_reached"].word
