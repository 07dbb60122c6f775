"""The front ends of a live run: the cockpit on a terminal, plain lines or JSON without one.

``show_run`` chooses one. Nothing is loaded before that choice, and the first frame is painted
before the cockpit itself is loaded. Imports go in one direction: cockpit and
background import lines, which imports common.
"""

from typing import TYPE_CHECKING

from ralph_tui.cli.fronts.presentation import Prepare, Presentation, RunFactory

if TYPE_CHECKING:
    from ralph_tui.config.files import ScreenSettings


def show_run(prepare: Prepare, screen: "ScreenSettings | None") -> int:
    """Show a run to its end and return the exit code of its outcome.

    `prepare` is called behind the screen. Without `screen`, the run prints lines, or runs in the
    background.
    """
    if screen is None:
        from ralph_tui.cli.fronts.common import warn  # noqa: PLC0415 - see above

        return _without_screen(*prepare(warn))
    from ralph_tui.cli.fronts.stage import Front, Stage  # noqa: PLC0415 - see above

    def load(stage: Stage) -> Front:
        from ralph_tui.cli.fronts.cockpit import CockpitRun  # noqa: PLC0415 - see above

        return CockpitRun(prepare, stage)

    return Stage(load, screen).show()


def _without_screen(create_run: RunFactory, presentation: Presentation) -> int:
    from ralph_tui.adapters.remote.starter import hearing, starter_of  # noqa: PLC0415 - see above
    from ralph_tui.cli.fronts.background import run_in_background  # noqa: PLC0415 - see above
    from ralph_tui.cli.fronts.common import exit_code, print_next_steps, warn  # noqa: PLC0415
    from ralph_tui.cli.fronts.lines import run_as_lines, signals_stop  # noqa: PLC0415
    from ralph_tui.cli.fronts.presentation import END_SECONDS  # noqa: PLC0415
    from ralph_tui.layers.sensor.passing import refused  # noqa: PLC0415

    # Before anything else, so that no process started by the run inherits the socket.
    starter = starter_of(presentation.commands_from)
    with create_run(warn) as run, signals_stop(run), hearing(run.engine, starter):
        try:
            if presentation.detached:
                run_in_background(run)
            else:
                run_as_lines(run, as_json=presentation.as_json)
        finally:
            run.engine.join(END_SECONDS)
            run.close()  # inside the block, because a second signal would interrupt it
        if presentation.lasting and not (presentation.as_json or presentation.detached):
            print_next_steps(run, "again" if refused(run.engine.state) else "resume")
        return exit_code(run)
