"""Runs as event lists, with the controller's real answers and deterministic times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ralph_tui.events import (
    AgentReported,
    AgentSpoke,
    CheckpointCaptured,
    Event,
    FilesChanged,
    GateFinished,
    GateStarted,
    IterationFinished,
    IterationStarted,
    PromptPrepared,
    ReadingTaken,
    RunFinished,
    RunStarted,
    SessionDescribed,
    SessionFinished,
    SessionStarted,
    SnapshotTaken,
    StepEntered,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.control import Budget, Evaluation, History, Sample, evaluate
from ralph_tui.loop.iteration import STEPS

START = datetime(2026, 3, 14, 9, 26, 0, tzinfo=UTC)
OBJECTIVE = "Fix the failing parser tests"
TOTAL = 66

WORK: tuple[tuple[str, str, str, float], ...] = (
    ("Read", "ralph_parser/lexer.py", "212 lines", 1),
    ("Grep", "quote_state", "9 matches in 3 files", 1),
    ("Edit", "ralph_parser/lexer.py", "+9 −4", 2),
    ("Bash", "python -m pytest -q tests/test_lexer.py", "2 failed, 17 passed", 6),
    ("Read", "ralph_parser/groups.py", "148 lines", 1),
    ("Edit", "ralph_parser/groups.py", "+22 −7", 3),
    ("Write", "tests/test_nested.py", "41 lines", 2),
)
WORDS = (
    "The quote state is lost when a group closes; I will carry it in the token.",
    "Nested groups recurse without the escape flag. Fixing the lexer alone will not do: the "
    "parser asks for the flag after the token was consumed, so both must agree on who owns it.",
    "One test still fails because the fixture has a trailing newline.",
)


class Recorder:
    """Stamps events one after the other."""

    def __init__(self, max_iterations: int = 10, **fields: Any) -> None:
        self.at = START
        self.events: list[Event] = []
        self.max_iterations = max_iterations
        self.history = History(0.0)
        self.evaluation: Evaluation | None = None
        self.snapshots = 0
        self.add(
            RunStarted(
                **{
                    "run_id": "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11",
                    "task": "task-001",
                    "attempt": "001",
                    "root": "/home/ada/parser",
                    "objective": OBJECTIVE,
                    "command": "python -m pytest -q",
                    "agent": "claude",
                    "max_iterations": max_iterations,
                    "session_timeout_s": 28_800,
                    "pid": 4242,
                }
                | fields
            )
        )

    def add(self, event: Event, after: float = 0.4) -> None:
        self.at += timedelta(seconds=after)
        self.events.append(event.model_copy(update={"seq": len(self.events) + 1, "at": self.at}))

    def step(self, iteration: int, step: int) -> None:
        self.add(StepEntered(iteration=iteration, step=step, name=STEPS.get(step, "step")), 0.05)

    def gate(self, iteration: int, points: float, took: float = 12.0) -> None:
        passed = round(points / 100 * TOTAL)
        self.add(GateStarted(iteration=iteration, command="python -m pytest -q"))
        failing = ["tests/test_nested.py::test_nested_groups", "tests/test_quotes.py::test_open"]
        self.add(
            GateFinished(
                iteration=iteration,
                ok=points >= 100,
                exit_code=0 if points >= 100 else 1,
                duration_s=took,
                runner="pytest",
                passed=passed,
                failed=TOTAL - passed,
                skipped=2,
                failing=failing if points < 100 else [],
                tail="....F..F....\n"
                "FAILED tests/test_nested.py::test_nested_groups - assert 3 == 4\n"
                f"{TOTAL - passed} failed, {passed} passed, 2 skipped in {took:.2f}s\n",
                log="results/iter-001/verification.log",
            ),
            took,
        )
        self.add(
            ReadingTaken(
                iteration=iteration,
                completion=points,
                source="tests",
                passed=passed,
                total=TOTAL,
            )
        )

    def baseline(self, points: float = 0.0) -> None:
        self.step(0, 0)
        self.gate(0, points)
        self.history = History(points)
        self.checkpoint(0, 1, "start")

    def checkpoint(self, iteration: int, number: int, trigger: Any, **fields: Any) -> None:
        self.snapshots += 1
        commit = f"{self.snapshots:040x}"
        self.add(
            SnapshotTaken(
                iteration=iteration,
                number=self.snapshots,
                ref=f"refs/ralph/x/{self.snapshots:03}",
                commit=commit,
                tree=commit,
            )
        )
        self.add(
            CheckpointCaptured(
                iteration=iteration,
                number=number,
                trigger=trigger,
                snapshot=self.snapshots,
                files=number,
                **fields,
            )
        )

    def files(self, iteration: int, size: int, *, live: bool) -> None:
        changes = [
            FileChange(
                path="ralph_parser/lexer.py",
                status="modified",
                category="source",
                added=9 * size,
                removed=4,
            ),
            FileChange(
                path="ralph_parser/groups.py",
                status="modified",
                category="source",
                added=22,
                removed=7,
            ),
            FileChange(path="tests/test_nested.py", status="added", category="test", added=41),
            FileChange(path="pyproject.toml", status="modified", category="config", added=2),
        ][: size + 1]
        names = dict.fromkeys(change.category for change in changes)
        totals = [
            CategoryTotal(
                category=name,
                files=sum(c.category == name for c in changes),
                added=sum(c.added for c in changes if c.category == name),
                removed=sum(c.removed for c in changes if c.category == name),
            )
            for name in names
        ]
        self.add(
            FilesChanged(
                iteration=iteration,
                live=live,
                totals=totals,
                changes=changes,
                latest=changes[-1].path,
            )
        )

    def open(self, k: int) -> None:
        self.add(IterationStarted(iteration=k, max_iterations=self.max_iterations))
        for step in (4, 5, 6, 7, 9):
            self.step(k, step)
        self.add(
            PromptPrepared(
                iteration=k,
                path=f"results/iter-{k:03}/prompt.md",
                urgency=self.evaluation.signal.urgency if self.evaluation else "normal",
                characters=3214,
            )
        )
        self.step(k, 10)
        self.checkpoint(k, 1, "start")
        self.add(
            SessionStarted(
                iteration=k,
                session_id=f"session-{k}",
                agent="claude",
                takes_guidance=True,
                transcript=f"results/iter-{k:03}/transcript.jsonl",
            )
        )
        self.add(
            SessionDescribed(iteration=k, model="sonnet", permission_mode="edits", billing="api"), 2
        )

    def tool(self, k: int, name: str, what: str, result: str, took: float, **fields: Any) -> None:
        tool_id = f"call-{len(self.events)}"
        parent = fields.pop("parent", None)
        self.add(
            ToolStarted(iteration=k, tool_id=tool_id, tool=name, summary=what, parent=parent), 3
        )
        self.add(
            ToolFinished(
                iteration=k,
                tool_id=tool_id,
                ok=fields.get("ok", "failed" not in result),
                summary=result,
                duration_s=took,
            ),
            took,
        )

    def work(self, k: int, calls: int = 7, stretch: float = 20.0) -> None:
        self.add(AgentSpoke(iteration=k, text=WORDS[k % 3]), 5)
        for index, (name, what, result, took) in enumerate(WORK[:calls]):
            self.tool(k, name, what, result, took)
            self.at += timedelta(seconds=stretch)
            if index == 3:
                self.files(k, 1, live=True)
                self.usage(k, 0.12)
        self.files(k, 2, live=True)
        self.usage(k, 0.24)

    def usage(self, k: int, cost: float) -> None:
        self.add(
            UsageReported(
                iteration=k,
                tokens=int(cost * 500_000),
                context_tokens=int(60_000 + cost * 250_000),
                context_window=200_000,
                cost_usd=cost,
            )
        )

    def close(self, k: int, points: float, *, cost: float = 0.26) -> None:
        self.add(
            AgentReported(
                iteration=k,
                completion=min(100, points + 20),
                summary="carried the quote state",
                next="nested groups",
            )
        )
        self.add(
            SessionFinished(
                iteration=k,
                outcome="success",
                exit_code=0,
                duration_s=190,
                cost_usd=cost,
                tokens=140_000,
                turns=9,
                tool_calls=7,
            )
        )
        self.checkpoint(k, 2, "end")
        self.files(k, 3, live=False)
        self.step(k, 11)
        self.gate(k, points)
        self.step(k, 12)
        self.history.add(Sample(k, points))
        budget = Budget(self.max_iterations, TOTAL)
        self.evaluation = evaluate(self.history, budget, previous=self.evaluation)
        self.add(self.evaluation.signal)
        for raised in self.evaluation.raised:
            self.add(raised)
        for cleared in self.evaluation.cleared:
            self.add(cleared)
        self.step(k, 17)
        self.add(
            IterationFinished(
                iteration=k,
                status="incomplete" if points < 100 else "completed",
                completion=points,
                gate_ok=points >= 100,
                duration_s=230,
                cost_usd=cost,
                tokens=140_000,
                tool_calls=7,
                files=4,
                added=83,
                removed=11,
            )
        )

    def iterations(self, *series: float, first: int = 1) -> None:
        for k, points in enumerate(series, start=first):
            self.open(k)
            self.work(k)
            self.close(k, points)

    def end(self, outcome: Any, reason: str) -> None:
        readings = [e for e in self.events if isinstance(e, ReadingTaken)]
        best = max(readings, key=lambda reading: reading.completion)
        self.add(
            RunFinished(
                outcome=outcome,
                reason=reason,
                iterations=readings[-1].iteration,
                completion=readings[-1].completion,
                best=best.completion,
                best_iteration=best.iteration,
                duration_s=(self.at - START).total_seconds(),
                cost_usd=0.26 * readings[-1].iteration,
                tokens=140_000 * readings[-1].iteration,
            )
        )
