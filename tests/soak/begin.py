"""``python -m tests.soak.begin SCENARIO``: the demo's run in a folder that is prepared already."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from ralph_tui import demo
from ralph_tui.cli.fronts.common import Front, show_run
from ralph_tui.config.settings import Settings
from ralph_tui.runtime.assembly import Launched, launched
from ralph_tui.runtime.request import Order


def main(scenario: str, *options: str) -> int:
    """Run it in the current folder; with ``--headless`` as lines, else in the cockpit."""
    front = Front(headless="--headless" in options)
    settings = Settings.model_validate({"agent": {"name": "demo"}})
    order = Order(
        demo.OBJECTIVE,
        demo.completion_command(),
        settings,
        scenario=scenario,
        fast=True,
        mode=front.mode,
    )

    def stage() -> AbstractContextManager[Launched]:
        return launched(Path.cwd(), order)

    return show_run(stage, front)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
