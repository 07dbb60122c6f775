"""The vocabulary: every fact of a run, one module per layer. Knows nobody else."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter, ValidationError, model_serializer
from pydantic_core import from_json, to_json

from ralph_tui.events.agent import (
    AgentNoted,
    AgentReported,
    AgentSpoke,
    GuidanceAcknowledged,
    GuidanceDelivered,
    GuidanceQueued,
    PromiseMade,
    PromptPrepared,
    SessionDescribed,
    SessionFinished,
    SessionStarted,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from ralph_tui.events.base import Event
from ralph_tui.events.control import AlarmCleared, AlarmRaised, SignalComputed
from ralph_tui.events.oversight import (
    ConflictsFound,
    EffectObserved,
    EscalationDelivered,
    EscalationRaised,
    HealthChecked,
    InterventionMade,
    LimitsChanged,
    RedirectDecided,
)
from ralph_tui.events.run import (
    AbortRequested,
    CommandRefused,
    IterationFinished,
    IterationStarted,
    Noticed,
    Paused,
    PauseRequested,
    RunCrashed,
    RunFinished,
    RunResumed,
    RunStarted,
    StepEntered,
    StopRequested,
    Unpaused,
)
from ralph_tui.events.sensor import GateFinished, GateStarted, ReadingTaken
from ralph_tui.events.waiting import (
    InterruptRequested,
    PermissionsChanged,
    QuestionAnswered,
    QuestionAsked,
    QuestionHeld,
    QuestionWithdrawn,
    WaitEnded,
    WaitStarted,
)
from ralph_tui.events.workspace import (
    CheckpointCaptured,
    FilesChanged,
    JournalRestored,
    RestoreBegan,
    SnapshotTaken,
    WorktreeRestored,
)
from ralph_tui.text.sanitize import plain

SCHEMA_VERSION = 1


class UnknownEvent(Event):
    """An event of a newer version, kept and shown as it is."""

    kind: str
    raw: dict[str, Any] = {}

    @model_serializer
    def _as_recorded(self) -> dict[str, Any]:
        """Whoever reads it again, perhaps the newer version, finds what was there."""
        return self.raw

    @property
    def words(self) -> str:
        """The kind and the fields, as JSON: all there is to show."""
        fields = {name: value for name, value in self.raw.items() if name not in Event.model_fields}
        return f"{self.kind} {to_json(fields).decode()}"


AnyEvent = Annotated[
    AbortRequested
    | AgentNoted
    | AgentReported
    | AgentSpoke
    | AlarmCleared
    | AlarmRaised
    | CheckpointCaptured
    | CommandRefused
    | ConflictsFound
    | EffectObserved
    | EscalationDelivered
    | EscalationRaised
    | FilesChanged
    | GateFinished
    | GateStarted
    | GuidanceAcknowledged
    | GuidanceDelivered
    | GuidanceQueued
    | HealthChecked
    | InterruptRequested
    | InterventionMade
    | IterationFinished
    | IterationStarted
    | JournalRestored
    | LimitsChanged
    | Noticed
    | PauseRequested
    | Paused
    | PermissionsChanged
    | PromiseMade
    | PromptPrepared
    | QuestionAnswered
    | QuestionAsked
    | QuestionHeld
    | QuestionWithdrawn
    | ReadingTaken
    | RedirectDecided
    | RestoreBegan
    | RunCrashed
    | RunFinished
    | RunResumed
    | RunStarted
    | SessionDescribed
    | SessionFinished
    | SessionStarted
    | SignalComputed
    | SnapshotTaken
    | StepEntered
    | StopRequested
    | ToolDenied
    | ToolFinished
    | ToolStarted
    | Unpaused
    | UsageReported
    | WaitEnded
    | WaitStarted
    | WorktreeRestored,
    Field(discriminator="kind"),
]

EVENT_TYPES: dict[str, type[Event]] = {
    event_type.model_fields["kind"].default: event_type
    for event_type in get_args(get_args(AnyEvent)[0])
}
"""Every kind this version knows."""


@cache
def _reader() -> Callable[[str | bytes], Event]:
    """Built when the first journal is read: a first paint does not wait for it."""
    return TypeAdapter(AnyEvent).validator.validate_json


def parse_event(line: str | bytes) -> Event:
    """One journal line as an event; an unknown kind is kept raw.

    Raises ``ValueError`` for anything that is not an event: the caller knows file and line.
    """
    try:
        return _reader()(line)
    except ValidationError as error:
        if any(problem["type"] == "union_tag_invalid" for problem in error.errors()):
            return _unknown(from_json(line))
        raise


def _unknown(fields: dict[str, Any]) -> UnknownEvent:
    """Raw fields are foreign text too: every string passes the door."""
    clean = {plain(key): _clean(value) for key, value in fields.items()}
    return UnknownEvent.model_validate(
        {"seq": fields.get("seq"), "at": fields.get("at"), "kind": clean["kind"], "raw": clean}
    )


def _clean(value: Any) -> Any:
    match value:
        case str():
            return plain(value)
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {plain(str(key)): _clean(item) for key, item in value.items()}
        case _:
            return value


__all__ = [
    "EVENT_TYPES",
    "SCHEMA_VERSION",
    "AbortRequested",
    "AgentNoted",
    "AgentReported",
    "AgentSpoke",
    "AlarmCleared",
    "AlarmRaised",
    "AnyEvent",
    "CheckpointCaptured",
    "CommandRefused",
    "ConflictsFound",
    "EffectObserved",
    "EscalationDelivered",
    "EscalationRaised",
    "Event",
    "FilesChanged",
    "GateFinished",
    "GateStarted",
    "GuidanceAcknowledged",
    "GuidanceDelivered",
    "GuidanceQueued",
    "HealthChecked",
    "InterruptRequested",
    "InterventionMade",
    "IterationFinished",
    "IterationStarted",
    "JournalRestored",
    "LimitsChanged",
    "Noticed",
    "PauseRequested",
    "Paused",
    "PermissionsChanged",
    "PromiseMade",
    "PromptPrepared",
    "QuestionAnswered",
    "QuestionAsked",
    "QuestionHeld",
    "QuestionWithdrawn",
    "ReadingTaken",
    "RedirectDecided",
    "RestoreBegan",
    "RunCrashed",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "SessionDescribed",
    "SessionFinished",
    "SessionStarted",
    "SignalComputed",
    "SnapshotTaken",
    "StepEntered",
    "StopRequested",
    "ToolDenied",
    "ToolFinished",
    "ToolStarted",
    "UnknownEvent",
    "Unpaused",
    "UsageReported",
    "WaitEnded",
    "WaitStarted",
    "WorktreeRestored",
    "parse_event",
]
