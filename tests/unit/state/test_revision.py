"""A revision grows only with a visible change, because a pane redraws for each."""

from collections.abc import Sequence

from ralph_tui import events as ev
from ralph_tui.state import RunState


def grown(before: Sequence[ev.Event], event: ev.Event) -> set[str]:
    """The folds whose revision grows with this event, after the earlier ones."""
    state = RunState().apply_all(before)
    was = [fold.revision for fold in state.folds()]
    state.apply(event)
    return {
        type(fold).__name__.removesuffix("Fold").lower()
        for fold, old in zip(state.folds(), was, strict=True)
        if fold.revision != old
    }


STARTED = ev.IterationStarted(iteration=1, max_iterations=3)
SESSION = ev.SessionStarted(iteration=1, session_id="s", agent="a")
LIVE = ev.FilesChanged(iteration=1, live=True, totals=[])
SETTLED = ev.FilesChanged(iteration=1, live=False, totals=[])


def test_only_the_first_sign_of_life_changes_the_header() -> None:
    spoke = ev.AgentSpoke(iteration=1, text="hello")
    assert grown([STARTED, SESSION], spoke) == {"run", "agent"}
    assert grown([STARTED, SESSION, spoke], spoke) == {"agent"}
    assert grown(
        [STARTED, SESSION, spoke], ev.ToolStarted(iteration=1, tool_id="t", tool="Edit")
    ) == {"agent"}
    assert grown([STARTED, SESSION, spoke], ev.UsageReported(iteration=1, tokens=5)) == {"run"}


def test_words_without_anything_to_show_change_nothing() -> None:
    assert grown([STARTED, SESSION], ev.AgentSpoke(iteration=1, text="")) == {"run"}


def test_the_watchers_late_word_changes_no_files() -> None:
    assert grown([STARTED], LIVE) == {"files", "timeline"}
    assert grown([STARTED, SETTLED], LIVE) == set()


def test_a_warning_is_a_row_of_the_log_and_no_point_of_the_timeline() -> None:
    made = ev.InterventionMade(iteration=1, level="WARN", about="pace", reason="slow")
    assert grown([STARTED], made) == {"log", "oversight"}
    paused = ev.InterventionMade(iteration=1, level="PAUSE", about="stuck", reason="stuck")
    assert grown([STARTED], paused) == {"log", "oversight", "timeline"}


def test_what_is_only_remembered_redraws_nothing() -> None:
    assert grown([STARTED], ev.RestoreBegan(iteration=1, snapshot=1, present=2)) == set()
    assert "needs" not in grown([], STARTED)
    assert grown([STARTED], ev.QuestionHeld(question_id="another")) == set()


def test_an_event_of_a_newer_version_is_a_row_of_the_log() -> None:
    assert grown([STARTED], ev.UnknownEvent(kind="dream_had")) == {"log"}
