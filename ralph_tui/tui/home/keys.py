"""What a key does at home: one table, of which bindings, footer and help are made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ralph_tui.analysis.means import MORE
from ralph_tui.analysis.run_row import RunRow
from ralph_tui.tui.home.table import Listing

Refusal = Callable[[Listing], str]
"""Why a key cannot do what it does; empty when it can."""

CAN_GO_ON = ("died", "interrupted", "failed", "aborted", "limit_reached")
"""States of a run that `resume` goes on with."""


def opening(row: RunRow) -> list[str]:
    """The command line that opens a run: the screen of a live one, the replay of a past one."""
    return ["attach" if row.live else "replay", row.name]


def resuming(row: RunRow) -> list[str]:
    """The command line that goes on with it, with more iterations where none is left."""
    used_up = row.max_iterations is not None and row.iterations >= row.max_iterations
    more = ["--max-iterations", str(row.iterations + MORE)] if used_up else []
    return ["resume", row.name, *more]


def _none_selected(listing: Listing) -> str:
    return "" if listing.name else "no run is recorded here yet"


def _cannot_go_on(listing: Listing) -> str:
    row = listing.row
    if row is None:
        return _none_selected(listing)
    if row.imported:
        return f"{row.imported} recorded it: it can be replayed, and no more"
    if row.name.startswith("hooks/"):
        return "its next Claude Code session goes on with it"
    if row.live:
        return "it is alive: enter opens its screen"
    return "" if row.status in CAN_GO_ON else "it is completed: nothing is left to do"


def _always(_: Listing) -> str:
    return ""


@dataclass(frozen=True)
class Key:
    """One row."""

    keys: str
    """Textual's names, comma-separated."""
    shown: str
    verb: str
    """What the footer says."""
    help: str
    """At most 27 cells."""
    task: str
    """Below which heading of the help it stands."""
    action: str
    """Of the screen."""
    refusal: Refusal = _always
    footer: Literal["always", "runs", "empty", ""] = ""
    """When the footer names it: where there are runs, where there are none yet."""


KEYS: tuple[Key, ...] = (
    Key("enter", "enter", "open", "open the selected run", "open", "open", _none_selected, "runs"),
    Key("n", "n", "new run", "start a run: a form", "open", "new", footer="always"),
    Key("r", "r", "resume", "go on with one that ended", "open", "resume", _cannot_go_on,
        "runs"),
    Key("d", "d", "demo", "see it work on a sample", "open", "demo", footer="empty"),
    Key("slash", "/", "search", "search all runs here", "find a run", "search", footer="runs"),
    Key("down,j", "↓ j", "", "the next one", "find a run", "move(1)"),
    Key("up,k", "↑ k", "", "the one before", "find a run", "move(-1)"),
    Key("pagedown,space", "page ↓", "", "a screenful further", "find a run", "page(1)",),
    Key("pageup", "page ↑", "", "a screenful back", "find a run", "page(-1)"),
    Key("home", "home", "", "the newest", "find a run", "move(-1000000)"),
    Key("end", "end", "", "the oldest", "find a run", "move(1000000)"),
    Key("t", "t", "theme", "dark, light, terminal's own", "look", "theme"),
    Key("question_mark,f1", "?", "help", "explain keys and signs", "look", "help", footer="always"),
    Key("q", "q", "leave", "leave; nothing runs in here", "leave", "leave",
        footer="always"),
)  # fmt: skip
