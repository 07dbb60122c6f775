"""A loop's ``status.json``, which another machine has written, as an event of the fleet."""

from contextlib import suppress
from datetime import datetime
from typing import Any, get_args

from pydantic import ValidationError

from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.fleet.events import LoopProgressed
from ralph_tui.fleet.state import LoopState
from ralph_tui.state.run import Phase
from ralph_tui.text.foreign_json import parse_json

POINTS = 100.0
"""Completion in a status counts in them."""


def progress_of(loop: str, status: dict[str, Any]) -> LoopProgressed | None:
    """What the status says; None where it is none of this version."""
    if status.get("version") != STATUS_VERSION or status.get("phase") not in get_args(Phase):
        return None
    waiting, question = _object(status.get("waiting")), _object(status.get("question"))
    try:
        return LoopProgressed(
            loop=loop,
            phase=status["phase"],
            waits_for=str(waiting.get("cause") or "") if status["phase"] == "limited" else "",
            iteration=status.get("iteration") or 0,
            max_iterations=status.get("max_iterations"),
            completion=_part(status.get("completion")),
            best=_part(status.get("best")),
            cost_usd=status.get("cost_usd"),
            tokens=_whole(status.get("tokens")),
            verdict=str(status.get("verdict") or ""),
            question=str(question.get("text") or ""),
            question_id=str(question.get("question_id") or ""),
            until=_moment(waiting.get("until") or question.get("deadline")),
        )
    except ValidationError:
        return None


def without_room(loop: LoopState, line: str) -> LoopProgressed | None:
    """That a loop waits for room on its disk, where a line of its journal says so.

    On a full disk the journal has a reserve and the status has none: it would say of such a loop
    for hours that it works.
    """
    if '"disk_full"' not in line:
        return None
    with suppress(ValueError):
        event = _object(parse_json(line.encode()))
        if event.get("kind") == "wait_started" and event.get("cause") == "disk_full":
            return LoopProgressed(
                loop=loop.spec.id,
                phase="limited",
                waits_for="disk_full",
                iteration=loop.iteration,
                max_iterations=loop.max_iterations,
                completion=loop.completions[-1] if loop.completions else None,
                best=loop.best,
                cost_usd=loop.cost_usd,
                tokens=loop.tokens,
                verdict="it waits: the disk it works on is full",
            )
    return None


def differs(progress: LoopProgressed, loop: LoopState) -> bool:
    """Whether it is worth a line: its phase, iteration, question or cost is another one."""
    now = (progress.phase, progress.iteration, progress.question_id, progress.until)
    if now != (loop.phase, loop.iteration, loop.question_id, loop.until):
        return True
    reading = loop.completions[-1] if loop.completions else None
    costs = progress.cost_usd is not None and progress.cost_usd != loop.cost_usd
    return costs or progress.completion != reading


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _part(points: Any) -> float | None:
    return points / POINTS if isinstance(points, int | float) else None


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None
