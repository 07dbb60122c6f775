"""The rows around the list: place and totals, notices, the selected run, and the keys."""

from collections.abc import Callable, Sequence
from datetime import datetime
from shlex import join

from ralph_tui.ports.runs import FleetGlance
from ralph_tui.text.format import count, day_and_clock
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.text.terms import NEEDS_YOU, PHASES, STATES, WARNING
from ralph_tui.tui.draw.feedback_rows import FeedbackRow
from ralph_tui.tui.draw.fitting import fitted
from ralph_tui.tui.draw.spans import Line, cells, clickable, flat, wrap
from ralph_tui.tui.home.keys import KEYS, HomeKey, open_command
from ralph_tui.tui.home.table import Listing, state_of
from ralph_tui.tui.lists.keys import key_spans

PROGRAM = "ralph-tui"
MESSAGE_ROWS = 3
"""Maximum number of rows for a command's closing message."""


def head(place: str, listing: Listing) -> tuple[Line, Line]:
    """Return the top row: the place, and the number of runs."""
    total = len(listing.names)
    live = sum(row.live for row in listing.rows.values())
    summary = count(total, "run") if total else ""
    if not listing.loaded:
        summary = "looking for runs…"
    right: Line = [(summary, "dim")]
    if live:
        right.append((f", {live} live", "accent"))
    return [(PROGRAM, "accent strong"), (f"  {flat(place)}", "dim")], right


def notes(
    sentence: str, listing: Listing, without: Sequence[str], width: int, keys: Keys = DEFAULTS
) -> list[tuple[Line, Line]]:
    """Return the rows above the list, each with a left and a right part.

    They show the last command's message, runs that are waiting for an answer, records that cannot
    be listed, and the fleet.
    """
    rows = [*message_rows(sentence, width), *question_rows(listing)[:2], *lost_rows(without, width)]
    lines: list[tuple[Line, Line]] = [(row, []) for row in rows]
    return [*lines, *([fleet(listing.fleet, keys)] if listing.fleet is not None else [])]


def fleet(glance: FleetGlance, keys: Keys) -> tuple[Line, Line]:
    """Return the fleet's row: name, status, cost, and the key that opens it."""
    key = keys.of("home_fleet")[0]
    mark, style = (NEEDS_YOU.glyph, "warn") if glance.asking else (PHASES["agent"].glyph, "accent")
    if not glance.live:
        mark, style = STATES[glance.end].glyph, "dim"
    named = f"{glance.name} {glance.title}".strip()
    left: Line = [
        (f"{mark} ", style),
        (flat(named, 30), f"{style} strong" if glance.live else style),
    ]
    # An ended fleet's sentence already counts the objectives; a narrow screen cannot fit both.
    counted = "" if "objective" in glance.sentence else count(glance.objectives, "objective") + ": "
    left += [(f"  {counted}", "dim"), (glance.sentence, "text")]
    if not glance.live:
        left = [(text, "dim") for text, _ in left]
    right: Line = [(glance.cost, "text"), ("  ", "")]
    right += [(keys.shown("home_fleet"), "key"), (" fleet", "text")]
    return clickable(left, key), clickable(right, key)


def question_rows(listing: Listing) -> list[Line]:
    """Return a row for each run that is waiting for an answer."""
    asking = [row for row in listing.rows.values() if row.question]
    return [
        [(f"{NEEDS_YOU.glyph} {row.name} waits for your answer: ", "warn strong"),
         (flat(row.objective, 200), "warn")]
        for row in asking
    ]  # fmt: skip


def lost_rows(sentences: Sequence[str], width: int) -> list[Line]:
    """Return the first place whose runs cannot be listed, and the number of others."""
    more = f" (and {count(len(sentences) - 1, 'more place')})" if len(sentences) > 1 else ""
    return message_rows(f"{sentences[0]}{more}", width) if sentences else []


def message_rows(sentence: str, width: int) -> list[Line]:
    """Return a command's closing message as rows."""
    rows = wrap(flat(sentence, 600), max(8, width - 4), MESSAGE_ROWS) if sentence else []
    return [
        [(f"{WARNING.glyph} " if not index else "  ", "warn"), (row, "text")]
        for index, row in enumerate(rows)
    ]


def detail(listing: Listing, now: datetime) -> list[tuple[Line, Line]]:
    """Return the selected run's objective, state, name, agent and start time in two rows."""
    row = listing.row
    if row is None:
        return []
    term, style = state_of(row)
    parts = [
        row.name,
        row.agent,
        f"started {day_and_clock(row.started, now)}" if row.started else "",
    ]
    parts.append(f"recorded by {row.imported}" if row.imported else "")
    facts: Line = [(term.label, style), ("  ", ""), (" · ".join(filter(None, parts)), "dim")]
    if row.problem:
        facts[1:] = [(f"  {WARNING.glyph} ", "warn"), (flat(row.problem), "text")]
    return [([(flat(row.objective) or "—", "text")], []), (facts, [])]


class KeysRow(FeedbackRow):
    """The last row: the available keys and the command that enter runs, or feedback for a key."""

    def __init__(self, monotonic: Callable[[], float], keys: Keys = DEFAULTS) -> None:
        super().__init__("home-foot", monotonic)
        self._keys = keys
        self._listing: Listing | None = None

    def follow(self, listing: Listing) -> None:
        self._listing = listing
        self.refresh_keys()

    def keys_line(self, width: int) -> Line:
        """Return the keys; if space is short, shorten the command first, then drop verbs."""
        listing = self._listing or Listing()
        row = listing.row
        command = open_command(row) if row is not None else []
        ways = ([PROGRAM, *command], command, command[:1]) if command else ([],)
        for typed in ways:
            spans = self._row(self._able(listing), join(typed), 0)
            if cells(spans) <= width:
                return spans
        shortest = command[0] if command else ""
        return fitted(
            self._able(listing),
            lambda shown, bare: self._row(shown, shortest, bare),
            width,
            lambda key: key.name in ("help", "leave"),
        )

    def _able(self, listing: Listing) -> list[HomeKey]:
        here = "empty" if listing.loaded and not listing.names else "runs"
        named = ("always", here, "fleet")
        return [k for k in KEYS if k.footer in named and not k.refusal(listing)]

    def _row(self, shown: Sequence[HomeKey], typed: str, bare: int) -> Line:
        """Return the keys, the last `bare` of them without their verbs."""

        def verb(key: HomeKey) -> str:
            return typed or key.verb if key.action == "open" else key.verb

        return key_spans(shown, self._keys, bare, verb)
