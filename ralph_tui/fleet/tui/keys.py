"""The keys of the fleet's screen: one table for bindings, footer, palette and help.

The help also explains the symbols of a row.
"""

from collections.abc import Callable

from ralph_tui.fleet.loop_state import refusal
from ralph_tui.fleet.tui.view import FleetView
from ralph_tui.fleet.wording import LOST
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import CHOSEN, DIED, LOOPS, NEEDS_YOU, OUTCOMES, PHASES, WARNING
from ralph_tui.tui.lists.keys import ALWAYS, Key, help_by_task, move_keys
from ralph_tui.tui.modals.help import AT_WORK, Block, by_sign

FleetKey = Key[FleetView]
"""Values of `footer`: ``always``; or ``live`` or ``urgent``, shown only while available.

``urgent`` keys come first.
"""


def fleet_refusal(view: FleetView) -> str:
    """Return why the fleet accepts no commands; empty if it does."""
    if view.lost:
        return LOST[view.lost]
    if view.state.started is None:
        return "it is starting"
    return "" if view.live else "the fleet has ended"


def _if_any_loop(view: FleetView) -> str:
    return "" if view.rows else "no loop is known yet"


def _if_accepted(*, abort: bool = False) -> Callable[[FleetView], str]:
    """Return a check that refuses what the fleet itself would refuse for the selected loop."""

    def why(view: FleetView) -> str:
        row = view.row
        return fleet_refusal(view) or (
            _if_any_loop(view) if row is None else refusal(row.loop, abort=abort)
        )

    return why


def _if_running(view: FleetView) -> str:
    running = any(row.loop.status == "running" for row in view.rows)
    return fleet_refusal(view) or ("" if running else "no loop is running")


def _if_asked(view: FleetView) -> str:
    return fleet_refusal(view) or (
        "" if view.asking is not None else "no loop is waiting for an answer"
    )


FIND = "find a loop"
KEYS: tuple[FleetKey, ...] = (
    Key("fleet_decide", "answer", "steer", "decide", _if_asked, "urgent"),
    Key("", "open", "look", "open", _if_any_loop, "always", fixed="enter", notation="enter",
        about="open the selected loop"),
    Key("fleet_pause", "pause", "steer", "pause", _if_accepted(), "live"),
    Key("fleet_pause_all", "pause all", "steer", "pause_all", _if_running),
    Key("fleet_guide", "guide", "steer", "guide", _if_accepted(), "live"),
    Key("fleet_guide_all", "guide all", "steer", "guide_all", _if_running),
    Key("fleet_abort", "abort", "steer", "abort", _if_accepted(abort=True), "live"),
    Key("fleet_abort_all", "abort all", "steer", "abort_all", fleet_refusal),
    Key("fleet_stop", "stop", "steer", "stop", fleet_refusal, "live"),
    Key("fleet_log", "log", "look", "log", footer="always"),
    *move_keys(FIND, "the first", "the last"),
    Key("search", "search", "look", "search"),
    Key("palette", "commands", "look", "palette"),
    *ALWAYS,
)  # fmt: skip


def verb(key: FleetKey, view: FleetView) -> str:
    """Return the label of an action in the current state."""
    row = view.row
    if key.action == "pause" and row is not None and row.loop.pauses:
        return "unpause"
    if key.action == "log" and view.log:
        return "loops"
    if key.action == "decide" and view.asking is not None and view.asking is not row:
        return f"answer {view.asking.id}"
    return key.verb


STATES: Block = (
    "state of a loop",
    (
        (NEEDS_YOU.glyph, "it needs you"),
        *by_sign(PHASES[name] for name in AT_WORK if name != "starting"),
        (LOOPS["queued"].glyph, "queued: not started yet"),
        (LOOPS["placing"].glyph, "starting, or no output yet"),
        (DIED.glyph, "died, or its host is silent"),
        *by_sign(OUTCOMES.values()),
        (LOOPS["skipped"].glyph, "skipped: it will not run"),
    ),
)  # fmt: skip
ATTEMPTS: Block = (
    "several attempts",
    (
        ("┌ ├ └", "attempts at one objective"),
        (CHOSEN.glyph, "the chosen attempt"),
        (WARNING.glyph, "conflicts, or not collected"),
    ),
)


def blocks(keys: Keys = DEFAULTS) -> list[Block]:
    """Return all blocks of the help."""
    tasks = help_by_task(KEYS, keys, ("steer", "look", FIND, "leave"))
    return [*tasks, STATES, ATTEMPTS]
