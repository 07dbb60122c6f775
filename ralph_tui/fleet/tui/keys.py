"""What a key does on the fleet's screen: one table, of which bindings, footer, palette and help are
made.
"""

from collections.abc import Callable
from typing import Any

from ralph_tui.fleet.loop_state import refusal
from ralph_tui.fleet.tui.view import FleetView
from ralph_tui.fleet.wording import GONE
from ralph_tui.tui.list_keys import Key

FleetKey = Key[FleetView]
"""Its footer: ``always``; ``live`` and ``urgent`` while it can be done, the latter first."""


def over(view: FleetView) -> str:
    """Why the fleet takes no command; empty where it does."""
    if view.lost:
        return GONE
    if view.state.started is None:
        return "it is starting"
    return "" if view.live else "the fleet is over"


def _none(view: FleetView) -> str:
    return "" if view.rows else "no loop is known yet"


def _of_loop(*, abort: bool = False) -> Callable[[FleetView], str]:
    """Refused as the fleet would refuse it for the selected loop."""

    def why(view: FleetView) -> str:
        row = view.row
        return over(view) or (_none(view) if row is None else refusal(row.loop, abort=abort))

    return why


def _none_runs(view: FleetView) -> str:
    running = any(row.loop.status == "running" for row in view.rows)
    return over(view) or ("" if running else "no loop runs")


def _nobody_asks(view: FleetView) -> str:
    return over(view) or ("" if view.asking is not None else "no loop waits for an answer")


def _fixed(keys: str, shown: str, said: str, action: str, **more: Any) -> FleetKey:
    task = more.pop("task", "find a loop")
    return Key("", more.pop("verb", ""), task, action, fixed=keys, written=shown, said=said, **more)


KEYS: tuple[FleetKey, ...] = (
    Key("fleet_decide", "answer", "steer", "decide", _nobody_asks, "urgent"),
    _fixed("enter", "enter", "open the selected loop", "open", verb="open", task="look",
           refusal=_none, footer="always"),
    Key("fleet_pause", "pause", "steer", "pause", _of_loop(), "live"),
    Key("fleet_pause_all", "pause all", "steer", "pause_all", _none_runs),
    Key("fleet_guide", "guide", "steer", "guide", _of_loop(), "live"),
    Key("fleet_guide_all", "guide all", "steer", "guide_all", _none_runs),
    Key("fleet_abort", "abort", "steer", "abort", _of_loop(abort=True), "live"),
    Key("fleet_abort_all", "abort all", "steer", "abort_all", over),
    Key("fleet_stop", "stop", "steer", "stop", over, "live"),
    Key("fleet_log", "log", "look", "log", footer="always"),
    _fixed("down,j", "↓ j", "the next one", "down"),
    _fixed("up,k", "↑ k", "the one before", "up"),
    _fixed("pagedown,space", "page ↓", "a screenful further", "page_down"),
    _fixed("pageup", "page ↑", "a screenful back", "page_up"),
    _fixed("home", "home", "the first", "first"),
    _fixed("end", "end", "the last", "last"),
    Key("search", "search", "look", "search"),
    Key("palette", "commands", "look", "palette"),
    Key("theme", "theme", "look", "theme"),
    Key("help", "help", "look", "help", footer="always"),
    Key("leave", "leave", "leave", "leave", footer="always"),
)  # fmt: skip


def verb(key: FleetKey, view: FleetView) -> str:
    """What an action is called as it stands."""
    row = view.row
    if key.action == "pause" and row is not None and row.loop.phase == "paused":
        return "go on"
    if key.action == "log" and view.log:
        return "loops"
    if key.action == "decide" and view.asking is not None and view.asking is not row:
        return f"answer {view.asking.id}"
    return key.verb
