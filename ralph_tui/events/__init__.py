"""Every kind of event in a run, one module per layer; imports nothing but `text`.

Each module lists its events in its own `__all__`, so a new event changes only that module.
"""

import re
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
"""Maximum length of an unknown event in its row; the detail has all of it."""

WRITTEN_HEAD = re.compile(rb'\{"seq":(\d+),"at":"([^"\\]+)","kind":"([^"\\]+)"')
"""Matches the beginning of a journal line as the writer writes it."""

EVENT_TYPES: dict[str, type[Event]] = {
    event.model_fields["kind"].default: event for event in Event.__subclasses__()
}
"""Every kind of event that this version knows, with its type."""


class UnknownEvent(Event):
    """An event from a newer version, kept and shown unchanged."""

    kind: str
    raw: dict[str, Any] = {}

    @model_serializer
    def _as_recorded(self) -> dict[str, Any]:
        """Return the recorded fields, so that a newer version reads back what it wrote."""
        return self.raw

    @property
    def words(self) -> str:
        """The kind and the fields as JSON."""
        fields = {name: value for name, value in self.raw.items() if name not in Event.model_fields}
        return f"{self.kind} {to_json(fields).decode()}"

    def row(self) -> Row:
        return Row("log", "NEWER", clip(one_line(self.words), RAW_LIMIT), self.words)

    def line(self) -> str:
        return f"newer   {self.words}"


@cache
def _reader() -> Callable[[str | bytes], Event]:
    """Build the parser when the first journal is read, not before the first paint."""
    known: Any = Union[tuple(EVENT_TYPES.values())]  # noqa: UP007  built from a list
    adapter = TypeAdapter[Event](Annotated[known, Field(discriminator="kind")])
    return adapter.validator.validate_json


def parse_event(line: str | bytes) -> Event:
    """Parse one journal line; an event of an unknown kind is kept raw.

    Bytes that are not UTF-8 and lone surrogates are replaced, because the journal's quick readers
    do not check for them. Raises ``ValueError`` for anything that is not an event; the caller knows
    the file and the line.
    """
    try:
        return _parse(line)
    except ValidationError as error:
        if not _has(error, "json_invalid"):
            raise
    return _parse(to_json(cleaned(parse_json(line))))


def _parse(line: str | bytes) -> Event:
    try:
        return _as_written(line) or _reader()(line)
    except ValidationError as error:
        if _has(error, "union_tag_invalid"):
            return _unknown(from_json(line))
        raise


def _as_written(line: str | bytes) -> Event | None:
    """Parse a valid line of our writer with the model of its kind alone, which is built quickly."""
    if not isinstance(line, bytes) or not (head := WRITTEN_HEAD.match(line)):
        return None
    kind = head[3].decode("utf-8", "replace")
    try:
        return _reader_of(kind)(line) if kind in EVENT_TYPES else None
    except ValidationError:
        return None


@cache
def _reader_of(kind: str) -> Callable[[bytes], Event]:
    return TypeAdapter(EVENT_TYPES[kind]).validator.validate_json


def _has(error: ValidationError, kind: str) -> bool:
    return any(problem["type"] == kind for problem in error.errors())


def parse_newer(line: str | bytes) -> Event:
    """Parse one line of a newer version's journal, dropping optional fields that are invalid.

    An event that lacks a required field is kept raw. Raises ``ValueError`` like `parse_event`.
    """
    try:
        return parse_event(line)
    except ValidationError as error:
        fields = cleaned(parse_json(line))
        named = [problem["loc"][1] for problem in error.errors() if len(problem["loc"]) > 1]
        if not named or Event.model_fields.keys() & named:  # fields that every event has
            raise
        fitting = {name: value for name, value in fields.items() if name not in named}
    try:
        return parse_event(to_json(fitting))
    except ValidationError:
        return _unknown(fields)


def _unknown(fields: dict[str, Any]) -> UnknownEvent:
    """Build an event from raw fields; they are foreign text, so every string is sanitized."""
    clean = {plain(key): cleaned(value) for key, value in fields.items()}
    return UnknownEvent.model_validate(
        {"seq": fields.get("seq"), "at": fields.get("at"), "kind": clean["kind"], "raw": clean}
    )
