"""What the agent claims of its own work: the report line, and the promise."""

import math
import re
from dataclasses import dataclass
from typing import Any

from ralph_tui.events import AgentReported
from ralph_tui.text.foreign_json import parse_json_at
from ralph_tui.text.sanitize import clip

_OPENING = re.compile(r"\{\s*\"ralph\"\s*:")
_PROMISE = re.compile(r"<promise>\s*COMPLETE\s*</promise>")
_MOST_TRIES = 50
_MOST_ITEMS = 20
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class AgentReport:
    """The agent's report; what it left out or garbled is empty."""

    completion: float | None = None
    """Points, 0-100, as the agent claims."""
    summary: str = ""
    blockers: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    next: str = ""

    def event(self, iteration: int) -> AgentReported:
        """As the journal has it."""
        return AgentReported(
            iteration=iteration,
            completion=self.completion,
            summary=self.summary,
            blockers=list(self.blockers),
            learnings=list(self.learnings),
            next=self.next,
        )


def find_report(text: str) -> AgentReport | None:
    """The last ``{"ralph": {...}}`` that can be read, wherever it stands; None without one."""
    openings = [match.start() for match in _OPENING.finditer(text)]
    for start in reversed(openings[-_MOST_TRIES:]):
        try:
            found, _ = parse_json_at(text, start)
        except ValueError:
            continue
        if isinstance(found["ralph"], dict):
            return _report(found["ralph"])
    return None


def promised(text: str) -> bool:
    """Whether the agent claims to be done: ``<promise>COMPLETE</promise>``."""
    return _PROMISE.search(text) is not None


def _report(fields: dict[str, Any]) -> AgentReport:
    return AgentReport(
        completion=_points(fields.get("completion")),
        summary=_text(fields.get("summary")),
        blockers=_texts(fields.get("blockers")),
        learnings=_texts(fields.get("learnings")),
        next=_text(fields.get("next")),
    )


def _points(value: Any) -> float | None:
    """A number clamped to 0-100; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value):
        return None
    return float(min(100, max(0, value)))


def _text(value: Any) -> str:
    return clip(value.strip(), _LONGEST_TEXT) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(filter(None, map(_text, items[:_MOST_ITEMS])))
