"""Runs as event lists, for screens and measurements.

The test plays the agent and the completion command, the loop decides, and every moment is known.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from ralph_tui import events as ev
from ralph_tui.events.run import Outcome
from ralph_tui.events.workspace import FileChange, Trigger
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.loop.steps.watchdog import Watchdog
from tests.world.world import World

START = datetime(2026, 3, 14, 9, 26, 0, tzinfo=UTC)
OBJECTIVE = "Fix the failing parser tests"
TOTAL = 66
"""Tests."""

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


def tail(passed: int, took: float) -> str:
    """The end of what pytest prints."""
    if passed == TOTAL:
        return f"............\n{passed} passed, 2 skipped in {took:.2f}s\n"
    return (
        "....F..F....\n"
        "FAILED tests/test_nested.py::test_nested_groups - assert 3 == 4\n"
        f"{TOTAL - passed} failed, {passed} passed, 2 skipped in {took:.2f}s\n"
    )


class Recorder:
    """Feeds a run event by event to a loop, which decides as in a real run."""

    def __init__(self, max_iterations: int = 10, **fields: Any) -> None:
        asked_for: dict[str, Any] = {
            "run_id": "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11",
            "task": "task-001",
            "attempt": "001",
            "root": "/home/ada/parser",
            "objective": OBJECTIVE,
            "command": "python -m pytest -q",
            "agent": "claude",
            "mode": "attended",
            "max_iterations": max_iterations,
            "session_timeout_s": 28_800,
            "pid": 4242,
        }
        self.world = World([], began=START, **asked_for | fields)
        self.loop = self.world.loop
        self.iteration = self.loop.iteration
        self.world.host.record = self._said
        self.snapshots = 0
        self.add(self.loop.start)

    @property
    def events(self) -> list[ev.Event]:
        """The events so far."""
        return self.world.events

    @property
    def at(self) -> datetime:
        """The time that it is."""
        return self.world.host.clock.now()

    def wait(self, **span: float) -> None:
        """Let time pass; `span` as for ``timedelta``."""
        self.world.host.clock.seconds += timedelta(**span).total_seconds()

    def add(self, event: ev.Event, after: float = 0.4) -> None:
        """Record an event, so many seconds after the one before."""
        self.wait(seconds=after)
        self.world.record(event)

    def _said(self, event: ev.Event) -> None:
        """Record what the loop itself says; a question is called q1."""
        asks = isinstance(event, ev.QuestionAsked)
        self.add(event.model_copy(update={"question_id": "q1"}) if asks else event)

    def step(self, iteration: int, step: int) -> None:
        """The loop enters a step."""
        self.add(self.iteration.step_event(iteration, step), 0.05)

    def gate(self, iteration: int, points: float, took: float = 12.0) -> None:
        """Pass this percentage of the tests in the completion command and measure it."""
        passed = round(points / 100 * TOTAL)
        self.add(ev.GateStarted(iteration=iteration, command="python -m pytest -q"))
        failing = ["tests/test_nested.py::test_nested_groups", "tests/test_quotes.py::test_open"]
        self.add(
            ev.GateFinished(
                iteration=iteration,
                ok=points >= 100,
                exit_code=0 if points >= 100 else 1,
                duration_s=took,
                runner="pytest",
                passed=passed,
                failed=TOTAL - passed,
                skipped=2,
                failing=failing if points < 100 else [],
                tail=tail(passed, took),
                log="results/iter-001/verification.log",
            ),
            took,
        )
        self.add(
            ev.ReadingTaken(
                iteration=iteration, completion=points, source="tests", passed=passed, total=TOTAL
            )
        )

    def baseline(self, points: float = 0.0) -> None:
        """Measure before iteration 1."""
        self.step(0, 0)
        self.gate(0, points)
        self.iteration.governor.begin(points)
        self.checkpoint(0, 1, "start")

    def checkpoint(self, iteration: int, number: int, trigger: Trigger, note: str = "") -> None:
        """A checkpoint with a snapshot of its own."""
        self.snapshot(iteration)
        self.captured(iteration, number, trigger, note)

    def snapshot(self, iteration: int) -> None:
        """The next snapshot."""
        self.snapshots += 1
        commit = f"{self.snapshots:040x}"
        self.add(
            ev.SnapshotTaken(
                iteration=iteration,
                number=self.snapshots,
                ref=f"refs/ralph/x/{self.snapshots:03}",
                commit=commit,
                tree=commit,
            )
        )

    def captured(
        self, iteration: int, number: int, trigger: Trigger, note: str = "", after: float = 0.4
    ) -> None:
        self.add(
            ev.CheckpointCaptured(
                iteration=iteration,
                number=number,
                trigger=trigger,
                snapshot=self.snapshots,
                files=number,
                note=note,
            ),
            after,
        )

    def files(self, iteration: int, size: int, *, live: bool, after: float = 0.4) -> None:
        """`size` more files than one have changed."""
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
        latest = changes[-1].path
        self.add(files_changed(iteration, changes, live=live, latest=latest), after)

    def open(self, k: int, *, tells_context: bool = True, agent: str = "claude") -> None:
        """Steps 3 to 10: the prompt is written, a session starts."""
        self.add(
            ev.IterationStarted(iteration=k, max_iterations=self.world.state.run.max_iterations)
        )
        self.step(k, 3)
        self.iteration.strategist.plan(k)
        for step in (4, 5, 6, 7, 8):
            self.step(k, step)
        self.iteration.strategist.before(k)
        self.step(k, 9)
        evaluation = self.iteration.governor.evaluation
        self.add(
            ev.PromptPrepared(
                iteration=k,
                path=f"results/iter-{k:03}/prompt.md",
                urgency=evaluation.signal.urgency if evaluation else "normal",
                characters=3214,
            )
        )
        self.step(k, 10)
        self.checkpoint(k, 1, "start")
        self.add(
            ev.SessionStarted(
                iteration=k,
                session_id=f"session-{k}",
                agent=agent,
                takes_guidance=True,
                tells_context=tells_context,
                transcript=f"results/iter-{k:03}/transcript.jsonl",
            )
        )
        self.add(
            ev.SessionDescribed(
                iteration=k,
                model="sonnet",
                permission_mode=self.loop.start.permissions,
                billing="api",
            ),
            2,
        )

    def tool(self, k: int, name: str, what: str, result: str, took: float, **fields: Any) -> None:
        tool_id = f"call-{len(self.events)}"
        parent = fields.pop("parent", None)
        self.add(
            ev.ToolStarted(iteration=k, tool_id=tool_id, tool=name, summary=what, parent=parent), 3
        )
        self.add(
            ev.ToolFinished(
                iteration=k,
                tool_id=tool_id,
                ok=fields.get("ok", "failed" not in result),
                summary=result,
                duration_s=took,
            ),
            took,
        )

    def work(self, k: int, calls: int = 7, stretch: float = 20.0) -> None:
        """The agent makes so many calls; `stretch`: seconds that pass after each."""
        self.add(ev.AgentSpoke(iteration=k, text=WORDS[k % 3]), 5)
        for index, (name, what, result, took) in enumerate(WORK[:calls]):
            self.tool(k, name, what, result, took)
            self.wait(seconds=stretch)
            if index == 3:
                self.files(k, 1, live=True)
                self.usage(k, 0.12)
        self.files(k, 2, live=True)
        self.usage(k, 0.24)

    def usage(self, k: int, cost: float) -> None:
        self.add(
            ev.UsageReported(
                iteration=k,
                tokens=int(cost * 500_000),
                context_tokens=int(60_000 + cost * 250_000),
                context_window=200_000,
                cost_usd=cost,
            )
        )

    def close(self, k: int, points: float, cost_usd: float | None = 0.26) -> None:
        """Steps 10 to 17: the session ends, and what it came to is measured and recorded."""
        self.end_session(k, points, cost_usd)
        self.gate(k, points)
        self.iteration.strategist.after(k)
        self.step(k, 12)
        self.iteration.detector.detect(k)
        self.step(k, 17)
        self.add(self.iteration.recorder.finished(k))

    def end_session(self, k: int, points: float, cost_usd: float | None = 0.26) -> None:
        """The agent reports and ends its turn; step 11 begins."""
        self.add(
            ev.AgentReported(
                iteration=k,
                completion=min(100, points + 20),
                summary="carried the quote state",
                next="nested groups",
            )
        )
        self.add(
            ev.SessionFinished(
                iteration=k,
                outcome="success",
                exit_code=0,
                duration_s=190,
                cost_usd=cost_usd,
                tokens=140_000,
                turns=9,
                tool_calls=7,
            )
        )
        self.snapshot(k)
        self.files(k, 3, live=False, after=0.8)
        self.captured(k, 2, "end", after=0)
        self.step(k, 11)

    def silence(self, k: int) -> None:
        """Ten minutes without a sign of life; the watchdog asks."""
        watchdog = Watchdog(k, self.iteration.run, self.iteration.asker)
        watchdog.watch()  # what was heard last
        self.wait(minutes=10)
        watchdog.watch()

    def iterations(self, *series: float, first: int = 1) -> None:
        """Whole iterations, which end at these completions."""
        for k, points in enumerate(series, start=first):
            self.open(k)
            self.work(k)
            self.close(k, points)

    def end(self, outcome: Outcome, reason: str) -> None:
        """Close the run as the loop does."""
        self.loop.close(outcome, reason)
