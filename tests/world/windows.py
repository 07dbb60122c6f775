"""Runs whose context windows fill, for screens and pictures."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.events.context import FileInProgress, Level
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.prompting import EDIT, SEND
from tests.world.recorder import WORDS, WORK, Recorder
from tests.world.stories import kept

WINDOW = 200_000
HANDOFF = """\
# Handoff 1 of iteration 3

## Objective

Fix the failing parser tests

## Done

- the lexer carries the quote state: ralph_parser/lexer.py
- test_quotes.py passes, 19 of 21

## In progress

Nested groups ask for the escape flag after the token was consumed.

- ralph_parser/groups.py, lines 45-120: the flag is carried, not yet read
- tests/test_nested.py, lines 12-52: new, two of its tests fail

## Next step

Read the flag in close_group, then run tests/test_nested.py.
"""
"""Content of the file that `left` names."""


def fill(run: Recorder, k: int, percent: float, level: Level | None = None) -> None:
    """Report the window's usage, and its level if it changes."""
    tokens = int(WINDOW * percent / 100)
    run.add(
        ev.UsageReported(
            iteration=k,
            tokens=tokens * 3,
            context_tokens=tokens,
            context_window=WINDOW,
            cost_usd=percent / 250,
        )
    )
    if level is not None:
        run.add(
            ev.ContextLevelReached(
                iteration=k, level=level, percent=percent, tokens=tokens, window=WINDOW
            ),
            0.05,
        )


def climb(run: Recorder, k: int, *percents: float) -> None:
    """A tool call, then the window so full; and so on."""
    for index, percent in enumerate(percents):
        run.tool(k, *WORK[index % len(WORK)])
        run.wait(seconds=15)
        fill(run, k, percent)


def whole(run: Recorder, k: int, points: float, *percents: float) -> None:
    """An iteration in one session."""
    run.open(k)
    run.add(ev.AgentSpoke(iteration=k, text=WORDS[k % 3]), 5)
    climb(run, k, *percents)
    run.files(k, 2, live=True)
    run.close(k, points)


def item(run: Recorder, k: int, percent: float | None = None) -> None:
    """The plan's next item begins."""
    run.add(
        ev.PlanItemBegan(
            iteration=k,
            item="carry the escape flag through nested groups",
            size="medium",
            basis="tag",
            percent=percent,
        )
    )


def two_before() -> Recorder:
    """Two iterations whose windows were half full; the third has begun."""
    run = Recorder(10)
    run.baseline(6)
    whole(run, 1, 14, 22, 31, 45)
    whole(run, 2, 30, 25, 48, 62)
    run.open(3)
    item(run, 3, 8)
    run.add(ev.AgentSpoke(iteration=3, text=WORDS[1]), 5)
    return run


def climbing() -> list[ev.Event]:
    """Level 1 is reached; the forecast counts the calls to the next."""
    run = two_before()
    climb(run, 3, 30, 42, 52, 62)
    run.files(3, 2, live=True)
    climb(run, 3, 71)
    run.add(
        ev.ContextLevelReached(iteration=3, level="L1", percent=71, tokens=142_000, window=WINDOW)
    )
    run.add(
        ev.ToolStarted(iteration=3, tool_id="open", tool="Bash", summary="python -m pytest -q"), 4
    )
    return run.events


def filled_up() -> Recorder:
    """Level 2 is reached while a tool runs."""
    run = two_before()
    climb(run, 3, 30, 48, 62, 71)
    run.files(3, 2, live=True)
    run.add(
        ev.ContextLevelReached(iteration=3, level="L1", percent=71, tokens=142_000, window=WINDOW)
    )
    run.add(ev.GuidanceQueued(guidance_id="g1", text="Leave the public names as they are."))
    run.add(ev.GuidanceDelivered(guidance_id="g1", into="session"))
    run.add(
        ev.ToolStarted(iteration=3, tool_id="open", tool="Bash", summary="python -m pytest -q"), 4
    )
    fill(run, 3, 86.4, "L2")
    return run


def handing_over() -> list[ev.Event]:
    """The session hands over as soon as the running tool ends."""
    return filled_up().events


def left(run: Recorder, k: int, number: int, **fields: object) -> ev.HandoffWritten:
    """Record a session's handoff to the next one."""
    written = ev.HandoffWritten(
        iteration=k,
        number=number,
        path=f"results/iter-{k:03}/handoff-{number}.md",
        cause="L2",
        percent=86.4,
        characters=len(HANDOFF),
        summary="Nested groups ask for the escape flag after the token was consumed.",
        done=["the lexer carries the quote state: ralph_parser/lexer.py"],
        files=[
            FileInProgress(
                path="ralph_parser/groups.py",
                lines="45-120",
                description="the flag is carried, not yet read",
            ),
            FileInProgress(path="tests/test_nested.py", lines="12-52", description="new"),
        ],
        item="carry the escape flag through nested groups",
        next_step="Read the flag in close_group, then run tests/test_nested.py.",
        guidance=["Leave the public names as they are."],
        snapshot=run.snapshots,
    )
    return written.model_copy(update=fields)


def hand_off(run: Recorder, k: int, number: int, **fields: object) -> None:
    """From the end of a session to the start of the next one."""
    end_for_rollover(run, k, number)
    run.checkpoint(k, number + 1, "rollover", note=f"ralph: checkpoint iter {k} (L2 at 86%)")
    run.add(left(run, k, number, **fields))
    start_again(run, k, number + 1)


def end_for_rollover(run: Recorder, k: int, number: int) -> None:
    run.add(
        ev.SessionFinished(
            iteration=k,
            outcome="rolled_over",
            reason="the context is 86 % full",
            duration_s=240,
            cost_usd=0.34,
            tokens=172_000,
            tool_calls=5,
        )
    )
    run.add(
        ev.RolloverBegan(
            iteration=k, number=number, cause="L2", percent=86.4, reason="the context is 86 % full"
        )
    )


def start_again(run: Recorder, k: int, session: int) -> None:
    path = f"results/iter-{k:03}/prompt-{session}.md"
    run.add(ev.PromptPrepared(iteration=k, path=path, urgency="normal", characters=3900))
    run.add(
        ev.SessionStarted(
            iteration=k,
            session_id=f"session-{k}-{session}",
            agent="claude",
            takes_guidance=True,
            transcript=f"results/iter-{k:03}/transcript.jsonl",
        )
    )


def rolled_over() -> list[ev.Event]:
    """A fresh session of the third iteration is at work."""
    run = filled_up()
    hand_off(run, 3, 1)
    run.add(ev.AgentSpoke(iteration=3, text="I read the handoff: the flag has to be read now."), 4)
    climb(run, 3, 12, 16, 19, 24)
    run.files(3, 2, live=True)
    run.add(ev.ToolStarted(iteration=3, tool_id="next", tool="Edit", summary="groups.py"), 4)
    return run.events


def between_sessions() -> list[ev.Event]:
    """One session has ended, and the next one has not begun."""
    run = filled_up()
    end_for_rollover(run, 3, 1)
    run.checkpoint(3, 2, "rollover")
    run.add(left(run, 3, 1))
    return run.events


def forgot() -> list[ev.Event]:
    """The agent summed its own context up, an iteration after a rollover."""
    run = filled_up()
    hand_off(run, 3, 1, origin="model", edited_by="you")
    climb(run, 3, 20, 34)
    run.close(3, 44)
    run.open(4)
    run.add(ev.AgentSpoke(iteration=4, text=WORDS[2]), 5)
    climb(run, 4, 30, 52, 66)
    run.add(
        ev.ContextCompacted(
            iteration=4, before=164_000, after=44_000, window=WINDOW, trigger="auto"
        )
    )
    climb(run, 4, 31)
    run.add(ev.ToolStarted(iteration=4, tool_id="next", tool="Edit", summary="groups.py"), 4)
    return run.events


def unknown() -> list[ev.Event]:
    """The agent reports its tools but not its window."""
    run = Recorder(10, agent="command")
    run.baseline(6)
    run.open(1, tells_context=False)
    for call in WORK[:4]:
        run.tool(1, *call)
    run.add(ev.ToolStarted(iteration=1, tool_id="next", tool="Edit", summary="groups.py"), 4)
    return run.events


def handoff_asked() -> list[ev.Event]:
    """Before the next session starts, the handoff may be edited."""
    run = filled_up()
    end_for_rollover(run, 3, 1)
    run.checkpoint(3, 2, "rollover")
    run.add(left(run, 3, 1))
    run.add(
        ev.QuestionAsked(
            iteration=3,
            question_id="q1",
            topic="handoff",
            text="The session of iteration 3 has ended and left this handoff for a fresh session. "
            "Send it, or edit it first?",
            proposal=HANDOFF,
            options=[SEND, EDIT, ABORT],
            default="send",
            deadline=run.at + timedelta(seconds=60),
        )
    )
    return run.events


def folder(path: Path) -> Path:
    """An attempt's folder that holds the handoffs of these runs."""
    place = path / "results" / "iter-003"
    place.mkdir(parents=True)
    (place / "handoff-1.md").write_text(HANDOFF, "utf-8")
    return path


WINDOWS: dict[str, Callable[[], list[ev.Event]]] = {
    story.__name__: kept(story)
    for story in (
        climbing, handing_over, between_sessions, rolled_over, forgot, unknown, handoff_asked
    )
}  # fmt: skip
