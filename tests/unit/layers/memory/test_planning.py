"""A plan cites what it rests on, and says no more than is known."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.past import PastReflection, RelatedTask
from ralph_tui.layers.memory.planning import MOST_STEPS, plan

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
    made = plan("Fix it", "pytest", "bug-fix", [], [], [])
    assert (
        made.approach == "Work in iterations, each measured, until the completion command passes."
    )
    assert (made.steps, made.cites, made.related) == ([], [], [])
    assert made.estimated_iterations is None
    assert made.estimate_from == 0


def test_a_further_attempt_takes_up_the_lessons_of_the_earlier_ones() -> None:
    made = plan("Fix it", "pytest", "bug-fix", [FAILED], [estimate(3.5, 6)], [])
    assert made.steps == ["Measure first. Look at the lexer."]
    assert made.cites == ["task-001/001 #1"]
    assert "1 earlier attempt of this task left a lesson" in made.approach
    assert (made.estimated_iterations, made.estimate_from) == (3, 6)


def test_tasks_like_it_say_how_long_it_takes_better_than_its_kind_does() -> None:
    alike = RelatedTask("task-007", "Repair it", (4, 5), (FAILED,))
    made = plan("Fix it", "", "bug-fix", [], [estimate(9, 30)], [alike])
    assert (made.estimated_iterations, made.estimate_from) == (4, 2)
    assert made.related == ["task-007"]
    assert made.cites == ["task-001/001 #1"]
    assert "the criterion is met" in made.approach


def test_an_estimate_of_another_kind_of_task_says_nothing() -> None:
    made = plan("Fix it", "x", "bug-fix", [], [estimate(9, 30, "feature")], [])
    assert made.estimated_iterations is None


@given(st.lists(st.builds(PastReflection, st.text(max_size=9), st.just("failure"), st.text())))
def test_every_step_is_cited_and_none_is_said_twice(said: list[PastReflection]) -> None:
    made = plan("Fix it", "x", "bug-fix", said, [], [])
    assert len(made.steps) == len(made.cites) <= MOST_STEPS
    assert len({one.learning for one in said}) >= len(made.steps)
