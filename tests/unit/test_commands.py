"""The reason why a command is unavailable: one sentence, on every screen."""

from ralph_tui import events as ev
from ralph_tui.commands import (
    Abort,
    Answer,
    Checkpoint,
    Command,
    Extend,
    Hold,
    Interrupt,
    Pause,
    Restore,
    RetryNow,
    Stop,
    Unpause,
    refusal,
)
from ralph_tui.events.waiting import Option
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.world.stories import STORIES

END = ev.RunFinished(outcome="completed", reason="done", iterations=1, completion=100)
WORDS = Option(key="g", answer="guide", verb="say something", takes="words")
QUESTION = ev.QuestionAsked(question_id="q1", iteration=1, topic="pause", text="?", options=[WORDS])
LATER = ev.StopRequested(mode="after_iteration")
ANSWERED = ev.QuestionAnswered(question_id="q1", answer="guide", by="ada")


def state_of(*events: ev.Event) -> RunState:
    """The state of a started run after these events."""
    begun = [event for event in STORIES["running"]() if isinstance(event, ev.RunStarted)]
    state = RunState()
    for seq, event in enumerate([*begun, *events], start=1):
        state.apply(event.model_copy(update={"seq": seq}))
    return state


@each_row(
    ("command", "events", "reason"),
    [
        (Pause(), [], None),
        (Pause(), [ev.PauseRequested()], "a pause is already requested"),
        (Pause(), [ev.PauseRequested(), ev.Paused()], "the run is already paused"),
        (Unpause(), [], "the run is not paused"),
        (Pause(), [ev.StopRequested(mode="now")], "the run is being stopped"),
        (Abort(), [ev.StopRequested(mode="now")], None),
        (Stop(), [ev.AbortRequested()], "the run is being aborted"),
        (Stop(mode="after_iteration"), [LATER], "a stop is already requested"),
        (Stop(mode="taken_back"), [LATER], None),
        (Stop(mode="taken_back"), [], "no stop is requested, so there is nothing to undo"),
        (Abort(), [END], "the run has ended"),
        (Abort(roll_back_to=99), [], "no snapshot 99 in this run"),
        (Checkpoint(), [], "no session is running that could change files"),
        (Interrupt(), [], "no session is running"),
        (RetryNow(), [], "the run is not waiting for a limit or a service"),
        (Extend(iterations=-1000), [], "iteration 0 has begun"),
        (Extend(iterations=1000), [], "a run has at most 1000 iterations"),
        (Extend(budget_usd=1), [], "the run has no dollar budget to raise"),
        (Extend(), [], "no amount given; add iterations or dollars"),
        (Hold(question_id="q1"), [QUESTION], "no countdown is running"),
        (Hold(question_id="q0"), [QUESTION], "that question is already closed"),
        (Answer(question_id="q1", answer="guide"), [QUESTION], "guide needs text; add it"),
        (Answer(question_id="q1", answer="guide", text="continue"), [QUESTION], None),
        (
            Answer(question_id="q1", answer="abort"),
            [QUESTION],
            "abort is not a valid answer; choose from guide",
        ),
        (
            Answer(question_id="q1", answer="guide"),
            [QUESTION, ANSWERED],
            "that question was already answered: guide, by ada",
        ),
    ],
)
def test_it_says_why(command: Command, events: list[ev.Event], reason: str | None) -> None:
    assert refusal(command, state_of(*events)) == reason


def test_what_a_wait_offers_is_known_sooner_than_the_state() -> None:
    before = state_of()
    assert refusal(Interrupt(), before) == "no session is running"
    assert Interrupt().refused(before, taken=True) is None
    started = state_of(ev.SessionStarted(iteration=1, session_id="s", agent="a"))
    assert refusal(Interrupt(), started) is None
    assert Interrupt().refused(started, taken=False) == "no session is running"


def test_a_snapshot_is_missing_whatever_the_files_do() -> None:
    for taken in (True, False):
        reason = Restore(snapshot=99).refused(state_of(), taken=taken)
        assert reason == "no snapshot 99 in this run"
