"""Look at a story: ``python -m tests.tui.show STORY [live]``."""

import sys
from collections import deque
from functools import partial

from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.screen import CockpitScreen
from tests.world.decisions import DECISIONS
from tests.world.stories import STORIES
from tests.world.taught import TAUGHT
from tests.world.windows import WINDOWS


def main() -> None:
    name, *rest = sys.argv[1:] or ["running"]
    events = (STORIES | DECISIONS | TAUGHT | WINDOWS)[name]()
    now = events[-1].at
    live = Live(deque(events), lambda command: None, wall_clock=lambda: now)
    source = live if rest else Replay(events)
    RalphApp(partial(CockpitScreen, source)).run()


if __name__ == "__main__":
    main()
