"""``python -m tests.soak.begin SCENARIO ITERATIONS``: run the demo in a prepared folder."""

# ruff: noqa: T201  as the command line says it
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from ralph_tui import demo
from ralph_tui.base.errors import RalphError
from ralph_tui.cli.fronts import show_run
from ralph_tui.cli.fronts.presentation import Presentation, wants_screen
from ralph_tui.config.files import screen_settings
from ralph_tui.config.settings import Settings
from ralph_tui.runtime.assembly import AssembledRun, new_run
from ralph_tui.runtime.request import RunRequest


def main(scenario: str, iterations: str, *options: str) -> int:
    """Run it in the current folder; with ``--headless`` as lines, else in the cockpit."""
    presentation = Presentation(headless="--headless" in options)
    settings = Settings.model_validate(
        {"agent": {"name": "demo"}, "limits": {"max_iterations": iterations}}
    )
    request = RunRequest(
        demo.OBJECTIVE,
        demo.completion_command(),
        settings,
        plan=demo.plan_of(scenario),
        scenario=scenario,
        fast=True,
        mode=presentation.mode,
    )

    def create_run(warn: Callable[[str], None]) -> AbstractContextManager[AssembledRun]:
        return new_run(Path.cwd(), request, warn)

    try:
        screen = wants_screen(headless=presentation.headless, as_json=False)
        shown = screen_settings(None, os.environ) if screen else None
        return show_run(lambda _warn: (create_run, presentation), shown)
    except RalphError as error:
        print(f"ralph-tui: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
