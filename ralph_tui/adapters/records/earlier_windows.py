"""Read how much of their context windows earlier runs in a repository used.

An agent can write to their status files, so each value is checked and invalid values are dropped.
"""

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path

from pydantic import ValidationError

from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.listing import ROW_BYTES, list_runs
from ralph_tui.events import EarlierWindowsRead
from ralph_tui.events.context import ItemTaken
from ralph_tui.text.json_fields import as_list, as_map, as_number

MAX_READ = 50
"""Maximum number of status files to read."""
ITEMS = 60
"""Maximum number of finished plan items."""
PEAKS = 5
"""Maximum number of iterations whose peak use is read."""
FULL = 100.0


def earlier_windows(root: Path, own: str, agent: str, model: str | None) -> EarlierWindowsRead:
    """Read the latest runs with this agent and requested model, so that windows are comparable.

    `own` is this run's name. Raises ``WorkspaceError`` if the runs cannot be listed.
    """
    runs, items, peaks = 0, list[ItemTaken](), list[float]()
    listed = [one.run for one in list_runs(root) if one.name != own][:MAX_READ]
    for run in (run for run in listed if not run.hooked):
        status = read_json(run.status, most=ROW_BYTES) or {}
        if (status.get("agent"), status.get("requested_model")) != (agent, model):
            continue
        context = as_map(status.get("context"))
        took, filled = list(_items(context)), list(_peaks(context))
        runs += bool(took or filled)
        items, peaks = [*took, *items][-ITEMS:], [*filled, *peaks][-PEAKS:]
        if len(items) == ITEMS and len(peaks) == PEAKS:
            break
    return EarlierWindowsRead(runs=runs, items=items, peaks=peaks)


def _items(context: Mapping[str, object]) -> Iterable[ItemTaken]:
    for one in as_list(context.get("taken")):
        try:
            taken = ItemTaken.model_validate(one)
        except ValidationError:
            continue
        if 0 < taken.points < inf:  # an item may take several windows
            yield taken.model_copy(update={"points": min(FULL, taken.points)})


def _peaks(context: Mapping[str, object]) -> Iterable[float]:
    for use in map(as_map, as_list(context.get("history"))):
        peak = as_number(use.get("peak_percent"))
        if peak is not None and 0 <= peak <= FULL:
            yield peak
