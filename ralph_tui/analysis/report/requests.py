"""The agent's questions in a run, and who allowed or refused them. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from ralph_tui import events as ev


@dataclass(frozen=True)
class Request:
    """One question of the agent."""

    iteration: int
    at: datetime
    what: str
    how: str = ""
    """The answer, and who gave it; empty while unanswered."""
    rule: str = ""
    """The permission granted for the session; empty if none."""
    again: str = ""
    """A note if the agent asked for the same thing again; otherwise empty."""


def requests(events: Iterable[ev.Event]) -> list[Request]:
    """Return the agent's questions in order."""
    found: list[Request] = []
    asked: ev.QuestionAsked | None = None
    answered: dict[str, int] = {}
    """Index in `found`, by question id."""
    for event in events:
        match event:
            case ev.QuestionAsked():
                asked = event if event.request is not None else None
                if asked is not None and asked.request is not None:
                    found.append(Request(asked.iteration, asked.at, asked.request.wanted))
            case ev.QuestionAnswered() | ev.QuestionWithdrawn() if asked is not None:
                if event.question_id == asked.question_id:
                    found[-1] = _settled(found[-1], event, asked)
                    answered[event.question_id] = len(found) - 1
                    asked = None
            case ev.AgentRefusedAgain() if event.question_id in answered:
                place = answered[event.question_id]
                found[place] = replace(found[place], again=event.row().text)
    return found


def _settled(
    request: Request, event: ev.QuestionAnswered | ev.QuestionWithdrawn, asked: ev.QuestionAsked
) -> Request:
    if isinstance(event, ev.QuestionWithdrawn):
        return replace(request, how=event.row().text)
    said = event.said
    rule = asked.request.rule if asked.request is not None and event.answer == "session" else ""
    how = event.decision(asked)
    return replace(request, how=f"{how}: {said}" if said else how, rule=rule)
