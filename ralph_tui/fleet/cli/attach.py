"""``fleet attach`` on a terminal: the screen of a fleet, and of its loops beside it."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.live import here
from ralph_tui.cli.status_words import told
from ralph_tui.config.files import first_keys, first_theme
from ralph_tui.errors import JournalError, UsageError
from ralph_tui.fleet.records.folders import FleetFolder, find_fleet, find_fleets
from ralph_tui.fleet.records.reading import read_fleet
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.wording import fleet_sentence
from ralph_tui.text.sanitize import clip, one_line

if TYPE_CHECKING:
    from ralph_tui.cli.fronts.stage import Front, Stage


def find_shown(root: Path, name: str | None) -> tuple[FleetFolder, str]:
    """The fleet and the loop that are meant: ``3a`` of the newest, ``fleet-001``, ``fleet-001/3a``;
    the loop is empty where none is.

    Raises ``UsageError`` where there is no such fleet or loop, naming those there are.
    """
    fleet, slash, loop = (name or "").partition("/")
    fleets = {folder.name: folder for folder in find_fleets(root)}
    if fleet in fleets:
        folder = fleets[fleet]
    else:
        folder = find_fleet(root, fleet if slash else None)
        loop = loop if slash else fleet
    if loop:
        known = read_fleet(folder.journal).state().loops
        if loop not in known:
            named = clip(", ".join(known), 300)
            raise UsageError(f"{folder.name} has no loop '{one_line(loop)[:40]}': it has {named}")
    return folder, loop


def show_fleet(root: Path, folder: FleetFolder, loop: str = "") -> int:
    """Show it until its screen is left, then say how to come back.

    `loop` is opened at once; empty: none. Leaving the screen never stops the fleet. The exit code
    is that of its outcome where it is over by then.
    """
    from ralph_tui.cli.fronts.stage import Stage  # noqa: PLC0415 - with a terminal alone
    from ralph_tui.tui.first_frame import ListFrame  # noqa: PLC0415 - as above

    def load(stage: "Stage") -> "Front":
        # Behind the first frame.
        from ralph_tui.fleet.cli.front import FleetFront  # noqa: PLC0415
        from ralph_tui.fleet.sources.whole import Fleet  # noqa: PLC0415

        theme, keys = first_theme(root, os.environ), first_keys(root, os.environ)
        return FleetFront(Fleet(folder, here()), stage, theme, keys, loop=loop)

    theme = first_theme(root, os.environ)
    opening = partial(ListFrame, "fleet", "loops", "fleet", "reading the fleet…")
    code = Stage(load, theme, left=ExitCode.COMPLETED, opening=opening).show()
    with suppress(OSError, JournalError):  # the terminal may be gone
        state = read_fleet(folder.journal).state()
        code = left_code(state, code)
        print(left_words(folder, state))
    return code


def left_code(state: FleetState, code: int) -> int:
    """The exit code of a fleet's screen that ended with `code`: the outcome, where there is one."""
    if state.finished is None or code != ExitCode.COMPLETED:
        return code
    return OUTCOME_CODES[state.finished.outcome]


def left_words(folder: FleetFolder, state: FleetState) -> str:
    """How the fleet stands whose screen was left, and how to come back."""
    living = folder.owner() is not None
    lost = state.finished is None and not living
    rows = [f"{folder.name}: {fleet_sentence(state, datetime.now(UTC), lost=lost)}"]
    if not living:
        for purpose, places in (
            ("the winner's" if len(state.chosen) == 1 else "the winners'", ("chosen",)),
            ("the others'", ("beaten",)),
            ("its branches", ("",)),
        ):
            loops = [one for one in state.loops.values() if one.commit and one.place in places]
            branches = [one.branch for one in loops if one.branch]
            rows += [told(purpose, clip(", ".join(branches), 300))] if branches else []
        rows += [told("go on with it", "ralph-tui fleet resume")] if lost else []
        return "\n".join([*rows, told("its screen", f"ralph-tui fleet attach {folder.name}")])
    return "\n".join(
        [
            *rows,
            told("the screen", "ralph-tui fleet attach"),
            told("stop it", "ralph-tui fleet stop"),
        ]
    )
