"""What stands for the state of an external run that can be read no more: the files beside it.

Standard library only.
"""

from pathlib import PurePath

from ralph_tui.adapters.agents.json_fields import as_text
from ralph_tui.importers.fields import Json
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.state_file import STATE, ExternalState

MOST_ANALYTICS = 500
"""Runs of which analytics are looked at."""


def salvaged(files: RunFiles) -> ExternalState | None:
    """None where there never was a state, or nothing lies beside it.

    Its iterations are those that were analysed; what else has a prompt has crashed.
    """
    if not files.first(STATE, f"{STATE}.bak"):
        return None
    numbers = files.numbers("analysis", "-analysis.json")
    left = [*numbers, *files.numbers("prompts", "-prompt.md")]
    newest = max(analytics_of(files), key=_began, default=None)
    if not left and newest is None:
        return ExternalState({}, ())
    fields: dict[str, object] = {"currentIteration": max(left, default=0)}
    if newest is not None:
        fields["loopId"], about = newest
        fields["objective"] = about.get("task_description")
        fields["startTime"] = about.get("start_time")
    return ExternalState(fields, tuple({"number": number} for number in numbers if number))


def analytics_of(files: RunFiles) -> list[tuple[str, Json]]:
    """The id of each run that has analytics, and these; empty ones where they cannot be read."""
    found = []
    for name in files.names("analytics")[:MOST_ANALYTICS]:
        if name.endswith(".json"):
            about = files.json(f"analytics/{name}")
            stem = PurePath(name).stem
            found.append((as_text((about or {}).get("loop_id")) or stem, about or {}))
    return found


def _began(analytics: tuple[str, Json]) -> str:
    return as_text(analytics[1].get("start_time"))
