"""Keys of home, in one table for its bindings, footer and help.

The help also explains the columns of a row.
"""

from ralph_tui.analysis.resume_words import MORE
from ralph_tui.ports.runs import RunRow
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import CRITICAL, DIED, NEEDS_YOU, OUTCOMES, PHASES, ROLLED_BACK
from ralph_tui.tui.home.table import Listing
from ralph_tui.tui.lists.keys import ALWAYS, Key, help_by_task, move_keys
from ralph_tui.tui.modals.help import AT_WORK, Block, by_sign

HomeKey = Key[Listing]
"""A key whose `footer` is ``always``, ``runs`` (if there are any), ``empty`` or ``fleet``."""

RESUMABLE = ("died", "interrupted", "failed", "aborted", "limit_reached")
"""States of a run that `resume` can continue."""


def open_command(row: RunRow) -> list[str]:
    """Return the command line that opens a run: attach to a live one, replay a past one."""
    return ["attach" if row.live else "replay", row.name]


def resume_command(row: RunRow) -> list[str]:
    """Return the command line that resumes a run, granting more iterations if none are left."""
    used_up = row.max_iterations is not None and row.iterations >= row.max_iterations
    more = ["--max-iterations", str(row.iterations + MORE)] if used_up else []
    return ["resume", row.name, *more]


def _check_selected(listing: Listing) -> str:
    return "" if listing.name else "no run is recorded here yet"


def _check_resume(listing: Listing) -> str:
    row = listing.row
    if row is None:
        return _check_selected(listing)
    if row.imported:
        return f"recorded by {row.imported}; it can only be replayed"
    if row.name.startswith("hooks/"):
        return "its next Claude Code session continues it"
    if row.live:
        return "it is running; press enter to open it"
    return "" if row.status in RESUMABLE else "it is already completed"


def _check_fleet(listing: Listing) -> str:
    return "" if listing.fleet else "no fleet here yet; start one with ralph-tui fleet run"


FIND = "find a run"
KEYS: tuple[HomeKey, ...] = (
    Key("", "open", "open", "open", _check_selected, "runs", fixed="enter", notation="enter",
        about="open the selected run",
        details=("live: its screen", "past: its replay")),
    Key("home_new", "new run", "open", "new", footer="always", blocking=True),
    Key("home_resume", "resume", "open", "resume", _check_resume, "runs"),
    Key("home_fleet", "fleet", "open", "fleet", _check_fleet, "fleet"),
    Key("home_demo", "demo", "open", "demo", footer="empty"),
    Key("search", "search", FIND, "search", footer="runs"),
    *move_keys(FIND, "newest run", "oldest run"),
    *ALWAYS,
)  # fmt: skip

STATES: Block = (
    "run states",
    (
        (NEEDS_YOU.glyph, "needs you"),
        ("".join(dict.fromkeys(PHASES[name].glyph for name in AT_WORK)), "live, with its state"),
        *by_sign(OUTCOMES.values()),
        (DIED.glyph, "died: its process is gone"),
    ),
)
COLUMNS: Block = (
    "columns",
    (
        (CRITICAL.glyph, "number of interventions"),
        (ROLLED_BACK.glyph, "files were restored since"),
        ("~$", "the cost is an estimate"),
        ("—", "not recorded or counted:"),
        ("", "see ralph-tui status"),
    ),
)


def blocks(keys: Keys = DEFAULTS) -> list[Block]:
    """Return the content of home's help."""
    tasks = help_by_task(KEYS, keys, (FIND, "open", "look", "leave"))
    return [*tasks, STATES, COLUMNS]
