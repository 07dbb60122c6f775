"""The files of a task as functions of the records of its attempts; snake_case.

``metadata.json``, ``trajectory.json``, ``summary.json``, ``reflections.jsonl``.
"""

import json
from collections.abc import Sequence
from typing import Any, get_args

from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.events.workspace import Category
from ralph_tui.text.sanitize import plain


def task_files(task: str, attempts: Sequence[Attempt], old: dict[str, Any]) -> dict[str, Any]:
    """File name to content; `attempts` in their order, at least one.

    Of the `old` metadata only what no attempt knows is kept: tags of others, and related tasks
    while no plan names any.
    """
    # A reflection may come long after an end; it does not make an old attempt the present one.
    current = max(attempts, key=lambda attempt: (attempt.ended or attempt.updated, attempt.id))
    history = current.execution.quality_history
    completion = history[-1].quality if history else None
    contents = {
        "metadata.json": _metadata(task, attempts, current, old),
        "trajectory.json": _trajectory(task, attempts, completion),
        "summary.json": _summary(task, attempts, current, completion),
    }
    known = {name: _known(content) for name, content in contents.items()}
    reflections = [told.as_json() for attempt in attempts for told in attempt.reflections]
    lines = "".join(json.dumps(told, ensure_ascii=False) + "\n" for told in reflections)
    return {**known, "reflections.jsonl": lines or None}


def _metadata(
    task: str, attempts: Sequence[Attempt], current: Attempt, old: dict[str, Any]
) -> dict[str, Any]:
    now = current.as_json()
    tags = [tag for attempt in attempts for tag in attempt.tags]
    related = [names for attempt in attempts if (names := attempt.plan.related)]
    return {
        "id": task,
        "description": attempts[0].description,
        "completion_criteria": current.completion_criteria,
        "created": attempts[0].as_json()["started"],
        "updated": now["updated"],
        "completed": now.get("ended") if current.status == "completed" else None,
        "status": current.status,
        "current_attempt": current.id,
        "total_attempts": max(attempt.id for attempt in attempts),
        "tags": [*dict.fromkeys([*_tags_in_order(tags), *_words(old.get("tags"))])],
        "related_tasks": related[-1] if related else _words(old.get("related_tasks")),
    }


def _tags_in_order(tags: list[str]) -> list[str]:
    """Types of task first, then categories of files."""
    categories = get_args(Category)
    kinds = [tag for tag in tags if tag not in categories]
    return [*kinds, *(category for category in categories if category in tags)]


def _trajectory(task: str, attempts: Sequence[Attempt], completion: float | None) -> dict[str, Any]:
    dumped = [attempt.as_json() for attempt in attempts]
    return {
        "task_id": task,
        "attempts": [
            _known(
                {
                    "attempt_id": attempt["id"],
                    "started": attempt["started"],
                    "ended": attempt.get("ended"),
                    "outcome": attempt.get("outcome", {}).get("status"),
                    "plan": attempt["plan"]["approach"] or None,
                    "agent": attempt["execution"]["agent"] or None,
                    "actions": attempt["execution"]["actions_performed"],
                    "iterations": attempt["execution"]["iterations"],
                }
            )
            for attempt in dumped
        ],
        "milestones": [
            {**milestone, "details": _within(attempt["id"], milestone["details"])}
            for attempt in dumped
            for milestone in attempt["milestones"]
        ],
        "final_quality": completion,
        "completion_percent": completion,
    }


def _summary(
    task: str, attempts: Sequence[Attempt], current: Attempt, completion: float | None
) -> dict[str, Any]:
    done = [attempt.execution for attempt in attempts]
    qualities = [step.quality for each in done for step in each.quality_history]
    costs = [each.cost_usd for each in done if each.cost_usd is not None]
    tokens = [each.tokens for each in done if each.tokens]
    verdicts = [attempt.outcome.status for attempt in attempts if attempt.outcome]
    last = current.outcome
    return {
        "task_id": task,
        "description": attempts[0].description,
        "status": current.status,
        "attempts": len(attempts),
        "successes": verdicts.count("success"),
        "failures": verdicts.count("failure"),
        "timeouts": verdicts.count("timeout"),
        "iterations": sum(each.iterations for each in done),
        "actions": sum(each.actions_performed for each in done),
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": round(sum(costs), 6) if costs else None,
        "duration_s": round(sum(each.duration_s for each in done), 3),
        "reflections": sum(len(attempt.reflections) for attempt in attempts),
        "best_completion": max(qualities, default=None),
        "completion_percent": completion,
        "last_outcome": (last.outcome or last.status) if last else None,
        "last_reason": last.reason if last else None,
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """What is not known is left out, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def _within(attempt: int, details: str) -> str:
    return f"attempt {attempt}: {details}" if details else f"attempt {attempt}"


def _words(value: object) -> list[str]:
    words = value if isinstance(value, list) else []
    return [plain(word) for word in words if isinstance(word, str)]
