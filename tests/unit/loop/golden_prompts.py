"""Runs whose prompts are stored whole in `golden/`, because wording needs a reader.

Run ``python -m tests.unit.loop.golden_prompts`` to rewrite them, and read each changed one aloud.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.commands import Guide, Instruct
from ralph_tui.config.settings import Settings
from ralph_tui.events.memory import Learning
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.intelligence import IntelligenceSettings, Traces
from ralph_tui.layers.memory.past import PastReflection
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.ports.knowledge import NoPastRuns
from tests.unit.loop.steps.test_memory import Remembered
from tests.world import World
from tests.world.agents import FakeAsker, FakeSession
from tests.world.owner import answer, first

GOLDEN = Path(__file__).parent / "golden"
TAIL = """\
tests/test_groups.py::test_plain PASSED                                  [ 10%]
tests/test_groups.py::test_nested FAILED                                 [ 20%]
=================================== FAILURES ===================================
__________________________________ test_nested _________________________________
    def test_nested():
>       assert parse("((a))") == Group(Group("a"))
E       assert Group('(a)') == Group(Group('a'))
tests/test_groups.py:31: AssertionError
=========================== short test summary info ============================
FAILED tests/test_groups.py::test_nested - assert Group('(a)') == Group(Group('a'))
"""


def run_of(passed: Sequence[int], **more: object) -> World:
    fields = {"objective": "Make nested groups parse", "mode": "attended", **more}
    world = World(list(passed), **fields)  # type: ignore[arg-type]
    world.gate.tail = TAIL
    world.test_files = ["tests/test_groups.py", "tests/test_lexer.py"]
    return world


def working(
    summary: str,
    following: str,
    *,
    at: float | None = None,
    blockers: Sequence[str] = (),
    promises: bool = False,
) -> Callable[[FakeSession], None]:
    """Act: edit a file, run the tests, report."""

    def act(session: FakeSession) -> None:
        k = session.iteration
        for number, (tool, what) in enumerate([("Edit", "parser.py"), ("Bash", "pytest -q")]):
            session.emit(ev.ToolStarted(iteration=k, tool_id=f"{number}", tool=tool, summary=what))
            session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=True))
        session.emit(
            ev.AgentReported(
                iteration=k, completion=at, summary=summary, blockers=list(blockers), next=following
            )
        )
        if promises:
            session.emit(ev.PromiseMade(iteration=k))
        session.finish()

    return act


STEADY = [
    working("Split the reader into tokens and groups.", "parse two levels", at=30),
    working("Two levels parse.", "any number of levels", at=55),
    working("Recursion works but for escapes.", "escapes inside of groups", at=70),
]
FLAT = [
    working("Rewrote the regular expression.", "another regular expression", at=60),
    working("Tried a possessive quantifier.", "balance groups by hand", at=60),
    working("Tried a lookahead.", "one more lookahead", at=65),
    working("Tried two lookaheads.", "a third lookahead", at=65),
]


def initial() -> str:
    return run_of([3, 10]).run().agent.prompts[0]


def continuation() -> str:
    world = run_of([2, 4, 6, 10])
    world.agent.acts.extend(STEADY)
    return world.run().agent.prompts[2]


def guided() -> str:
    world = run_of([2, 4, 6, 10])
    world.agent.acts.extend(STEADY)
    world.host.inbox.append(Instruct(text="Leave the public names as they are."))
    for event in world.steps():
        if event.kind == "iteration_finished" and len(world.agent.prompts) == 2:
            world.host.inbox.append(Guide(text="Look at `lexer.py` first."))
    return world.agent.prompts[2]


def stuck_pivot() -> str:
    world = run_of([0, 3, 3, 3, 3, 10])
    world.agent.acts.extend(FLAT)
    return world.play(answer("decline")).agent.prompts[4]


def stuck_redirected() -> str:
    world = run_of([0, 3, 3, 3, 3, 10])
    world.agent.acts.extend(FLAT)
    return world.play(answer("approve")).agent.prompts[4]


def regressing() -> str:
    world = run_of([0, 7, 6, 5, 8, 10])
    world.agent.acts.extend(STEADY)
    return world.play(answer("decline")).agent.prompts[3]


def after_a_roll_back() -> str:
    world = run_of([0, 7, 6, 5, 8, 10])
    world.agent.acts.extend(STEADY)
    return world.play(answer("roll_back")).agent.prompts[3]


def claimed_but_unverified() -> str:
    world = run_of([2, 6, 8, 10])
    claims = working("All groups parse.", "", at=100, promises=True)
    world.agent.acts.extend([STEADY[0], claims])
    return world.run().agent.prompts[2]


def turning_around(session: FakeSession) -> None:
    """Act: exchange two versions of a line, again and again."""
    k = session.iteration
    for number, (old, new) in enumerate([("greedy", "lazy"), ("lazy", "greedy")] * 2):
        call = {"file_path": "parser.py", "old_string": old, "new_string": new}
        session.emit(
            ev.ToolStarted(
                iteration=k, tool_id=f"{number}", tool="Edit", summary="parser.py", params=call
            )
        )
        session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=True))
    session.finish()


def reading(session: FakeSession) -> None:
    """Act: read files, and edit none."""
    k = session.iteration
    for number in range(12):
        session.emit(
            ev.ToolStarted(
                iteration=k, tool_id=f"{number}", tool="Read", summary=f"part_{number}.py"
            )
        )
        session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=True))
    session.finish()


def edited_back_and_forth() -> str:
    world = run_of([2, 4, 10])
    world.agent.acts.append(turning_around)
    world.workspace.changed = [
        FileChange(path="parser.py", status="modified", category="source", added=1),
        FileChange(path="tests/test_groups.py", status="modified", category="test", added=1),
    ]
    world.traces = Traces(artifacts=(".aiwg/specs/groups.md",))
    return world.run().agent.prompts[1]


def only_read() -> str:
    world = run_of([2, 2, 10])
    world.agent.acts.append(reading)
    world.workspace.changed = []
    return world.run().agent.prompts[1]


class TwoAttempts(NoPastRuns):
    """Earlier attempts at the task."""

    def reflections(self) -> Sequence[PastReflection]:
        return [
            PastReflection("task-001/001 #1", "failure", "Look at the lexer before the parser."),
            PastReflection("task-001/002 #1", "failure", "Iteration 3 lost 6 points: go slowly."),
        ]  # fmt: skip


def retry_with_reflections() -> str:
    taught = Learning(
        learning_id="learn-1",
        type="strategy",
        task_type="feature",
        text="Run one test at a time.",
        confidence=0.9,
    )
    world = run_of([3, 10], knowledge=Remembered(taught), past_runs=TwoAttempts())
    return world.run().agent.prompts[0]


def after_a_judges_no() -> str:
    asker = FakeAsker()
    asker.answers.append({"met": False, "reason": "The file samples/deep.txt is not read yet."})
    settings = Settings(intelligence=IntelligenceSettings(model_judge=True))
    criterion = "the parser reads every file in samples/"
    world = run_of([], criterion=criterion, asker=asker, settings=settings, max_iterations=2)
    world.agent.acts.append(working("Every sample parses.", "", at=100, promises=True))
    return world.run().agent.prompts[1]


def with_a_plan() -> str:
    world = run_of([2, 4, 10], plan="PLAN.md")
    items = (("read groups", True), ("nest groups", False), ("report errors [simple]", False))
    world.plan = Progress(1, 4, (*items, ("rewrite the scanner [very complex]", False)))
    return world.run().agent.prompts[1]


def fills_its_window(session: FakeSession) -> None:
    """Act: half of the work, guidance from the user, and a full window."""
    k = session.iteration
    session.emit(ev.GuidanceQueued(guidance_id="g", text="Leave `escape()` as it is."))
    session.emit(ev.GuidanceDelivered(guidance_id="g", into="session"))
    calls = [("Read", "parser.py"), ("Edit", "lexer.py"), ("Edit", "parser.py")]
    for number, (tool, what) in enumerate(calls):
        session.emit(ev.ToolStarted(iteration=k, tool_id=f"{number}", tool=tool, summary=what))
        session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=True))
    session.emit(ev.AgentSpoke(iteration=k, text="Two levels parse; deeper ones lose a bracket."))
    session.emit(ev.ToolStarted(iteration=k, tool_id="t", tool="Bash", summary="pytest -q"))
    session.emit(ev.UsageReported(iteration=k, context_tokens=174_000, context_window=200_000))
    session.emit(ev.ToolFinished(iteration=k, tool_id="t", ok=False, summary="exit 1"))


DIFF = """\
diff --git a/lexer.py b/lexer.py
--- a/lexer.py
+++ b/lexer.py
@@ -88,2 +88,3 @@
 before
+one line
 after
diff --git a/parser.py b/parser.py
--- a/parser.py
+++ b/parser.py
@@ -44,2 +44,4 @@
 before
+one line
+and another
 after
"""


def half_way() -> World:
    """Its first session filled its window; it had a plan."""
    world = run_of([2, 4, 10], plan="PLAN.md")
    world.plan = Progress(1, 3, (("read groups", True), ("nest groups", False), ("errors", False)))
    world.workspace.difference = DIFF
    world.workspace.changed = [
        FileChange(path="lexer.py", status="modified", category="source", added=1),
        FileChange(path="parser.py", status="modified", category="source", added=2),
    ]
    world.agent.acts.append(fills_its_window)
    return world


def taking_over() -> str:
    return half_way().run().agent.prompts[1]


def windows_fill() -> str:
    """Its second session filled its window, too."""
    world = half_way()
    world.agent.acts.append(fills_its_window)
    return world.run().agent.prompts[2]


def taking_over_after_a_kill() -> str:
    whole = half_way().run()
    written = next(event.seq for event in whole.events if event.kind == "handoff_written")
    later = run_of([4, 10], past=whole.events[:written], plan="PLAN.md")
    later.host.clock.seconds = whole.host.clock.seconds + 60
    later.workspace.taken = [""] * 2
    return later.play(
        first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h"))
    ).agent.prompts[0]


def all_of_it_at_budget_1000() -> str:
    """More than fits: 150 failing tests, long output, long reports, knowledge, guidance."""
    settings = Settings(intelligence=IntelligenceSettings(prompt_budget_tokens=1000))
    world = run_of([0, 3, 3, 3, 3, 10], settings=settings, past_runs=TwoAttempts())
    world.gate.total = 150
    world.gate.tail = "\n".join(f"E  assert line {n} of the output is right" for n in range(90))
    world.agent.acts.extend(
        working(f"{act} " * 12, "continue in the same way " * 9, blockers=["no network " * 9])
        for act in ("Rewrote the expression.", "Tried again.", "Tried more.", "Tried less.")
    )
    world.host.inbox.append(Instruct(text="Leave the public names as they are."))
    return world.play(answer("approve")).agent.prompts[4]


CASES: dict[str, Callable[[], str]] = {
    case.__name__: case
    for case in (
        initial,
        continuation,
        guided,
        stuck_pivot,
        stuck_redirected,
        regressing,
        after_a_roll_back,
        claimed_but_unverified,
        edited_back_and_forth,
        only_read,
        retry_with_reflections,
        after_a_judges_no,
        with_a_plan,
        taking_over,
        taking_over_after_a_kill,
        windows_fill,
        all_of_it_at_budget_1000,
    )
}


if __name__ == "__main__":
    for name, case in CASES.items():
        (GOLDEN / f"{name}.md").write_text(case(), encoding="utf-8")
