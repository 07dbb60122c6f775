"""A simulated world around a real loop: a run takes microseconds, and tests choose each moment.

Real: the loop with its steps and scheduler, the layers, the state, every event. Simulated, one
module per port: the clock, jobs and commands (`host`), the agent's sessions (`agents`), snapshots
and the completion command (`worktree`), the attempt folder (`records`), notifications (`outreach`),
and the user's answers (`owner`).

`World` puts them around a loop, records its events as the engine would, and returns them by type:
``world.all(ReadingTaken)``. A fake that no longer fits its port is a type error there.

Screens and measurements use stories, which are runs as lists of events. A `Recorder` plays the
agent and the completion command, and the real parts of the loop decide (`stories`, `decisions`).
``tests/unit/loop/test_stories.py`` checks them against runs of a `World`.
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
