"""What shows a run while it works: the cockpit on a terminal, plain lines or JSON without one.

``show_run`` chooses. Imports point one way: cockpit and background, lines, common.
"""

from ralph_tui.cli.fronts.background import run_in_background
from ralph_tui.cli.fronts.common import Presentation, RunFactory, exit_code, say_what_is_next, warn
from ralph_tui.cli.fronts.lines import run_as_lines


def show_run(create_run: RunFactory, presentation: Presentation) -> int:
    """Show a run to its end, as `presentation` says; the exit code tells the outcome."""
    if presentation.detached:
        with create_run(warn) as run:
            run_in_background(run)
            return exit_code(run)
    if presentation.mode == "headless":
        with create_run(warn) as run:
            run_as_lines(run, as_json=presentation.as_json)
            if presentation.lasting and not presentation.as_json:
                say_what_is_next(run)
            return exit_code(run)
    # A run without a screen starts without loading one.
    from ralph_tui.cli.fronts.cockpit import run_in_cockpit  # noqa: PLC0415

    return run_in_cockpit(create_run, presentation)
