"""The outside of a loop, played, so that a run takes microseconds and each moment can be chosen.

Real: the loop with its steps and its scheduler, the layers, the state, every event. Played: what
the loop reaches through its ports, each in a module named like the port's, and the owner:

- `host`      a clock that is told to move; jobs are done at once; commands come when told
- `agents`    one act per session: end the turn, promise, report, go on until stopped; answers to
              questions
- `worktree`  snapshots without files, and a completion command that passes as many tests as told
- `records`   an attempt folder without a disk
- `outreach`  people who are told
- `owner`     what the owner answers to questions

`World` puts them around a loop, records its events as the engine would, and gives them back by
type: ``world.all(ReadingTaken)``. A fake that no longer fits its port is a type error there.

For the screens and the measurements there are stories, runs as lists of events: a `Recorder` tells
them what agent and gate say, and the loop's own parts what is decided (`stories`, `decisions`).
``tests/unit/loop/test_stories.py`` holds them against runs of a `World`.
"""

from tests.world.agents import FakeAsker, FakeSession, promise, report, wait
from tests.world.host import FakeClock, FakeHost
from tests.world.world import World

__all__ = [
    "FakeAsker",
    "FakeClock",
    "FakeHost",
    "FakeSession",
    "World",
    "promise",
    "report",
    "wait",
]
