"""Runs in which the overseer acts: open questions, and the results of others."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from ralph_tui import events as ev
from ralph_tui.events.oversight import Detected
from ralph_tui.events.waiting import Option, Rollback
from ralph_tui.loop.steps import judge
from ralph_tui.loop.steps.offers import (
    ABORT,
    APPROVE,
    CONTINUE,
    DECLINE,
    EDIT,
    GUIDE,
    extend,
    roll_back,
)
from tests.world.recorder import Recorder
from tests.world.stories import HOSTILE, kept

STUCK = "No new best for 3 iterations: each of the last 3 steps gained under 5 points."
WORSE = "The last 2 steps lost 20 points: 70 % became 50 %."
REFRAME = """\
The last iterations changed little. Stop what you were doing and reframe the task:
- Pick the smallest failing test: tests/test_nested.py::test_nested_groups.
- Name three other approaches before you try one, and say why each could work.
- Change as little as possible, and run that test alone until it passes."""
REVIEW = """\
The last changes made things worse. Read the last diff before anything else.
Restore what worked, and take only small steps from there."""

BEST = Rollback(
    snapshot=3,
    iteration=1,
    completion=70,
    files=23,
    added=31,
    removed=214,
    paths=["ralph_parser/groups.py", "ralph_parser/lexer.py", "tests/test_nested.py"],
)
LATER = BEST.model_copy(update={"completion": 31, "iteration": 3})


def acting(run: Recorder, k: int, level: Any, about: Any, reason: str, **more: Any) -> None:
    """The overseer intervenes."""
    run.step(k, 13)
    run.add(ev.InterventionMade(iteration=k, level=level, about=about, reason=reason, **more))


def question(at: datetime, k: int, topic: Any, **fields: Any) -> ev.QuestionAsked:
    """A question that is open for two minutes."""
    fields = {"question_id": "q1", "deadline": at + timedelta(seconds=120)} | fields
    return ev.QuestionAsked(iteration=k, topic=topic, **fields)


def redirect() -> list[ev.Event]:
    """Stuck: instructions wait for approval."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30, 30, 31, 30)
    others = ["WARN: 4 of 10 iterations are used, and no forecast fits"]
    acting(run, 4, "REDIRECT", "stuck", STUCK, others=others, recommendations=["pivot strategy"])
    run.add(
        question(
            run.at,
            4,
            "redirect",
            about="stuck",
            text=STUCK,
            evidence=[*others, "the same test has failed 4 times: test_nested_groups"],
            proposal=REFRAME,
            options=[APPROVE, EDIT, DECLINE, ABORT],
            default="approve",
        )
    )
    return run.events


def rollback() -> list[ev.Event]:
    """Regressing: a roll-back is offered."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(70, 60, 50)
    acting(run, 3, "REDIRECT", "regressing", WORSE)
    run.add(
        question(
            run.at,
            3,
            "redirect",
            about="regressing",
            text=WORSE,
            proposal=REVIEW,
            gains="gentler corrections until completion improves: kp 0.3, ki 0.05, kd 0.4",
            rollback=BEST,
            options=[APPROVE, EDIT, DECLINE, *roll_back(BEST, instructs=True), ABORT],
            default="approve",
        )
    )
    return run.events


def _redirected(run: Recorder, k: int, *, approved: bool, by: str = "you") -> None:
    acting(run, k, "REDIRECT", "stuck", STUCK, recommendations=["pivot strategy"])
    _checked(run, k, "critical", level="REDIRECT")
    run.add(question(run.at, k, "redirect", about="stuck", text=STUCK, options=[APPROVE]))
    answer = "approve" if approved else "decline"
    run.add(ev.QuestionAnswered(question_id="q1", answer=answer, by=by), 30)
    text = REFRAME if approved else ""
    run.add(
        ev.RedirectDecided(iteration=k, about="stuck", approved=approved, by=by, instructions=text)
    )


def _checked(run: Recorder, k: int, status: Any, **fields: Any) -> None:
    run.add(ev.HealthChecked(iteration=k, status=status, **fields))


def decided() -> list[ev.Event]:
    """A REDIRECT was approved, and two iterations later it has helped."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30, 30, 31)
    run.add(ev.LimitsChanged(max_iterations=12))
    run.iterations(30, first=4)
    _redirected(run, 4, approved=True)
    run.iterations(36, first=5)
    _checked(run, 5, "warning")
    run.iterations(44, first=6)
    run.add(
        ev.EffectObserved(
            iteration=6,
            of=4,
            level="REDIRECT",
            about="stuck",
            decision="approved by you",
            points=14,
        )
    )
    _checked(run, 6, "healthy", ended="stuck")
    run.open(7)
    run.work(7, 3)
    return run.events


def pause() -> list[ev.Event]:
    """A REDIRECT was declined and nothing has changed: a PAUSE waits for the user."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30, 30, 31, 30)
    _redirected(run, 4, approved=False, by="ada")
    run.iterations(31, 30, first=5)
    reason = "Two iterations after the REDIRECT there is still no new best."
    acting(run, 6, "PAUSE", "stuck", reason)
    run.add(
        ev.EscalationRaised(
            iteration=6, escalation_id="e1", level="emergency", about="stuck", reason=reason
        )
    )
    run.add(
        ev.EscalationDelivered(escalation_id="e1", channel="webhook", ok=False, text="HTTP 500")
    )
    run.add(
        question(
            run.at,
            6,
            "pause",
            about="stuck",
            text=reason,
            evidence=["recommended: give it a smaller goal", "recommended: restore the best point"],
            rollback=LATER,
            options=[CONTINUE, GUIDE, extend("more"), *roll_back(LATER, instructs=False), ABORT],
            deadline=None,
        )
    )
    return run.events


def criterion() -> list[ev.Event]:
    """The agent promises that it is done, and only the user can confirm it."""
    run = Recorder(10)
    run.baseline(20)
    run.iterations(60)
    run.open(2)
    run.work(2)
    run.end_session(2, 80)
    run.add(
        question(
            run.at,
            2,
            "criterion",
            text="The agent promises that this holds: the parser reads every file in samples/.",
            evidence=["the agent says: all 41 samples parse, the last two needed a new token"],
            options=[judge.YES, judge.NO, judge.GUIDE, ABORT],
            default="no",
        )
    )
    return run.events


def rolled_back() -> list[ev.Event]:
    """The files were brought back to the best point, and the next iteration works from there."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(70, 60, 50)
    acting(run, 3, "REDIRECT", "regressing", WORSE)
    _checked(run, 3, "critical", level="REDIRECT")
    run.add(
        question(
            run.at,
            3,
            "redirect",
            about="regressing",
            text=WORSE,
            options=roll_back(BEST, instructs=True),
        )
    )
    run.add(ev.QuestionAnswered(question_id="q1", answer="roll_back"), 20)
    run.add(
        ev.WorktreeRestored(
            iteration=3,
            snapshot=3,
            present=8,
            tree="0" * 40,
            files=23,
            paths=BEST.paths,
            kept=["tests/fixtures/big.bin"],
        )
    )
    run.add(ev.RedirectDecided(iteration=3, about="regressing", approved=True, instructions=REVIEW))
    run.open(4)
    run.work(4, 2)
    return run.events


def nasty() -> list[ev.Event]:
    """Hostile words wherever the overseer tells or asks something."""
    long = HOSTILE + "x" * 50_000
    run = Recorder(10)
    run.baseline(0)
    run.iterations(40, 30)
    run.add(ev.ConflictsFound(iteration=2, paths=[long, HOSTILE]))
    acting(run, 2, "REDIRECT", "stuck", long, others=[long, HOSTILE], recommendations=[long])
    run.add(question(run.at, 2, "redirect", text=long, options=[APPROVE]))
    run.add(ev.QuestionAnswered(question_id="q1", answer=HOSTILE, by=long, text=long))
    run.add(
        ev.RedirectDecided(iteration=2, about="stuck", approved=True, by=long, instructions=long)
    )
    run.add(
        ev.EffectObserved(
            iteration=2, of=2, level="REDIRECT", about="stuck", decision=long, points=-1e9
        )
    )
    detections = [Detected(name="stuck", severity="high", reason=long)]
    _checked(run, 2, "critical", detections=detections)
    run.add(
        ev.WorktreeRestored(
            iteration=2, snapshot=10**9, present=1, tree=long, files=3, paths=[long], kept=[long]
        )
    )
    run.add(ev.LimitsChanged(max_iterations=10, budget_usd=1e300, by=long))
    run.add(
        ev.EscalationRaised(
            iteration=2, escalation_id=long, level="emergency", about="question", reason=long
        )
    )
    run.add(ev.EscalationDelivered(escalation_id=long, channel=long, ok=False, text=long))
    run.add(ev.CommandRefused(command=long, reason=long))
    kinds = (APPROVE, EDIT, DECLINE, GUIDE, extend("more"), ABORT)
    options = [
        Option(key=option.key, answer=option.answer, verb=HOSTILE * 20, takes=option.takes)
        for option in (*kinds, *roll_back(BEST, instructs=True))
    ]
    run.add(
        question(
            run.at,
            2,
            "redirect",
            about=long,
            text=HOSTILE * 300,
            evidence=[HOSTILE * 9, HOSTILE],
            proposal=HOSTILE * 500,
            gains=long,
            rollback=Rollback(snapshot=3, iteration=1, files=99, paths=[long, HOSTILE] * 10),
            options=[Option(key=long, answer=long, verb=long), *options],
            default=HOSTILE,
        )
    )
    return run.events


DECISIONS: dict[str, Callable[[], list[ev.Event]]] = {
    story.__name__: kept(story)
    for story in (redirect, rollback, decided, pause, criterion, rolled_back, nasty)
}
