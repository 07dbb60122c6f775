"""Wording of learnings in the log and plain lines."""

from ralph_tui import events as ev
from ralph_tui.events.memory import unchanged_words
from ralph_tui.state import RunState
from tests.lines import plain_line
from tests.rows import each_row
from tests.world.taught import ABOUT_FOUR, FIXTURES, LARGE, QUOTES, RETRIEVED, RUN_ONE, TAUGHT


def rows(events: list[ev.Event]) -> list[tuple[str, str, str]]:
    log = RunState().apply_all(events).log.rows
    return [(row.level, row.word, row.text) for row in log if row.word == "MEMORY"]


def line(event: ev.Event) -> str | None:
    text = plain_line(event)
    return text and text.split(" ", 1)[1]


def test_the_log_tells_what_became_knowledge_and_not_what_helped() -> None:
    assert rows(TAUGHT["taught"]()) == [
        (
            "log",
            "MEMORY",
            "now proven: In this project fixtures always end with a newline. "
            "(it was used with success)",
        )
    ]


def test_a_wish_that_was_carried_out_is_told_by_the_learnings_words() -> None:
    assert rows(TAUGHT["marked"]()) == [
        ("owner", "MEMORY", f"muted by you: {LARGE.saying}"),
        ("owner", "MEMORY", f"pinned by you: {RUN_ONE.text}"),
    ]
    edit = ev.LearningChanged(learning_id=QUOTES.learning_id, change="edit", text="Ask the token.")
    state = RunState().apply_all(
        [
            ev.LearningStaged(iteration=1, learning=QUOTES),
            edit,
            ev.LearningChanged(learning_id=QUOTES.learning_id, change="delete"),
        ]
    )
    assert [row.text for row in state.log.rows] == [
        "reworded by you: Ask the token.",
        "deleted by you: Ask the token.",
    ]


@each_row(
    ("event", "expected"),
    [
        (ev.LearningsRetrieved(iteration=1, task_type="general"), None),
        (
            ev.LearningsRetrieved(iteration=1, task_type="test-fix", learnings=[ABOUT_FOUR]),
            "memory  1 learning fits, none in the prompt",
        ),
        (
            ev.LearningsRetrieved(iteration=1, task_type="test-fix", learnings=RETRIEVED),
            "memory  4 learnings fit, 3 in the prompt: Run one failing test first, then trace it "
            "to its root cause…; avoid: Large refactors across many files in one…",
        ),
        (ev.LearningStaged(iteration=1, learning=QUOTES), None),
        (ev.LearningCredited(iteration=1, learning_id="learn-x", success=True), None),
        (
            ev.LearningPromoted(
                iteration=1, staged_id="s", learning=FIXTURES, because="two runs have said it"
            ),
            "memory  now proven: In this project fixtures always end with a newline. "
            "(two runs have said it)",
        ),
        (
            ev.LearningPromoted(
                iteration=1, staged_id="s", learning=FIXTURES, merged=True, because=""
            ),
            "memory  merged with an existing learning: "
            "In this project fixtures always end with a newline.",
        ),
        (
            ev.LearningChanged(learning_id="learn-x", change="unmute", by="you (pts/3)"),
            "memory  unmuted by you (pts/3): learn-x",
        ),
        (
            ev.PlanMade(
                approach="Small steps.",
                estimated_iterations=4,
                estimate_from=6,
                cites=["task-001/001 #1"],
            ),
            "plan    about 4 iterations, from 6 runs; follows task-001/001 #1: Small steps.",
        ),
        (ev.PlanMade(approach="Small steps."), "plan    Small steps."),
        (
            ev.ReflectionWritten(
                attempt=1,
                observation="o",
                analysis="a",
                learning="Read the test first.",
                triggered_by="timeout",
                reflection_type="process-improvement",
            ),
            "reflection when the limit was reached: Read the test first.",
        ),
    ],
)
def test_plain_lines(event: ev.Event, expected: str | None) -> None:
    shown = line(event)
    assert (shown and shown[:150]) == (expected and expected[:150])


def test_the_words_of_what_is_known() -> None:
    used = {(0, 0): "not judged yet", (1, 0): "helped 0 of 1 time", (7, 6): "helped 6 of 7 times"}
    for (uses, successes), words in used.items():
        learning = LARGE.model_copy(update={"uses": uses, "successes": successes})
        assert learning.helped == words
    assert FIXTURES.proof == "unproven: reported by 1 run"
    estimate = FIXTURES.model_copy(update={"type": "estimate", "runs": 2})
    assert estimate.proof == "unproven: reported by 2 runs, proven after 3 runs"
    assert RUN_ONE.proof == "proven, reported by 3 runs"
    assert LARGE.saying == "avoid: Large refactors across many files in one iteration."
    never = LARGE.model_copy(update={"text": "Never refactor."})
    assert never.saying == "Never refactor."
    assert unchanged_words("learn-x", "no") == "learning learn-x was not changed: no"
