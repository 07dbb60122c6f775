"""An archive of one recorded run, whose places the tests know."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from ralph_tui.base.errors import RalphError
from ralph_tui.events import Event
from ralph_tui.ports.search import Found
from ralph_tui.ports.source import Source
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.tui.app import SideScreens
from ralph_tui.tui.cockpit.recorded import RecordedScreen
from ralph_tui.tui.search.screen import SearchScreen
from tests.world.recorder import OBJECTIVE, START

FOUND = (
    Found(
        what="learning",
        run="task-001/001",
        text="Run one failing test first, then trace it to its root cause before editing.",
        marks=((16, 20),),
        seq=60,
        iteration=2,
        objective=OBJECTIVE,
        at=START - timedelta(days=1),
    ),
    Found(
        what="action",
        run="task-001/001",
        text="Bash: python -m pytest -q tests/test_lexer.py",
        marks=((26, 31), (32, 36)),
        seq=90,
        iteration=3,
        objective=OBJECTIVE,
        at=START - timedelta(days=1),
    ),
    Found(
        what="learning",
        run="",
        text="Ask the token for the quote state; test each caller.",
        marks=((35, 39),),
    ),
    Found(
        what="reflection",
        run="task-004/002",
        text="The test of the importer timed out: its fixture asked the network.",
        marks=((4, 8),),
        seq=7,
        objective="Make the importer of the old archives as fast as the new one, in every test",
        at=START,
    ),
)


class OneRun:
    """Finds texts with every word, like the real search; opens `events`."""

    def __init__(self, events: Sequence[Event], found: Sequence[Found] = FOUND) -> None:
        self.events, self.found = events, found
        self.asked: list[str] = []

    def search(self, query: str, limit: int = 50) -> Sequence[Found]:
        self.asked.append(query)
        if query == "broken":
            raise RalphError("the index cannot be read: ralph-tui rebuild writes it again")
        words = query.lower().split()
        return [one for one in self.found if all(word in one.text.lower() for word in words)][
            :limit
        ]

    def recorded(self, found: Found) -> Source:
        if found.run == "task-004/002":
            raise RalphError("task-004/002 is not there any more")
        source = Replay(self.events)
        source.seek(found.seq)
        return source


def beside(archive: OneRun) -> SideScreens:
    return SideScreens(partial(SearchScreen, archive), RecordedScreen)
