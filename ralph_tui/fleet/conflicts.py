"""Which branches are held against each other, and what of that is news. Pure."""

from collections.abc import Iterator, Sequence

from ralph_tui.fleet.events import ConflictsFound
from ralph_tui.fleet.state import FleetState, LoopState


def may_be_merged(state: FleetState, loop: LoopState) -> bool:
    """Whether somebody may want to merge its branch: of several tries the chosen one alone."""
    common = loop.spec.tries_at
    chosen = state.chosen.get(common) if common else None
    wanted = not common or (chosen is not None and chosen.loop in ("", loop.spec.id))
    return bool(loop.commit and loop.branch) and wanted


def with_news(
    found: Sequence[ConflictsFound], loops: Sequence[LoopState]
) -> Iterator[ConflictsFound]:
    """The same with `new`: each pair is told once, of the branch that has come last.

    `loops` have what was found before.
    """
    told = {frozenset((loop.branch, other)) for loop in loops for other in loop.conflicts}

    def untold(one: ConflictsFound) -> list[str]:
        return [name for name in one.others if frozenset((one.branch, name)) not in told]

    for one in sorted(found, key=lambda each: -len(untold(each))):
        new = untold(one)
        told.update(frozenset((one.branch, name)) for name in new)
        yield one.model_copy(update={"new": tuple(new)})
