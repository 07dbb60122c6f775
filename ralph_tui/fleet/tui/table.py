"""The loops, a row each; one is selected."""

from ralph_tui.fleet.tui.columns import columns_for
from ralph_tui.fleet.tui.view import FleetView, LoopRow
from ralph_tui.tui.draw.columns import ColumnSets
from ralph_tui.tui.draw.list_table import ListTable
from ralph_tui.tui.draw.spans import Line


class LoopTable(ListTable):
    """See above."""

    def __init__(self, view: FleetView) -> None:
        super().__init__("loops")
        self._view = view

    @property
    def _columns(self) -> ColumnSets[LoopRow]:
        longest = max((len(row.id) for row in self._view.rows), default=0)
        return columns_for(longest, hosts=self._view.several_hosts)

    @property
    def count(self) -> int:
        """See `ListTable`."""
        return len(self._view.rows)

    @property
    def selected(self) -> int:
        """See `ListTable`."""
        return self._view.selected

    def select(self, index: int) -> None:
        """See `ListTable`."""
        self._view.selected = max(0, index)

    def titles(self, width: int) -> Line:
        """See `ListTable`."""
        return self._columns.titles(width)

    def row(self, index: int, width: int) -> Line:
        """See `ListTable`."""
        return self._columns.line_of(self._view.rows[index], self._view.now, width)
