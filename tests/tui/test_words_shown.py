"""No pane, header or report shows a retired word, for any story or saved run, at three sizes.

Prompts are shown as they were sent; `test_words.py` checks those.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.events import Event
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.tui.panes.agent import AgentPane
from ralph_tui.tui.panes.details import DetailsPane
from ralph_tui.tui.panes.event_log import EventLog
from ralph_tui.tui.panes.files import FilesPane
from ralph_tui.tui.panes.header import header_lines
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.learnings import LearningsPane
from ralph_tui.tui.panes.pane import LinesPane, Pane
from ralph_tui.tui.panes.progress import ProgressPane
from ralph_tui.tui.panes.rows import RowsPane
from ralph_tui.tui.panes.verification import VerificationPane
from tests.fixtures.journals.make import FOLDER
from tests.paths import ROOT
from tests.words import drawn, retired_in
from tests.world.decisions import DECISIONS
from tests.world.stories import STORIES
from tests.world.taught import TAUGHT
from tests.world.windows import WINDOWS

SIZES = ((78, 20), (98, 26), (138, 41))
"""Inside of 80x24, 100x30 and 140x45."""
TOLD = {**STORIES, **DECISIONS, **TAUGHT, **WINDOWS}
KEPT = [path.stem for path in sorted(FOLDER.glob("*.jsonl"))]
PICTURES = ROOT / "tests" / "snapshots" / "__snapshots__"
OTHERS_WORDS = ("hostile", "nasty", "imported")
"""Runs with free text from an agent or another tool."""


@cache
def run_of(name: str) -> tuple[Event, ...]:
    return tuple(TOLD[name]() if name in TOLD else read_journal(FOLDER / f"{name}.jsonl").events)


def panes(events: Sequence[Event]) -> Iterator[Pane]:
    source = Replay(list(events))
    yield from (ProgressPane(), EventLog(), IterationsPane(source), FilesPane(source))
    yield from (LearningsPane(), AgentPane(), VerificationPane())
    yield DetailsPane(source)


def shown(pane: Pane, width: int, height: int) -> list[str]:
    if isinstance(pane, LinesPane):
        rows = pane.build(width, height)
    else:
        assert isinstance(pane, RowsPane)
        known = enumerate(pane.entries())
        rows = [row for number, entry in known for row in pane.rows_of(entry, number, width)]
    return ["".join(text for text, _ in row) for row in rows]


@pytest.mark.parametrize("name", [*TOLD, *KEPT])
def test_no_retired_word_is_shown(name: str) -> None:
    if name in OTHERS_WORDS:
        pytest.skip("its agent says what it likes")
    events = run_of(name)
    record = "\n".join(event.model_dump_json() for event in events).replace("\\n", " ")
    state = RunState().apply_all(events)
    texts: dict[str, str] = {}
    for width, height in SIZES:
        head = header_lines(state, events[-1].at, width + 2)
        for row in head:
            texts["".join(part for part, _ in row)] = f"header at {width + 2}"
        for pane in panes(events):
            pane.state, pane.now = state, events[-1].at
            for zoomed in (False, True):
                pane.zoomed = zoomed
                rows = shown(pane, width, height)
                texts |= dict.fromkeys(rows, f"{pane.key} at {width + 2}")
    page = report(events, Circumstances("here"))
    texts |= dict.fromkeys(page.replace("\\", "").splitlines(), "report")
    found = retired_in(((where, row) for row, where in texts.items()), record)
    assert not found, "\n".join(found)


def test_no_picture_shows_one() -> None:
    """Dialogs, help, palette and footer stand nowhere but there."""
    pictures = {path.stem: drawn(path.read_text()) for path in PICTURES.rglob("*.svg")}
    assert any("z zoom" in text for text in pictures.values())
    events = (event for name in TOLD for event in run_of(name))
    record = "\n".join(event.model_dump_json() for event in events).replace("\\n", " ")
    seen = (each for each in pictures.items() if not any(name in each[0] for name in OTHERS_WORDS))
    found = retired_in(seen, record)
    assert not found, "\n".join(found)
