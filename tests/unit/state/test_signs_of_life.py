"""The age of the last changed file: only a change resets it."""

from datetime import UTC, datetime, timedelta

from ralph_tui.events import Event, FilesChanged, IterationStarted
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.state import RunState

BEGAN = datetime(2026, 3, 14, 9, tzinfo=UTC)


def seen(iteration: int, added: int, *, live: bool) -> FilesChanged:
    """One file with this many lines; none for 0."""
    change = FileChange(path="a.py", status="modified", category="source", added=added)
    return files_changed(iteration, [change] if added else [], live=live)


def changed_at(*events: Event) -> list[float]:
    """Minute of the last change after each event, one event a minute; -1: never."""
    state, said = RunState(), []
    for minute, event in enumerate(events):
        state.apply(event.model_copy(update={"at": BEGAN + timedelta(minutes=minute)}))
        last = state.run.last_change_at
        said.append(-1.0 if last is None else (last - BEGAN).total_seconds() / 60)
    return said


def begun(iteration: int) -> Event:
    return IterationStarted(iteration=iteration, max_iterations=5)


def test_what_an_agent_that_does_nothing_leaves_behind_is_no_changed_file() -> None:
    """At the end of each session the loop reports that nothing changed."""
    nothing = [begun(1), seen(1, 0, live=False), begun(2), seen(2, 0, live=False)]
    assert changed_at(*nothing) == [-1, -1, -1, -1]


def test_what_was_told_while_it_happened_is_not_told_as_new_at_the_end() -> None:
    assert changed_at(begun(1), seen(1, 4, live=True), seen(1, 4, live=False)) == [-1, 1, 1]


def test_what_the_watcher_had_not_seen_yet_is_a_change_at_the_end() -> None:
    assert changed_at(begun(1), seen(1, 4, live=True), seen(1, 6, live=False)) == [-1, 1, 2]
    assert changed_at(begun(1), seen(1, 4, live=False)) == [-1, 1]


def test_the_same_again_in_the_next_iteration_is_another_change() -> None:
    """Each iteration counts from its own start."""
    events = [begun(1), seen(1, 4, live=False), begun(2), seen(2, 4, live=False)]
    assert changed_at(*events) == [-1, 1, 1, 3]


def test_what_was_changed_back_is_a_change() -> None:
    assert changed_at(begun(1), seen(1, 4, live=True), seen(1, 0, live=True)) == [-1, 1, 2]
