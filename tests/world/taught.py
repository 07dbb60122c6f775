"""Runs that earlier ones have taught something, and that learn something themselves."""

from collections.abc import Callable

from ralph_tui import events as ev
from ralph_tui.events.memory import Learning, Retrieved
from tests.world.recorder import Recorder
from tests.world.stories import HOSTILE, kept

RUN_ONE = Retrieved(
    learning_id="learn-a1b2c3d4e5f6",
    type="strategy",
    task_type="test-fix",
    text="Run one failing test first, then trace it to its root cause before editing anything.",
    content={
        "approach": "Run one failing test first, then trace it to its root cause.",
        "toolSequence": ["Bash", "Grep", "Read", "Edit", "Bash"],
    },
    confidence=0.85,
    success_rate=0.82,
    uses=7,
    successes=6,
    runs=3,
    why="It is about test-fix tasks like this one, and it helped 6 of 7 times.",
    relevance=1.0,
    in_prompt=True,
)
LARGE = Retrieved(
    learning_id="learn-0b9a8c7d6e5f",
    type="antipattern",
    task_type="refactor",
    text="Large refactors across many files in one iteration.",
    content={
        "pattern": "Large refactors across many files in one iteration.",
        "consequence": "Tests break that passed before, and the cause is hard to find.",
        "alternative": "Move one function at a time, and run the tests after each.",
    },
    confidence=0.7,
    uses=2,
    successes=1,
    success_rate=0.667,
    runs=2,
    why="Its words are close to the objective: parser.",
    relevance=0.4,
    in_prompt=True,
)
ABOUT_FOUR = Retrieved(
    learning_id="learn-11aa22bb33cc",
    type="estimate",
    task_type="test-fix",
    text="About 4 iterations and 52 minutes.",
    content={"estimatedIterations": 4, "basedOnSamples": 6},
    confidence=0.75,
    runs=6,
    why="It is the estimate for test-fix tasks.",
    relevance=0.1,
)
FIXTURES = Retrieved(
    learning_id="learn-77ff66ee55dd",
    type="convention",
    task_type="general",
    text="In this project fixtures always end with a newline.",
    content={"convention": "In this project fixtures always end with a newline."},
    confidence=0.62,
    runs=1,
    standing="staged",
    why="One run has said it; it is tried here for the first time.",
    relevance=0.6,
    in_prompt=True,
)
QUOTES = Learning(
    learning_id="learn-4242abcdef00",
    type="strategy",
    task_type="test-fix",
    text="Carry the quote state in the token: the lexer alone cannot know it.",
    confidence=0.6,
    standing="staged",
)
RETRIEVED = [RUN_ONE, LARGE, FIXTURES, ABOUT_FOUR]


def look_up(run: Recorder, k: int, learnings: list[Retrieved]) -> None:
    """Step 2."""
    run.add(ev.LearningsRetrieved(iteration=k, task_type="test-fix", learnings=learnings))


def credit(run: Recorder, k: int, points: float, *learnings: Learning) -> None:
    """Step 15."""
    for one in learnings:
        run.add(
            ev.LearningCredited(
                iteration=k, learning_id=one.learning_id, success=points > 4, points=points
            )
        )


def taught() -> list[ev.Event]:
    """In its fourth iteration; what earlier runs taught has helped in two of three."""
    run = Recorder(10)
    run.baseline(0)
    run.add(
        ev.PlanMade(
            approach="Begin with what worked before: one failing test at a time.",
            steps=["Run one failing test first.", "Avoid large refactors."],
            estimated_iterations=4,
            estimate_from=6,
            cites=["task-001/001 #1"],
        )
    )
    before = 0
    for k, points in enumerate((24, 26, 48), start=1):
        look_up(run, k, RETRIEVED)
        run.iterations(points, first=k)
        credit(run, k, points - before, RUN_ONE, LARGE, FIXTURES)
        before = points
    run.add(ev.LearningStaged(iteration=3, learning=QUOTES))
    run.add(
        ev.LearningPromoted(
            iteration=3,
            staged_id=FIXTURES.learning_id,
            learning=FIXTURES.model_copy(
                update={"standing": "proven", "confidence": 0.72, "uses": 3, "successes": 2}
            ),
            because="it was used with success",
        )
    )
    better = RUN_ONE.model_copy(update={"uses": 10, "successes": 8, "confidence": 0.89})
    worse = LARGE.model_copy(update={"in_prompt": False, "uses": 5, "successes": 3})
    now = FIXTURES.model_copy(
        update={"standing": "proven", "confidence": 0.72, "uses": 3, "successes": 2}
    )
    look_up(run, 4, [better, now, worse, ABOUT_FOUR])
    run.open(4)
    run.work(4, 3)
    return run.events


def untaught() -> list[ev.Event]:
    """No learning applies: the first run of a repository."""
    run = Recorder(10)
    run.baseline(0)
    look_up(run, 1, [])
    run.open(1)
    run.work(1, 3)
    return run.events


def marked() -> list[ev.Event]:
    """The user has muted one learning and pinned another."""
    run = Recorder(10)
    run.baseline(0)
    look_up(run, 1, RETRIEVED)
    run.open(1)
    run.add(ev.LearningChanged(learning_id=LARGE.learning_id, change="mute"))
    run.add(ev.LearningChanged(learning_id=RUN_ONE.learning_id, change="pin"))
    run.work(1, 3)
    return run.events


def badly_taught() -> list[ev.Event]:
    """Learnings whose every text is hostile, some of it very long."""
    long = HOSTILE + "x" * 100_000
    run = Recorder(10)
    run.baseline(0)
    bad = [
        RUN_ONE.model_copy(update={"learning_id": f"{HOSTILE}{n}", "text": text, "why": text})
        for n, text in enumerate((long, HOSTILE, "日本語" * 500, "\n".join([HOSTILE] * 40), ""))
    ]
    odd = LARGE.model_copy(update={"content": {long: [long, {HOSTILE: None}], "": 10**40}})
    # As a journal brings them in: sanitized by their own types.
    learnings = [Retrieved.model_validate(one.model_dump()) for one in [*bad, odd]]
    look_up(run, 1, learnings)
    run.iterations(20)
    credit(run, 1, 20, *learnings)
    return run.events


TAUGHT: dict[str, Callable[[], list[ev.Event]]] = {
    story.__name__: kept(story) for story in (taught, untaught, marked, badly_taught)
}
