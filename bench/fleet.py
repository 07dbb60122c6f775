"""All fleet benchmarks."""

from collections.abc import Iterator

from bench import fleet_commands, fleet_dispatch, fleet_engine, fleet_many, fleet_trees, fleet_walls
from bench.result import Result, Scale


def fleets(scale: Scale) -> Iterator[Result]:
    """Yield results of real runs, then of simulated hosts, then of a thousand loops."""
    yield from fleet_walls.against_threads(scale)
    yield from fleet_commands.round_trips(scale)
    yield from fleet_trees.against_worktrees(scale)
    yield from fleet_dispatch.dispatch(scale)
    yield from fleet_many.carried(scale)
    yield from fleet_engine.thousand(scale)
