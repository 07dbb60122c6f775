"""What a key does at home: one table, of which bindings, footer and help are made."""

from typing import Any

from ralph_tui.analysis.means import MORE
from ralph_tui.analysis.run_row import RunRow
from ralph_tui.tui.home.table import Listing
from ralph_tui.tui.list_keys import Key

HomeKey = Key[Listing]
"""Its footer: ``always``, ``runs`` where there are some, ``empty`` where there are none yet,
``fleet`` where there is one."""

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


def _no_fleet(listing: Listing) -> str:
    return "" if listing.fleet else "no fleet was started here yet: ralph-tui fleet run"


def _fixed(keys: str, shown: str, said: str, action: str, verb: str = "", **more: Any) -> HomeKey:
    task = "open" if verb else "find a run"
    return Key("", verb, task, action, fixed=keys, written=shown, said=said, **more)


KEYS: tuple[HomeKey, ...] = (
    _fixed("enter", "enter", "open the selected run", "open", "open", refusal=_none_selected,
           footer="runs"),
    Key("home_new", "new run", "open", "new", footer="always"),
    Key("home_resume", "resume", "open", "resume", _cannot_go_on, "runs"),
    Key("home_fleet", "fleet", "open", "fleet", _no_fleet, "fleet"),
    Key("home_demo", "demo", "open", "demo", footer="empty"),
    Key("search", "search", "find a run", "search", footer="runs"),
    _fixed("down,j", "↓ j", "the next one", "move(1)"),
    _fixed("up,k", "↑ k", "the one before", "move(-1)"),
    _fixed("pagedown,space", "page ↓", "a screenful further", "page(1)"),
    _fixed("pageup", "page ↑", "a screenful back", "page(-1)"),
    _fixed("home", "home", "the newest", "move(-1000000)"),
    _fixed("end", "end", "the oldest", "move(1000000)"),
    Key("theme", "theme", "look", "theme"),
    Key("help", "help", "look", "help", footer="always"),
    Key("leave", "leave", "leave", "leave", footer="always"),
)  # fmt: skip
