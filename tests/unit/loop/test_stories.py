"""Screens show only what the loop can do: no story diverges from it."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from ralph_tui import events as ev
from ralph_tui.commands import Pause, Unpause
from tests.rows import each_row
from tests.world import FakeSession, World, promise, wait
from tests.world.decisions import DECISIONS
from tests.world.owner import Reply, answer, first
from tests.world.stories import STORIES

ORDERED = {
    "iteration_started",
    "strategy_planned",
    "prompt_prepared",
    "session_started",
    "session_finished",
    "wait_started",
    "wait_ended",
    "gate_started",
    "gate_finished",
    "reading_taken",
    "signal_computed",
    "alarm_cleared",
    "alarm_raised",
    "conflicts_found",
    "intervention_made",
    "escalation_raised",
    "question_asked",
    "question_answered",
    "worktree_restored",
    "redirect_decided",
    "effect_observed",
    "health_checked",
    "paused",
    "run_finished",
}
"""Kinds whose place in an iteration the loop decides; agents and users act at any time.

The record (step 17) is not among them: the pictures show it before the questions, the loop after.
"""
HOSTILE = {"hostile", "nasty"}
"""Stories that no loop would produce, to test a screen."""
TOLD = [name for name in (*STORIES, *DECISIONS) if name not in HOSTILE]


def place(event: ev.Event) -> str:
    """The name of an event whose place is fixed; empty for any other."""
    match event:
        case ev.StepEntered() if event.step != 17:
            return f"step {event.step}"
        case ev.CheckpointCaptured(trigger="start" | "end"):
            return f"checkpoint {event.trigger}"
        case ev.FilesChanged(live=False):
            return "files_changed"
    return event.kind if event.kind in ORDERED else ""


def iterations(events: Sequence[ev.Event]) -> Iterator[list[str]]:
    """The places before the first iteration, and in each; repetitions count as one."""
    number = 0
    numbered = []
    for event in events:
        number += isinstance(event, ev.IterationStarted)
        numbered.append((number, event))
    for _, group in groupby(numbered, lambda pair: pair[0]):
        names = [name for name in (place(event) for _, event in group) if name]
        yield [name for name, _ in groupby(names)]


def limited(session: FakeSession) -> None:
    session.emit(
        ev.SessionFinished(iteration=session.iteration, outcome="limited", limit="usage_limit")
    )


def preferring(word: str) -> Reply:
    """Answers with this word where it is offered, otherwise with the first option."""
    return lambda asked: (
        answer(word)(asked) if word in {option.answer for option in asked.options} else first(asked)
    )


@cache
def real() -> list[list[str]]:
    """Every iteration of runs that contain every event of a story."""
    stuck, worse, swinging = [0, *[3] * 20], [0, 7, 6, 5, 8, 10], [0, 4, 6, 4, 6, 4, 6, 4]
    worlds = [
        World(passed, mode="attended", max_iterations=8).play(preferring(word))
        for passed in (stuck, worse, swinging)
        for word in ("approve", "decline", "roll_back", "abort")
    ]
    held_up = World([0, 2, 10])
    held_up.agent.acts.extend([limited, wait])
    paused = World([0, 3, 10])
    paused.agent.acts.append(wait)
    paused.send(Pause())
    paused.host.idle.append(lambda: paused.agent.sessions[0].finish())
    paused.send(Unpause())
    asked = World([], criterion="it reads well", mode="attended", max_iterations=3)
    asked.agent.acts.extend([promise] * 3)
    worlds += [World([0, 5, 10]).run(), held_up.run(), paused.run(), asked.play(answer("no"))]
    return [names for world in worlds for names in iterations(world.events)]


def leaves_out(part: Sequence[str], whole: Sequence[str]) -> bool:
    """True if `part` is `whole` without some items, in the same order."""
    rest = iter(whole)
    return all(name in rest for name in part)


@each_row("name", TOLD)
def test_a_story_tells_what_the_loop_can_do(name: str) -> None:
    for number, part in enumerate(iterations((STORIES | DECISIONS)[name]())):
        assert any(leaves_out(part, whole) for whole in real()), (number, part)
