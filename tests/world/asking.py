"""Runs whose agent asks: for permission or with questions of its own, and the results."""

from collections.abc import Callable

from ralph_tui.adapters.agents.requests import asked, choice
from ralph_tui.events import AgentAsked, Event, QuestionAnswered, ToolFinished, ToolStarted
from ralph_tui.events.waiting import SILENCE
from ralph_tui.loop.steps.agent_questions import AgentQuestions
from tests.world.recorder import Recorder
from tests.world.stories import HOSTILE

PUSH = asked(
    2,
    "r1",
    "Bash",
    input="git push origin main",
    why="Share the branch\nThis command requires approval",
    rule="Bash(git push *)",
)
EDIT = asked(
    2,
    "r2",
    "Edit",
    input="/srv/shared/config.py\n-DEBUG = True\n+DEBUG = False",
    why="outside the project: /srv/shared/config.py",
    rule="files in /srv/shared",
    parent="a3c988",
)
CHOICES = asked(
    2,
    "r3",
    "AskUserQuestion",
    choices=[
        choice(
            "Which form of quoting shall the parser take?",
            "Quoting",
            [
                ("Doubled", "as in CSV: a quote inside of quotes is written twice"),
                ("Escaped", "a backslash before it, as in most languages"),
                ("Both", ""),
            ],
        ),
        choice(
            "Which files may change?",
            "Files",
            [("the lexer", ""), ("the parser", ""), ("the tests", "")],
            multiple=True,
        ),
    ],
)


def at_work() -> Recorder:
    run = Recorder(10, permissions="ask")
    run.world.host.record = run.add  # several questions keep names of their own
    run.baseline(0)
    run.iterations(30)
    run.open(2)
    run.work(2, 2)
    return run


def ask(run: Recorder, request: AgentAsked) -> None:
    """The agent asks, and its question goes to the user."""
    run.add(ToolStarted(iteration=2, tool_id="t", tool=request.tool, summary=request.input), 4)
    run.add(request)
    AgentQuestions(2, run.iteration.run, run.iteration.asker).watch()


def answer(run: Recorder, word: str, by: str = "you", text: str = "", seconds: float = 20) -> None:
    question = run.world.state.needs.question
    assert question is not None
    given = QuestionAnswered(question_id=question.question_id, answer=word, by=by, text=text)
    run.add(given, seconds)
    run.iteration.asker.answered(given)
    run.add(
        ToolFinished(
            iteration=2, tool_id="t", ok=word != "refuse", summary="done", duration_s=seconds
        )
    )


def permission() -> list[Event]:
    """A command waits for a yes."""
    run = at_work()
    ask(run, PUSH)
    return run.events


def permission_edit() -> list[Event]:
    """A subagent wants to edit outside the project."""
    run = at_work()
    ask(run, EDIT)
    return run.events


def choices() -> list[Event]:
    """The agent has two questions of its own."""
    run = at_work()
    ask(run, CHOICES)
    return run.events


def permissions_decided() -> list[Event]:
    """Four permissions: allowed once, allowed for the session, refused with words, unanswered."""
    run = at_work()
    ask(run, PUSH)
    answer(run, "once")
    ask(run, EDIT)
    answer(run, "session", "the terminal pts/3")
    ask(run, PUSH.model_copy(update={"request_id": "r4", "input": "rm -rf /srv", "rule": ""}))
    answer(run, "refuse", text="never outside the project")
    ask(run, PUSH.model_copy(update={"request_id": "r5", "input": "curl example.org"}))
    answer(run, "refuse", SILENCE, seconds=300)
    return run.events


def permission_hostile() -> list[Event]:
    """A request with text that a screen must not show as it is."""
    run = at_work()
    ask(run, asked(2, "r6", HOSTILE, input=HOSTILE * 200, why=HOSTILE, rule="Bash([bold]*)"))
    return run.events


ASKING: dict[str, Callable[[], list[Event]]] = {
    story.__name__: story
    for story in (permission, permission_edit, choices, permissions_decided, permission_hostile)
}
