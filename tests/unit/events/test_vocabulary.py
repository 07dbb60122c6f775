"""Events: distinct kinds, one import path, and an urgency each."""

import pytest

from ralph_tui import events
from ralph_tui.events import EVENT_TYPES, Event, QuestionAsked, ToolStarted, UnknownEvent

named = pytest.mark.parametrize("event_type", EVENT_TYPES.values(), ids=EVENT_TYPES)


@named
def test_its_module_lists_it(event_type: type[Event]) -> None:
    assert vars(events)[event_type.__name__] is event_type


@named
def test_its_kind_is_its_name(event_type: type[Event]) -> None:
    kind: str = event_type.model_fields["kind"].default
    assert kind.replace("_", "") == event_type.__name__.lower()
    assert EVENT_TYPES[kind] is event_type


def test_facts_of_a_type_are_no_fields() -> None:
    assert QuestionAsked.durable
    assert QuestionAsked.urgent
    assert not ToolStarted.durable
    assert not UnknownEvent.durable
    assert not {"durable", "urgent"} & QuestionAsked.model_fields.keys()
