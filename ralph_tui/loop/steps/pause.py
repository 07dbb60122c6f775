"""Pause the run before an iteration, for as long as the user wants."""

from ralph_tui.commands import Controls
from ralph_tui.events import Paused
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints


def pause_point(run: Run, checkpoints: Checkpoints) -> None:
    """Wait here if a pause was requested, until it is withdrawn; files may change meanwhile.

    Raises `Ended` if the run should stop after its iteration.
    """
    state, scheduler = run.state, run.scheduler
    if not state.run.pause_requested:
        return
    run.record(Paused())
    k = state.run.iteration
    controls = Controls(
        capture=lambda note, by: checkpoints.capture(k, "key", note, by),
        restore=checkpoints.restore,
    )
    with scheduler.accepting(controls):
        scheduler.wait_for_user(lambda: not state.run.paused, "it was paused")
        scheduler.join()
    checkpoints.take_boundary(k, "after a pause")
