"""Runs as event lists, with the controller's real answers and deterministic times."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache

from ralph_tui import events as ev
from ralph_tui.events.workspace import CategoryTotal, FileChange
from tests.world.recorder import WORDS, WORK, Recorder


def running() -> list[ev.Event]:
    """In the seventh iteration, one alarm behind it."""
    run = Recorder(12)
    run.baseline(6)
    run.iterations(14, 20, 21, 22, 22, 48)
    run.open(7)
    run.add(ev.AgentSpoke(iteration=7, text=WORDS[1]), 4)
    for name, what, result, took in WORK[:4]:
        run.tool(7, name, what, result, took)
    run.tool(7, "Task", "look for other users of the flag", "3 found", 9)
    run.add(
        ev.ToolStarted(iteration=7, tool_id="sub", tool="Task", summary="review the escape flag"), 2
    )
    run.tool(7, "Grep", "escape_flag", "12 matches", 1, parent="sub")
    run.add(ev.AgentSpoke(iteration=7, text="Two callers ignore the flag.", parent="sub"), 2)
    run.checkpoint(7, 2, "timer")
    run.files(7, 2, live=True)
    run.usage(7, 0.3)
    run.checkpoint(7, 3, "key", note="before the rewrite of groups")
    run.add(ev.GuidanceQueued(guidance_id="g1", text="Leave the public names as they are."))
    run.add(ev.GuidanceDelivered(guidance_id="g1", into="session"))
    run.add(
        ev.ToolStarted(iteration=7, tool_id="open", tool="Bash", summary="python -m pytest -q"), 4
    )
    return run.events


def steady() -> list[ev.Event]:
    """A run that reached its goal."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(18, 35, 52, 71, 88, 100)
    run.end("completed", "the completion command passed after iteration 6")
    return run.events


def stuck() -> list[ev.Event]:
    """No new best for long; the limit ends it."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30, 30, 31, 30, 31, 30, 30, 31, 30, 31)
    run.end("limit_reached", "10 of 10 iterations are used")
    return run.events


def oscillating() -> list[ev.Event]:
    """Up and down; alarms are up in the sixth iteration."""
    run = Recorder(20)
    run.baseline(0)
    run.iterations(40, 60, 40, 60, 40)
    run.open(6)
    run.work(6, 3)
    run.add(ev.ToolDenied(iteration=6, tool="Bash", message="rm -rf build is not allowed"))
    return run.events


def regressing() -> list[ev.Event]:
    """Worse with each iteration; being verified."""
    run = Recorder(10, permissions="skip")
    run.baseline(0)
    run.iterations(70, 60, 50)
    run.open(4)
    run.work(4)
    run.add(
        ev.SessionFinished(
            iteration=4, outcome="limited", reason="a usage limit ended the session", duration_s=80
        )
    )
    run.step(4, 11)
    run.add(ev.GateStarted(iteration=4, command="python -m pytest -q"))
    return run.events


def limited() -> list[ev.Event]:
    """A usage limit has ended the session, and the run waits for its reset."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30, 45)
    run.open(3)
    run.work(3, 4)
    for command in ("rm -rf build", "rm -rf dist", "curl example.com"):
        program = command.split()[0]
        run.add(
            ev.ToolDenied(iteration=3, tool="Bash", message=command, permit=f"Bash({program}:*)")
        )
    reset = run.at + timedelta(hours=1, minutes=24)
    run.add(
        ev.SessionFinished(
            iteration=3,
            outcome="limited",
            reason="a usage limit ended the session",
            duration_s=80,
            cost_usd=0.12,
            limit="usage_limit",
            resets_at=reset,
        )
    )
    run.add(
        ev.WaitStarted(
            iteration=3,
            cause="usage_limit",
            reason="a usage limit ended the session",
            until=reset + timedelta(seconds=5),
            resets_at=reset,
        )
    )
    return run.events


def asked() -> list[ev.Event]:
    """The agent is silent, and the run asks the user about it."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30)
    run.open(2)
    run.work(2, 2)
    run.add(ev.ToolStarted(iteration=2, tool_id="open", tool="Bash", summary="sleep 100000"), 4)
    run.silence(2)
    return run.events


def silence(question_id: str, at: datetime) -> ev.QuestionAsked:
    """The question about a silent agent, asked at another moment."""
    question = asked()[-1]
    assert isinstance(question, ev.QuestionAsked)
    assert question.deadline is not None
    deadline = at + (question.deadline - question.at)
    return question.model_copy(update={"question_id": question_id, "deadline": deadline})


def paused() -> list[ev.Event]:
    """The user has paused the loop."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30)
    run.add(ev.PauseRequested())
    run.iterations(42, first=2)
    run.add(ev.Paused())
    return run.events


def empty() -> list[ev.Event]:
    """Just started."""
    run = Recorder(10)
    run.step(0, 0)
    run.add(ev.GateStarted(iteration=0, command="python -m pytest -q"))
    return run.events


def crashed() -> list[ev.Event]:
    """A bug ended it."""
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30)
    run.open(2)
    run.work(2, 2)
    run.add(
        ev.RunCrashed(error="KeyError: 'profile'", traceback="Traceback ...\nKeyError: 'profile'")
    )
    return run.events


HOSTILE = (
    "[/foo] [red]red[/red] [@click=app.quit]click[/] \x1b]0;title\x07\x1b[31mred\x1b[0m "
    "\u202eevil\u202c 日本語のテスト 👩‍🚀 e\u0301\u0301\u0301 tab\there "
)


@cache
def hostile(length: int = 100_000) -> list[ev.Event]:
    """Every text field says something nasty, some of it so many characters long."""
    long = HOSTILE + "x" * length
    run = Recorder(
        10, objective=long, agent=HOSTILE, command=long, model=HOSTILE, permissions=HOSTILE
    )
    run.baseline(0)
    run.open(1)
    run.step(1, 10)
    run.add(ev.StepEntered(iteration=1, step=10, name=long))
    run.add(ev.SessionDescribed(iteration=1, model=long, permission_mode=long))
    for text in (long, HOSTILE, "日本語" * 500, "\n".join([HOSTILE] * 40), "a\u0300" * 5000):
        run.add(ev.AgentSpoke(iteration=1, text=text))
        run.add(ev.AgentNoted(iteration=1, level="error", text=text))
        run.add(ev.Noticed(level="error", source=HOSTILE, text=text, detail=text))
        run.tool(1, text, text, text, 3, ok=False)
        run.add(ev.GuidanceQueued(guidance_id="g", text=text))
        run.add(ev.ToolDenied(iteration=1, tool=text, message=text))
    run.add(
        ev.FilesChanged(
            iteration=1,
            live=True,
            totals=[CategoryTotal(category="source", files=10**9, added=10**12, removed=10**12)],
            changes=[FileChange(path=HOSTILE * 9, status="added", category="source", added=1)],
            latest=long,
        )
    )
    run.add(ev.GateStarted(iteration=1, command=long))
    run.add(
        ev.GateFinished(
            iteration=1,
            ok=False,
            exit_code=-9,
            failing=[long, HOSTILE],
            tail=HOSTILE * 30,
            error=long,
        )
    )
    run.add(ev.CheckpointCaptured(iteration=1, number=2, trigger="key", note=long, error=HOSTILE))
    run.add(ev.PromptPrepared(iteration=1, path="../../../etc/passwd", characters=10**9))
    run.add(ev.WaitStarted(iteration=1, cause="overload", reason=long))
    run.add(ev.WaitEnded(iteration=1, by=long))
    run.add(ev.ToolDenied(iteration=1, tool=HOSTILE, message=long, permit=long))
    run.add(ev.PermissionsChanged(mode="edits", allow=[HOSTILE], by=long))
    run.close(1, 20)
    run.add(ev.RunFinished(outcome="failed", reason=long, iterations=1, completion=20))
    return run.events


def kept(story: Callable[[], list[ev.Event]]) -> Callable[[], list[ev.Event]]:
    """The same story, built once per process; events are shared, each list is the caller's own."""
    reported = cache(story)
    return lambda: list(reported())


STORIES: dict[str, Callable[[], list[ev.Event]]] = {
    story.__name__: kept(story)
    for story in (
        running,
        steady,
        stuck,
        oscillating,
        regressing,
        limited,
        asked,
        paused,
        empty,
        crashed,
        hostile,
    )
}


def flood(length: int) -> Iterator[ev.Event]:
    """A running session with as many agent events as wanted, three seconds apart."""
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    yield from run.events
    seq, at = len(run.events), run.at
    for index in range(length):
        at += timedelta(seconds=3)
        seq += 1
        call = index // 2
        if index % 20 == 19:
            yield ev.AgentSpoke(seq=seq, at=at, iteration=1, text=WORDS[index % 3])
        elif index % 2:
            yield ev.ToolFinished(
                seq=seq,
                at=at,
                iteration=1,
                tool_id=f"t{call}",
                ok=True,
                summary="9 lines",
                duration_s=1.0,
            )
        else:
            yield ev.ToolStarted(
                seq=seq,
                at=at,
                iteration=1,
                tool_id=f"t{call}",
                tool="Read",
                summary=f"file{call}.py",
            )
