"""The vocabulary: every fact of a run, one module per layer; imports nothing but `text`.

Each module lists its events in its own `__all__`: a new event touches that module alone.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter, ValidationError, model_serializer
from pydantic_core import from_json, to_json

from ralph_tui.events.agent import *  # noqa: F403
from ralph_tui.events.asking import *  # noqa: F403
from ralph_tui.events.base import Event as Event
from ralph_tui.events.base import Row as Row
from ralph_tui.events.context import *  # noqa: F403
from ralph_tui.events.control import *  # noqa: F403
from ralph_tui.events.guidance import *  # noqa: F403
from ralph_tui.events.imported import *  # noqa: F403
from ralph_tui.events.intelligence import *  # noqa: F403
from ralph_tui.events.memory import *  # noqa: F403
from ralph_tui.events.oversight import *  # noqa: F403
from ralph_tui.events.run import *  # noqa: F403
from ralph_tui.events.sensor import *  # noqa: F403
from ralph_tui.events.text import cleaned
from ralph_tui.events.waiting import *  # noqa: F403
from ralph_tui.events.workspace import *  # noqa: F403
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.sanitize import clip, one_line, plain

SCHEMA_VERSION = 1
RAW_LIMIT = 300
"""Characters of the row of an event of a newer version; its detail has all."""

EVENT_TYPES: dict[str, type[Event]] = {
    event.model_fields["kind"].default: event for event in Event.__subclasses__()
}
"""Every kind this version knows, with its type."""


class UnknownEvent(Event):
    """An event of a newer version, kept and shown as it is."""

    kind: str
    raw: dict[str, Any] = {}

    @model_serializer
    def _as_recorded(self) -> dict[str, Any]:
        """A newer version that reads it again finds what it had written."""
        return self.raw

    @property
    def words(self) -> str:
        """The kind and the fields, as JSON: all there is to show."""
        fields = {name: value for name, value in self.raw.items() if name not in Event.model_fields}
        return f"{self.kind} {to_json(fields).decode()}"

    def row(self) -> Row:
        """It may matter."""
        return Row("log", "NEWER", clip(one_line(self.words), RAW_LIMIT), self.words)

    def line(self) -> str:
        return f"newer   {self.words}"


@cache
def _reader() -> Callable[[str | bytes], Event]:
    """Built when the first journal is read: a first paint does not wait for it."""
    known: Any = Union[tuple(EVENT_TYPES.values())]  # noqa: UP007  made of a list
    adapter = TypeAdapter[Event](Annotated[known, Field(discriminator="kind")])
    return adapter.validator.validate_json


def parse_event(line: str | bytes) -> Event:
    """One journal line as an event; an unknown kind is kept raw.

    Bytes that are not UTF-8 and halves of a surrogate pair are replaced: a quick reader of the
    journal, which makes no events, does not see them. Raises ``ValueError`` for anything that is
    not an event: the caller knows file and line.
    """
    try:
        return _parse(line)
    except ValidationError as error:
        if not _has(error, "json_invalid"):
            raise
    return _parse(to_json(cleaned(parse_json(line))))


def _parse(line: str | bytes) -> Event:
    try:
        return _reader()(line)
    except ValidationError as error:
        if _has(error, "union_tag_invalid"):
            return _unknown(from_json(line))
        raise


def _has(error: ValidationError, kind: str) -> bool:
    return any(problem["type"] == kind for problem in error.errors())


def parse_newer(line: str | bytes) -> Event:
    """One line of a newer version's journal: a field that does not fit is left out where it may be.

    An event that is nothing without it is kept raw. Raises ``ValueError`` as `parse_event` does.
    """
    try:
        return parse_event(line)
    except ValidationError as error:
        fields = cleaned(parse_json(line))
        named = [problem["loc"][1] for problem in error.errors() if len(problem["loc"]) > 1]
        if not named or Event.model_fields.keys() & named:  # what every event has
            raise
        fitting = {name: value for name, value in fields.items() if name not in named}
    try:
        return parse_event(to_json(fitting))
    except ValidationError:
        return _unknown(fields)


def _unknown(fields: dict[str, Any]) -> UnknownEvent:
    """Raw fields are foreign text too: every string is sanitized."""
    clean = {plain(key): cleaned(value) for key, value in fields.items()}
    return UnknownEvent.model_validate(
        {"seq": fields.get("seq"), "at": fields.get("at"), "kind": clean["kind"], "raw": clean}
    )
