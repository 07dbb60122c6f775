"""The event types of a fleet's journal: small facts, one line per change, in the past tense.

Each module lists its events in its own `__all__`, so a new event changes only that module.
"""

from functools import cache
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter, ValidationError

from ralph_tui.fleet.events.loops import *  # noqa: F403
from ralph_tui.fleet.events.whole import *  # noqa: F403
from ralph_tui.fleet.events.whole import FleetEvent


class UnknownFleetEvent(FleetEvent):
    """An event of a kind that only newer versions know; it is skipped."""


FLEET_EVENT_TYPES: dict[str, type[FleetEvent]] = {
    event.model_fields["kind"].default: event
    for event in FleetEvent.__subclasses__()
    if event is not UnknownFleetEvent
}
"""Event types by kind."""


@cache
def _reader() -> TypeAdapter[FleetEvent]:
    known: Any = Union[tuple(FLEET_EVENT_TYPES.values())]  # noqa: UP007  built from a list
    return TypeAdapter[FleetEvent](Annotated[known, Field(discriminator="kind")])


def parse_fleet_event(line: str | bytes) -> FleetEvent:
    """Parse a line of a fleet's journal; for an unknown kind, keep only its name.

    Raises ``ValueError`` if the line is not an event.
    """
    try:
        return _reader().validate_json(line)
    except ValidationError as error:
        if any(problem["type"] == "union_tag_invalid" for problem in error.errors()):
            return UnknownFleetEvent.model_validate_json(line)
        raise
