"""Which files an external iteration changed, by the best that was recorded of it."""

from collections.abc import Iterator, Mapping

from ralph_tui.adapters.agents.json_fields import as_list, as_map, as_text
from ralph_tui.events.workspace import ChangeStatus
from ralph_tui.importers.analysis import Analysed
from ralph_tui.importers.fields import Json, as_texts
from ralph_tui.importers.told import ToldChange

MOST = 5_000
"""Files of one iteration."""
_DIFFED: Mapping[str, ChangeStatus] = {
    "filesAdded": "added",
    "filesModified": "modified",
    "filesDeleted": "deleted",
}
_STATUS: Mapping[str, ChangeStatus] = {"added": "added", "deleted": "deleted"}


def changes_of(diff: Json, entry: Json, analysis: Analysed, root: str) -> list[ToldChange]:
    """Of the comparison of its snapshots, else of the later one, else as the agent has said.

    Paths are told relative to `root`, the folder the run worked in.
    """
    lines = dict(_diffed(as_map(entry.get("postSnapshot")), root))
    if any(isinstance(diff.get(name), list) for name in _DIFFED):
        paths = (
            (_within(path, root), status)
            for name, status in _DIFFED.items()
            for path in as_texts(diff.get(name))
        )
        return [ToldChange(path, status, *_counts(lines.get(path))) for path, status in paths][
            :MOST
        ]
    if lines:
        return list(lines.values())[:MOST]
    said = as_texts(entry.get("filesModified")) or as_texts(
        analysis.fields.get("artifactsModified")
    )
    return [ToldChange(_within(path, root)) for path in dict.fromkeys(said)][:MOST]


def _diffed(snapshot: Json, root: str) -> Iterator[tuple[str, ToldChange]]:
    for each in map(as_map, as_list(snapshot.get("fileDiffs"))):
        path = _within(as_text(each.get("path")), root)
        if path:
            status = _STATUS.get(as_text(each.get("status")), "modified")
            rows = as_text(each.get("diff")).split("\n")
            added = sum(row.startswith("+") and not row.startswith("+++") for row in rows)
            removed = sum(row.startswith("-") and not row.startswith("---") for row in rows)
            yield path, ToldChange(path, status, added, removed)


def _counts(change: ToldChange | None) -> tuple[int, int]:
    return (change.added, change.removed) if change else (0, 0)


def _within(path: str, root: str) -> str:
    folder = root.rstrip("/") + "/"
    return path[len(folder) :] if root and path.startswith(folder) else path
