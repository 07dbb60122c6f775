"""Memory statistics: success rates, each attempt against the previous one, useful learnings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from ralph_tui.adapters.records.aiwg.records import Attempt
from ralph_tui.adapters.records.aiwg.tasks import read_attempt
from ralph_tui.adapters.records.folders import numbered, ralph_folder
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.knowledge import is_dropped
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.text.format import count, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import outcome_word

Verdict = Literal["helps", "on trial", "unlearned", "not judged"]
LISTED = 10
"""Maximum number of learnings and tasks listed in each group."""


@dataclass(frozen=True)
class AttemptResult:
    """The iterations that one attempt needed."""

    attempt: int
    outcome: str
    """Empty while the attempt is active, or if its end is unknown."""
    iterations: int

    @property
    def words(self) -> str:
        """The iterations and any outcome, such as ``4`` or ``10 (limit reached)``."""
        if self.outcome == "completed":
            return str(self.iterations)
        return f"{self.iterations} ({outcome_word(self.outcome) if self.outcome else 'not over'})"


@dataclass(frozen=True)
class Rate:
    """How often attempts of one kind completed, and how many iterations fit a context window."""

    attempts: int
    """Attempts that ended, except those that the user stopped."""
    completed: int
    per_window: float | None
    """Measured iterations per session; None if no record counts sessions."""

    @property
    def percent(self) -> float:
        """Share that completed."""
        return 100 * self.completed / self.attempts

    @property
    def words(self) -> str:
        """The rate, such as ``3 of 4 completed (75 %), 1.5 iterations per window``."""
        windows = (
            "" if self.per_window is None else (f", {self.per_window:.1f} iterations per window")
        )
        return f"{self.completed} of {self.attempts} completed ({percent(self.percent)}){windows}"


@dataclass(frozen=True)
class TaskAttempts:
    """A task with more than one attempt."""

    task: str
    description: str
    attempts: list[AttemptResult]


@dataclass(frozen=True)
class Comparison:
    """Attempt n against attempt n - 1: mean iterations, over tasks where both completed."""

    attempt: int
    tasks: int
    before: float
    after: float

    @property
    def words(self) -> str:
        """The comparison, such as ``2.0 fewer than`` or ``as many as``."""
        difference = f"{abs(self.before - self.after):.1f}"
        if difference == "0.0":
            return "as many as"
        return f"{difference} {'fewer' if self.after < self.before else 'more'} than"


@dataclass
class Stats:
    """The content of `memory stats`."""

    rates: dict[str, Rate] = field(default_factory=dict)
    """Success rates, by the kind of attempt in words."""
    tasks: list[TaskAttempts] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    learnings: list[tuple[Learning, Verdict]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "success": {kind: asdict(rate) for kind, rate in self.rates.items()},
            "comparisons": [asdict(one) for one in self.comparisons],
            "tasks": [asdict(one) for one in self.tasks],
            "learnings": [
                {**learning.model_dump(mode="json", exclude={"content"}), "verdict": verdict}
                for learning, verdict in self.learnings
            ],
        }

    def lines(self) -> Iterator[str]:
        yield "Success of attempts"
        yield from self._rate_lines()
        yield ""
        yield "Attempts compared with the previous one, in iterations"
        yield from self._attempt_lines()
        yield ""
        yield "Judged learnings"
        yield from self._learning_lines()

    def _rate_lines(self) -> Iterator[str]:
        if not self.rates:
            yield "  no attempt has ended yet"
        for kind, rate in self.rates.items():
            yield f"  {kind}: {rate.words}"

    def _attempt_lines(self) -> Iterator[str]:
        if not self.tasks:
            yield "  no task has two attempts yet"
        for one in self.comparisons:
            yield (
                f"  attempt {one.attempt}: {one.words} attempt {one.attempt - 1} "
                f"({one.before:.1f} to {one.after:.1f}; {count(one.tasks, 'task')})"
            )
        if self.tasks and not self.comparisons:
            yield "  no two attempts in a row completed yet"
        for task in self.tasks[-LISTED:]:
            needed = ", ".join(attempt.words for attempt in task.attempts)
            yield f"  {task.task}: {needed}  {clip(task.description, 40)}"
        if len(self.tasks) > LISTED:
            yield f"  and {count(len(self.tasks) - LISTED, 'older task')}"

    def _learning_lines(self) -> Iterator[str]:
        by_verdict: dict[Verdict, list[Learning]] = defaultdict(list)
        for learning, verdict in self.learnings:
            by_verdict[verdict].append(learning)
        titles: dict[Verdict, str] = {
            "helps": "proven to help",
            "on trial": "not helpful so far",
            "unlearned": "not helpful, no longer used",
        }
        for verdict, title in titles.items():
            found = by_verdict[verdict]
            if found:
                yield f"  {len(found)} {title}:"
            for learning in found[:LISTED]:
                help_text = learning.helped
                yield f"    {learning.learning_id}  {help_text:<22} {clip(learning.saying, 32)}"
            if len(found) > LISTED:
                yield f"    and {len(found) - LISTED} more"
        if len(by_verdict["not judged"]) == len(self.learnings):
            yield "  none yet"
        if unjudged := len(by_verdict["not judged"]):
            yield f"  {count(unjudged, 'learning')} not judged yet"


def compute_stats(root: Path, learnings: Sequence[Learning], rules: MemorySettings) -> Stats:
    """Compute the statistics from a worktree's records and its learnings."""
    tasks = list(_read_tasks(root))
    repeated = [_task_attempts(name, attempts) for name, attempts in tasks if len(attempts) > 1]
    ended = [one for _, attempts in tasks for one in attempts if _is_counted(one)]
    ranked = sorted(learnings, key=lambda one: (-one.successes, one.uses, one.learning_id))
    judged = [(one, _judge(one, rules)) for one in ranked]
    return Stats(_rates(ended), repeated, _compare(repeated), judged)


def _read_tasks(root: Path) -> Iterator[tuple[str, list[Attempt]]]:
    for folder in numbered(ralph_folder(root) / "tasks"):
        read = map(read_attempt, numbered(folder / "attempts"))
        yield one_line(folder.name), [attempt for attempt in read if attempt is not None]


def _task_attempts(name: str, attempts: Sequence[Attempt]) -> TaskAttempts:
    described = one_line(attempts[-1].description)
    return TaskAttempts(name, described, [_attempt_result(one) for one in attempts])


def _is_counted(attempt: Attempt) -> bool:
    """True if the attempt ended, and not because the user stopped it."""
    return attempt.outcome is not None and attempt.outcome.outcome != "interrupted"


def _rates(ended: Sequence[Attempt]) -> dict[str, Rate]:
    kinds = {
        "first attempts": [one for one in ended if one.id == 1],
        "retries": [one for one in ended if one.id > 1],
        "with learnings": [one for one in ended if _used_learnings(one)],
        "without learnings": [one for one in ended if not _used_learnings(one)],
    }
    return {kind: _rate(found) for kind, found in kinds.items() if found}


def _used_learnings(attempt: Attempt) -> bool:
    return any(one.prompts for one in attempt.learnings if one.origin == "retrieved")


def _rate(attempts: Sequence[Attempt]) -> Rate:
    completed = sum(
        one.outcome is not None and one.outcome.outcome == "completed" for one in attempts
    )
    known = [one.execution for one in attempts if one.execution.sessions]
    sessions = sum(one.sessions for one in known)
    per_window = sum(one.measured for one in known) / sessions if sessions else None
    return Rate(len(attempts), completed, per_window)


def _attempt_result(attempt: Attempt) -> AttemptResult:
    outcome = attempt.outcome.outcome if attempt.outcome is not None else ""
    return AttemptResult(attempt.id, outcome, attempt.execution.measured)


def _compare(tasks: Sequence[TaskAttempts]) -> list[Comparison]:
    pairs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for task in tasks:
        done = {one.attempt: one.iterations for one in task.attempts if one.outcome == "completed"}
        for number, iterations in done.items():
            if number - 1 in done:
                pairs[number].append((done[number - 1], iterations))
    return [
        Comparison(number, len(found), *(mean(column) for column in zip(*found, strict=True)))
        for number, found in sorted(pairs.items())
    ]


def _judge(learning: Learning, rules: MemorySettings) -> Verdict:
    if not learning.uses:
        return "not judged"
    if is_dropped(learning, rules):
        return "unlearned"
    return "helps" if learning.successes else "on trial"
