"""All that is measured of a fleet."""

from collections.abc import Iterator

from bench import fleet_commands, fleet_dispatch, fleet_engine, fleet_many, fleet_trees, fleet_walls
from bench.result import Result, Scale


def fleets(scale: Scale) -> Iterator[Result]:
    """Real runs first, then played hosts, then a thousand loops."""
    yield from fleet_walls.against_threads(scale)
    yield from fleet_commands.round_trips(scale)
    yield from fleet_trees.against_worktrees(scale)
    yield from fleet_dispatch.dispatch(scale)
    yield from fleet_many.carried(scale)
    yield from fleet_engine.thousand(scale)
