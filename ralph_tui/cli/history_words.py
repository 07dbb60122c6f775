"""Format the history of tasks, attempts and reflections as pages."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.task_table import TaskRow
from ralph_tui.cli.pages import Page, Section
from ralph_tui.text.format import count, duration, money, percent, signed
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import TRIGGERS, in_words, outcome_word

if TYPE_CHECKING:
    from ralph_tui.adapters.records.aiwg.records import Attempt, Quality, Reflection, UsedLearning
    from ralph_tui.adapters.records.history import TaskHistory

ROUNDED = 1.0
"""Points; smaller differences do not show, because gains are shown as whole numbers."""
TASKS = ("task", "status", "attempts", "best", "iterations", "cost", "when", "description")
ATTEMPTS = ("attempt", "status", "agent", "best", "iterations", "cost", "time", "when", "why")


def status_word(row: TaskRow) -> str:
    """Return the status of a task as its row shows it."""
    return outcome_word(row.last_outcome or row.status)


def task_cells(name: str, row: TaskRow) -> list[str]:
    """Return the cells of a row under `TASKS`."""
    return [
        name,
        status_word(row),
        str(row.attempts),
        _percent_text(row.best),
        str(row.iterations),
        _money_text(row.cost_usd),
        _format_time(row.updated),
        row.description,
    ]


def task_json(name: str, row: TaskRow) -> dict[str, object]:
    """Return a sanitized row as an object, without unknown fields."""
    known = {key: value for key, value in row._asdict().items() if value is not None}
    safe = {key: one_line(v) if isinstance(v, str) else v for key, v in known.items()}
    return {"task": one_line(name), **safe}


def list_page(rows: Mapping[str, TaskRow]) -> Page:
    """Build the page that lists all tasks."""
    cells = [task_cells(name, row) for name, row in rows.items()]
    return Page("Tasks", [Section(head=TASKS, rows=cells)])


def task_page(task: "TaskHistory", statuses: Sequence[str]) -> Page:
    """Build the page of a task with a row for each attempt; `statuses` are those of attempts."""
    first, last = task.attempts[0], task.attempts[-1]
    number = sum(len(attempt.reflections) for attempt in task.attempts)
    facts = [
        ("description", first.description),
        ("done when", last.completion_criteria or ""),
        ("tags", ", ".join(dict.fromkeys(t for each in task.attempts for t in each.tags))),
        ("similar tasks", ", ".join(last.plan.related)),
        ("reflections", f"{number}: ralph-tui history {task.name} --reflections" if number else ""),
    ]
    rows = [_attempt_cells(a, s) for a, s in zip(task.attempts, statuses, strict=True)]
    return Page(task.name, [Section(facts=facts), Section(head=ATTEMPTS, rows=rows)])


def _attempt_cells(attempt: "Attempt", status: str) -> list[str]:
    done, end = attempt.execution, attempt.outcome
    return [
        str(attempt.id),
        outcome_word(end.outcome or end.status) if end else status,
        done.agent,
        _percent_text(_best_quality(attempt)),
        str(done.iterations),
        _money_text(done.cost_usd),
        duration(done.duration_s),
        _format_time(attempt.started),
        end.reason if end else "",
    ]


def attempt_page(attempt: "Attempt", status: str) -> Page:
    """Build the page of an attempt: its plan, its iterations and its result."""
    return Page(
        f"{attempt.task_id}/{attempt.id:03}",
        [
            Section(facts=_attempt_facts(attempt, status)),
            _plan_section(attempt),
            Section(
                "Iterations",
                head=("iteration", "completion", "gain"),
                rows=[
                    [
                        str(step.iteration) if step.iteration else "start",
                        percent(step.quality) + _restore_note(before, step),
                        signed(step.delta) if step.iteration else "",
                    ]
                    for before, step in pairwise([None, *attempt.execution.quality_history])
                    if step is not None
                ],
            ),
            *_outcome_sections(attempt),
            Section("Learnings", items=[_learning_words(one) for one in attempt.learnings]),
            *_reflection_sections(attempt),
        ],
    )


def _restore_note(before: "Quality | None", step: "Quality") -> str:
    """Return a note with the gain's baseline if files were restored in between; otherwise empty."""
    base = step.quality - step.delta
    if before is None or abs(base - before.quality) < ROUNDED:
        return ""
    return f" (from {percent(base)}, restored)"


def reflections_page(task: "TaskHistory", attempts: "Sequence[Attempt]") -> Page:
    """Build the page of the reflections on these attempts."""
    sections = [section for attempt in attempts for section in _reflection_sections(attempt)]
    nothing = Section(items=["no reflections yet"])
    return Page(f"Reflections of {task.name}", sections or [nothing])


def _attempt_facts(attempt: "Attempt", status: str) -> list[tuple[str, str]]:
    done, end = attempt.execution, attempt.outcome
    tokens = f"{done.tokens:,}" if done.tokens else ""
    ended = f"{outcome_word(end.outcome or end.status)}: {end.reason}" if end else status
    return [
        ("description", attempt.description),
        ("state", ended.removesuffix(": ")),
        ("agent", " ".join(word for word in (done.agent, done.model) if word)),
        ("best", _percent_text(_best_quality(attempt))),
        ("time", f"{duration(done.duration_s)} since {_format_time(attempt.started)}"),
        ("cost", _money_text(done.cost_usd)),
        ("tokens", tokens),
        ("actions", str(done.actions_performed)),
        ("tags", ", ".join(attempt.tags)),
        (
            "recorded by",
            f"hooks; ralph-tui replay hooks/{attempt.run_id}" if attempt.journal else "",
        ),
    ]


def _plan_section(attempt: "Attempt") -> Section:
    plan = attempt.plan
    estimate = ""
    if plan.estimated_iterations and plan.estimate_from:
        iterations = count(plan.estimated_iterations, "iteration")
        estimate = f"about {iterations}, estimated from {count(plan.estimate_from, 'run')}"
    facts = [
        ("approach", plan.approach),
        ("estimate", estimate),
        ("based on", ", ".join(plan.cites)),
        ("similar tasks", ", ".join(plan.related)),
    ]
    return Section("Plan", facts=facts, items=plan.steps)


def _outcome_sections(attempt: "Attempt") -> Iterator[Section]:
    if (end := attempt.outcome) is not None:
        yield Section("What worked", items=end.what_worked)
        yield Section("What did not work", items=end.what_didnt_work)
        yield Section("For next time", items=end.suggestions_for_next_time)


def _learning_words(one: "UsedLearning") -> str:
    parts = [f"{one.type}, {one.standing}, confidence {one.confidence:.2f}"]
    if one.origin == "learned":
        parts.append("learned here and promoted" if one.promoted else "learned here")
    if one.prompts:
        noun = "iteration" if len(one.prompts) == 1 else "iterations"
        parts.append(f"used in the prompt of {noun} {', '.join(map(str, one.prompts))}")
    if one.credits:
        helped = sum(credit.success for credit in one.credits)
        parts.append(f"helped in {helped} of {count(len(one.credits), 'counted use')}")
    return f"{one.text} ({'; '.join(parts)})"


def _reflection_sections(attempt: "Attempt") -> Iterator[Section]:
    for number, reflection in enumerate(attempt.reflections, start=1):
        cite = f"{attempt.task_id}/{attempt.id:03} #{number}"
        yield Section(
            f"Reflection on attempt {cite}",
            facts=_reflection_facts(reflection),
            items=reflection.action_items,
        )


def _reflection_facts(reflection: "Reflection") -> list[tuple[str, str]]:
    return [
        ("when", f"{_format_time(reflection.timestamp)}, {TRIGGERS[reflection.triggered_by]}"),
        ("kind", in_words(reflection.reflection_type)),
        ("observation", reflection.observation or ""),
        ("analysis", reflection.analysis or ""),
        ("learning", reflection.learning),
    ]


def _best_quality(attempt: "Attempt") -> float | None:
    return max((step.quality for step in attempt.execution.quality_history), default=None)


def _percent_text(points: float | None) -> str:
    return "—" if points is None else percent(points)


def _money_text(usd: float | None) -> str:
    return "—" if usd is None else money(usd)


def _format_time(moment: str | datetime) -> str:
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return f"{at.astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return str(moment)
