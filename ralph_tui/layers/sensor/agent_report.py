"""The agent's own claims: its report line and its completion promise."""

import math
import re
from dataclasses import dataclass
from typing import Any

from ralph_tui.events import AgentReported
from ralph_tui.text.foreign_json import parse_json_at
from ralph_tui.text.sanitize import clip

_OPENING = re.compile(r"\{\s*\"ralph\"\s*:")
_PROMISE = re.compile(r"<promise>\s*COMPLETE\s*</promise>")
_MAX_TRIES = 50
_MAX_ITEMS = 20
_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class AgentReport:
    """The agent's report; missing or malformed fields are empty."""

    completion: float | None = None
    """Points, 0-100; None if not reported."""
    summary: str = ""
    blockers: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    next: str = ""
    item_progress: float | None = None
    """Progress on the plan's open item, in points, 0-100; None if not reported."""

    def event(self, iteration: int) -> AgentReported:
        """Return the report as a journal event."""
        return AgentReported(
            iteration=iteration,
            completion=self.completion,
            summary=self.summary,
            blockers=list(self.blockers),
            learnings=list(self.learnings),
            next=self.next,
            item_progress=self.item_progress,
        )


def find_report(text: str) -> AgentReport | None:
    """Return the last readable ``{"ralph": {...}}`` anywhere in `text`, or None."""
    openings = [match.start() for match in _OPENING.finditer(text)]
    for start in reversed(openings[-_MAX_TRIES:]):
        try:
            found, _ = parse_json_at(text, start)
        except ValueError:
            continue
        if isinstance(found["ralph"], dict):
            return _report(found["ralph"])
    return None


def promised(text: str) -> bool:
    """True if the agent claims to be done: ``<promise>COMPLETE</promise>``."""
    return _PROMISE.search(text) is not None


def _report(fields: dict[str, Any]) -> AgentReport:
    return AgentReport(
        completion=_points(fields.get("completion")),
        summary=_text(fields.get("summary")),
        blockers=_texts(fields.get("blockers")),
        learnings=_texts(fields.get("learnings")),
        next=_text(fields.get("next")),
        item_progress=_points(fields.get("item_progress")),
    )


def _points(value: Any) -> float | None:
    """Return a number clamped to 0-100; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value):
        return None
    return float(min(100, max(0, value)))


def _text(value: Any) -> str:
    return clip(value.strip(), _LONGEST_TEXT) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(filter(None, map(_text, items[:_MAX_ITEMS])))
