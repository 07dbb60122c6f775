"""``python -m tests.soak.begin SCENARIO``: the demo's run in a folder that is prepared already."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from ralph_tui import demo
from ralph_tui.cli.front import Front, show_run
from ralph_tui.cli.launch import Launched, launched
from ralph_tui.cli.order import Order
from ralph_tui.settings import Settings


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
