"""A plan cites its sources, and states no more than is known."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records.aiwg.attempt import plan_text
from ralph_tui.events import GateFinished, RunStarted
from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.past import PastReflection, RelatedTask
from ralph_tui.layers.memory.planning import MAX_RELATED, MAX_STEPS, RELATED_STEPS, plan
from tests.examples import FEWER

FAILED = PastReflection("task-001/001 #1", "failure", "Measure first.", ("Look at the lexer.",))


def estimate(iterations: float, samples: int, task_type: str = "bug-fix") -> Learning:
    return Learning(
        learning_id=f"learn-{iterations}",
        type="estimate",
        task_type=task_type,
        text="",
        content={"estimatedIterations": iterations, "basedOnSamples": samples},
        confidence=0.7,
    )


def test_a_first_attempt_knows_nothing_and_says_so() -> None:
    made = plan("the completion command passes", "bug-fix", [], [], [])
    assert made.approach == "Kind of task: bug-fix. Work until the completion command passes."
    assert (made.steps, made.cites, made.related) == ([], [], [])
    assert made.estimated_iterations is None
    assert made.estimate_from == 0


def test_a_further_attempt_takes_up_the_lessons_of_the_earlier_ones() -> None:
    start = GateFinished(iteration=0, ok=False, failed=1, failing=["test_quotes"])
    until, expected = "the completion command passes", [estimate(3.5, 6)]
    again = PastReflection("task-001/001 #2", "failure", "Commit often.")
    made = plan(until, "bug-fix", [FAILED, again], expected, [], start=start)
    assert made.steps == ["Measure first. Look at the lexer.", "Commit often."]
    assert made.cites == ["task-001/001 #1", "task-001/001 #2"]
    assert made.approach == (
        "Kind of task: bug-fix. Work until the completion command passes. "
        "Failing at the start: test_quotes. The steps build on 1 earlier attempt at this task."
    )
    assert (made.estimated_iterations, made.estimate_from) == (4, 6)  # 3.5 is about 4
    second = PastReflection("task-001/002 #1", "failure", "Test more.")
    assert (
        "build on 2 earlier attempts" in plan(until, "bug-fix", [FAILED, second], [], []).approach
    )
    assert (
        plan(until, "general", [], [], []).approach == "Work until the completion command passes."
    )


def test_what_failed_at_the_start_is_named_and_makes_the_steps() -> None:
    names = ["t/a.py::x", "t/b.py::y", "t/a.py::z", "bare"]
    start = GateFinished(iteration=0, ok=False, runner="pytest", passed=3, failed=4, failing=names)
    made = plan("it passes", "general", [FAILED], [], [], (), start)
    assert made.approach.startswith("Work until it passes. Failing at the start: t/a.py::x, ")
    assert made.steps[1:] == [
        "Make the tests of t/a.py pass: 2 tests failed at the start.",
        "Make the tests of t/b.py pass: 1 test failed at the start.",
    ]
    assert made.cites == ["task-001/001 #1"], "steps that cite nothing come last"
    run = RunStarted(
        run_id="r", root="/r", objective="o", agent="command", max_iterations=3, session_timeout_s=1
    )
    text = plan_text(run, made)
    assert f"## Approach\n\n{made.approach}\n" in text
    listed = [f"{n}. {step}" for n, step in enumerate(made.steps, 1)]
    assert "## Steps\n\n" + "\n".join(listed) in text
    assert listed[0] == "1. Measure first. Look at the lexer."
    of_unittest = ["test_a (test_v.T.test_a)", "test_b (test_v.T)"]
    named = start.model_copy(update={"failing": of_unittest})
    assert plan("it passes", "general", [], [], [], (), named).steps == [
        "Make the tests of test_v.T pass: 2 tests failed at the start."
    ]
    broken = start.model_copy(update={"broken": "error: expected `;`"})
    lessons = [PastReflection(f"task-001/{n:03} #1", "failure", f"Lesson {n}.") for n in range(7)]
    assert plan("it passes", "general", lessons, [], [], (), start).steps == [
        *(f"Lesson {n}." for n in range(1, 7)),
        *made.steps[1:],
    ]
    unbuilt = plan("it passes", "general", [], [], [], (), broken)
    assert "The build is broken at the start: error: expected `;`." in unbuilt.approach
    assert unbuilt.steps == []
    many = start.model_copy(update={"failing": [f"t/{name}.py::x" for name in "abcddd"]})
    made = plan("it passes", "general", [], [], [], (), many)
    assert made.approach.endswith("t/d.py::x and 1 more."), "five are named"
    steps = made.steps
    assert len(steps) == 3
    assert steps[0] == "Make the tests of t/d.py pass: 3 tests failed at the start."
    passed = start.model_copy(update={"ok": True})
    assert plan("it passes", "general", [], [], [], (), passed).steps == []


def test_the_newest_lessons_are_taken_up_in_their_order_each_once() -> None:
    said = [PastReflection(f"task-001/{n:03} #1", "failure", f"Lesson {n}.") for n in range(9)]
    again = PastReflection("task-001/009 #2", "failure", "Lesson  4.\n")
    start = GateFinished(iteration=0, ok=False, failed=1, failing=["t/a.py::x"])
    made = plan("the completion command passes", "bug-fix", [*said, again], [], [], (), start)
    assert made.steps == [
        *(f"Lesson {n}." for n in (3, 5, 6, 7, 8, 4)),
        "Make the tests of t/a.py pass: 1 test failed at the start.",
    ]
    assert made.cites[-1] == "task-001/009 #2"
    assert "The steps build on 6 earlier attempts at this task" in made.approach
    tasks = [
        RelatedTask(
            f"task-00{n}",
            "alike",
            (),
            (PastReflection(f"task-00{n}/001 #1", "failure", f"Of {n}."),),
        )
        for n in (2, 3, 4)
    ]
    start = GateFinished(
        iteration=0,
        ok=False,
        failed=7,
        failing=[f"t/{name}.py::x{n}" for n, name in enumerate("abbbcdd")],
    )
    made = plan("the completion command passes", "bug-fix", said[:1], [], tasks, (), start)
    assert made.steps == [
        "Lesson 0.",
        "Of 2.",
        "Of 3.",
        "Make the tests of t/b.py pass: 3 tests failed at the start.",
        "Make the tests of t/d.py pass: 2 tests failed at the start.",
        "Make the tests of t/a.py pass: 1 test failed at the start.",
    ]


def test_what_says_nothing_or_the_same_is_no_step() -> None:
    blank = PastReflection("task-001/001 #1", "failure", " \n")
    alike = RelatedTask("task-007", "Repair it", (), (FAILED,))
    made = plan("the completion command passes", "bug-fix", [blank, FAILED], [], [alike])
    assert made.steps == ["Measure first. Look at the lexer."]


def test_earlier_attempts_of_the_task_itself_say_how_long_it_takes() -> None:
    alike = RelatedTask("task-007", "Repair it", (1,))
    made = plan("the criterion is met", "bug-fix", [], [estimate(9, 30)], [alike], [8, 6])
    assert (made.estimated_iterations, made.estimate_from) == (5, 3)
    alone = plan("the criterion is met", "bug-fix", [], [estimate(9, 30)], [], [8, 6])
    assert (alone.estimated_iterations, alone.estimate_from) == (7, 2)


def test_a_muted_estimate_is_not_used() -> None:
    muted = estimate(9, 30).model_copy(update={"muted": True})
    made = plan("x", "bug-fix", [], [muted, estimate(2, 3)], [])
    assert (made.estimated_iterations, made.estimate_from) == (2, 3)


def test_tasks_like_it_say_how_long_it_takes_better_than_its_kind_does() -> None:
    alike = RelatedTask("task-007", "Repair it", (4, 5), (FAILED,))
    made = plan("the criterion is met", "bug-fix", [], [estimate(9, 30)], [alike])
    assert (made.estimated_iterations, made.estimate_from) == (5, 2)  # 4.5
    assert made.related == ["task-007"]
    assert made.cites == ["task-001/001 #1"]
    assert "the criterion is met" in made.approach


def test_of_several_estimates_the_one_of_most_runs_counts() -> None:
    made = plan("x", "bug-fix", [], [estimate(9, 1), estimate(2, 3), estimate(7, 2)], [])
    assert (made.estimated_iterations, made.estimate_from) == (2, 3)


def test_an_estimate_of_another_kind_of_task_says_nothing() -> None:
    made = plan("x", "bug-fix", [], [estimate(9, 30, "feature")], [])
    assert made.estimated_iterations is None


SAID = st.builds(
    PastReflection, st.text(max_size=9), st.just("failure"), st.text(alphabet="ab \n", max_size=4)
)


@FEWER
@given(
    st.lists(SAID, max_size=12),
    st.lists(
        st.builds(
            RelatedTask,
            st.just("task-009"),
            st.text(max_size=5),
            st.lists(st.integers(1, 50), max_size=3).map(tuple),
            st.lists(SAID, max_size=2).map(tuple),
        ),
        max_size=7,
    ),
)
def test_every_step_is_cited_and_none_is_said_twice(
    said: list[PastReflection], related: list[RelatedTask]
) -> None:
    made = plan("x", "bug-fix", said, [], related)
    assert len(made.steps) == len(made.cites) <= MAX_STEPS + RELATED_STEPS
    assert all(step.strip() and "\n" not in step for step in made.steps)
    assert len(made.steps) == len(set(made.steps))
    assert len(made.related) <= MAX_RELATED
    assert (made.estimated_iterations is None) is not any(task.iterations for task in related)
