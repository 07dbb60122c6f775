"""Changed files, summed by category."""

from collections.abc import Sequence
from typing import get_args

from ralph_tui.events import FilesChanged
from ralph_tui.events.workspace import Category, CategoryTotal, FileChange

SHOWN_CHANGES = 200


def files_changed(
    iteration: int, changes: Sequence[FileChange], *, live: bool, latest: str | None = None
) -> FilesChanged:
    """The event; totals in the fixed order of the categories, those without files left out."""
    totals = []
    for category in get_args(Category):
        mine = [change for change in changes if change.category == category]
        if mine:
            totals.append(
                CategoryTotal(
                    category=category,
                    files=len(mine),
                    added=sum(change.added for change in mine),
                    removed=sum(change.removed for change in mine),
                )
            )
    return FilesChanged(
        iteration=iteration,
        live=live,
        totals=totals,
        changes=list(changes[:SHOWN_CHANGES]),
        latest=latest,
    )
