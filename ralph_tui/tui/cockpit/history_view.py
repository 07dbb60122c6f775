"""Shows the changes up to a point of the run, and restores that point.

Rule: Git is called only through the source's `Files`, and never on the UI thread. A restore is a
command like any other, so the run may refuse it.
"""

from ralph_tui import commands
from ralph_tui.analysis.next_steps import restore_command, whole_change
from ralph_tui.commands import IMPORTED, WATCHED, over
from ralph_tui.events import WorktreeRestored
from ralph_tui.text.format import clock, count
from ralph_tui.text.terms import NO_SNAPSHOTS
from ralph_tui.tui.actions import BY_NAME
from ralph_tui.tui.cockpit.continuation import Continuation
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.modals.restore_effect import missing_paths, preview
from ralph_tui.tui.panes.facts import difference
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.timeline_points import (
    Key,
    TimelinePoint,
    points_of,
    to_restore,
    tree_at,
    tree_before,
)

RECENT_S = 60.0
"""Seconds after which a recorded rollback is no longer announced."""


class HistoryView:
    """Diffs and restores for the iterations pane."""

    def __init__(
        self, host: RunScreen, timeline: IterationsPane, continuation: Continuation
    ) -> None:
        self._host = host
        self._app = host.ralph
        self._source = host.source
        self._timeline, self._continuation = timeline, continuation
        self._seen = 0
        """Sequence number of the last rollback that was announced."""
        self._auto_selected: tuple[Key, int] | None = None
        """The automatically selected point, and the iteration at that time."""

    def changes(self) -> None:
        """Show the changes up to the selected point, or between the two marked ones."""
        # Imported on first use to keep the first paint fast.
        from ralph_tui.tui.modals.changes import Changes  # noqa: PLC0415

        state, timeline = self._host.state, self._timeline
        ends = timeline.ends
        if ends is not None:
            first, second = ends
            title = f"{first.name} → {second.name}"
            trees = (tree_at(first, state), tree_at(second, state))
        else:
            point = timeline.points[timeline.current]
            title = (
                f"changes up to {point.name}" if point.checkpoint else f"changes of {point.name}"
            )
            trees = (tree_before(point, state), tree_at(point, state))
        since, until = trees
        if until is None or (ends is not None and since is None):
            what: tuple[str, str] | str = "this point has no snapshot; select another one"
        elif since is None:
            what = "the run starts here; there is nothing before it"
        else:
            what = (since, until)
        files, clock = self._source.files, self._app.monotonic
        self._app.push_screen(Changes(title, timeline.details, files, what, clock))

    def whole(self) -> None:
        """Show the changes of the whole run."""
        from ralph_tui.tui.modals.changes import Changes  # noqa: PLC0415

        state, points = self._host.state, self._timeline.points

        def details(width: int) -> list[Line]:
            now = self._source.clock(state)
            return difference(points[0], points[-1], state, now, width) if points else []

        trees = whole_change(state) or NO_SNAPSHOTS
        files, clock = self._source.files, self._app.monotonic
        self._app.push_screen(Changes("changes of the whole run", details, files, trees, clock))

    def restore(self) -> bool:
        """Ask whether to restore the selected point, or the best one if none has been selected.

        Return False, after showing why, if that point has no snapshot.
        """
        from ralph_tui.tui.modals.restore import Restore  # noqa: PLC0415 - as in `dialogs`

        if self._timeline.chosen is None:
            self._select_best()
        points = self._timeline.points
        target = to_restore(points[self._timeline.current], self._host.state) if points else None
        if target is None:
            name = points[self._timeline.current].name if points else "this run"
            arrows = "← →" if self._source.player is None else "↑ ↓"  # in a replay, ← and → seek
            details = f"{{restore}} restore: {name} has no snapshot; select another with {arrows}"
            self._host.report(self._app.keys.expand(details))
            return False
        point = points[self._timeline.current]
        number = target.number
        if not self._restores_here:
            question = (
                f"{_question(point, number)} This runs in the terminal and shows the changes first."
            )
            self._continuation.ask_to_end_with(self._command(number), question, "restore")
            return True

        def on_answer(yes: bool | None) -> None:  # noqa: FBT001
            if yes:
                self._source.send(commands.Restore(snapshot=number))

        look, lacks = preview(self._source.files, target.tree), missing_paths(target)
        dialog = Restore(_question(point, number), look, lacks, self._app.monotonic)
        self._app.push_screen(dialog, on_answer)
        return True

    def _select_best(self) -> None:
        state = self._host.state
        points = self._timeline.points = points_of(state)  # the pane may not have been shown yet
        saved = [point for point in points if point.whole and to_restore(point, state)]
        best = [point for point in saved if point.span is state.best_span]
        if saved:
            point = (best or saved)[-1]
            self._auto_selected = (point.key, state.run.iteration)
            self._timeline.choose(point.key)

    def refusal(self) -> str | None:
        """Return why files cannot be restored here now, and an alternative; None if they can."""
        state = self._host.state
        started, points = state.run.started, self._timeline.points
        if started is not None and started.watched:
            return WATCHED  # the hook program takes no snapshots
        if started is not None and started.imported:
            return IMPORTED
        if started is None:
            return "nothing is recorded yet"
        if self._restores_here:
            return None if over(state) else BY_NAME["restore"].refusal(state)
        target = to_restore(points[self._timeline.current], state) if points else None
        command = self._command(None if target is None else target.number)
        if (work := self._continuation.fleet) is not None and work.record:
            return f"use {command} in your repository"
        return self._continuation.refused(command)

    @property
    def _restores_here(self) -> bool:
        """True if the run itself restores files; otherwise a command does so after this screen."""
        if not self._source.live or self._source.lost:
            return False
        return self._source.restores_ended or not over(self._host.state)

    def _command(self, number: int | None) -> str:
        started, work = self._host.state.run.started, self._continuation.fleet
        assert started is not None  # only a started run has points
        name = work.record if work is not None and work.record else started.name
        return restore_command(name, "" if number is None else str(number))

    def follow(self) -> None:
        """Announce a rollback that has just happened, say how to undo it, and select it."""
        state = self._host.state
        spans = state.timeline.spans
        self._release_point()
        if not spans or not spans[-1].rollbacks or spans[-1].rollbacks[-1].seq == self._seen:
            return  # a restore from before this iteration cannot simply be undone
        last = spans[-1].rollbacks[-1]
        self._seen = last.seq
        age = self._source.clock(state) - last.at
        if self._source.live and age.total_seconds() < RECENT_S:
            self._auto_selected = (("back", last.seq), state.run.iteration)
            self._timeline.choose(self._auto_selected[0])
            here = over(state) is None or self._source.restores_ended
            undo = (
                self._app.keys.expand("{restore} on ↶ undoes it")
                if here
                else f"{self._command(last.present)} undoes it"
            )
            restored = _restored(last)
            self._host.report(f"{restored}; {undo}" if last.files else restored)

    def _release_point(self) -> None:
        """Once the next iteration begins, show the latest again unless the user chose a point."""
        if self._auto_selected is None:
            return
        key, iteration = self._auto_selected
        if self._timeline.chosen != key:
            self._auto_selected = None
        elif self._host.state.run.iteration > iteration:
            self._auto_selected = None
            self._timeline.choose(None)


def _question(point: TimelinePoint, snapshot: int) -> str:
    if point.rollback is not None:
        return f"Undo the restore at {clock(point.rollback.at)} (back to snapshot {snapshot})?"
    at = "" if point.at is None else f", {clock(point.at)}"
    return f"Restore snapshot {snapshot} ({point.name}{at})?"


def _restored(back: WorktreeRestored) -> str:
    kept = f", {back.left_alone:,} left alone" if back.kept else ""
    files = count(back.files, "file")
    return f"restored snapshot {back.snapshot}: {files}{kept}"
