"""The rows around the table of loops: the fleet's status, its log, the selected loop, the keys."""

from collections.abc import Callable, Iterator, Sequence

from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE, MAX_NAMED, host_words
from ralph_tui.fleet.state import HostState
from ralph_tui.fleet.tui.keys import KEYS, FleetKey, fleet_refusal, verb
from ralph_tui.fleet.tui.table import agent, place_text, state_of, time_left
from ralph_tui.fleet.tui.view import FleetView
from ralph_tui.fleet.wording import (
    conflict_sentences,
    cost_words,
    fleet_sentence,
    kept_sentence,
    loop_sentence,
    result_sentence,
    spent_words,
)
from ralph_tui.text import terms
from ralph_tui.text.format import clock, count, day_and_clock, duration
from ralph_tui.text.keys import DEFAULTS, Keys
from ralph_tui.tui.draw.feedback_rows import FeedbackRow
from ralph_tui.tui.draw.fitting import Field, fit, fitted, join
from ralph_tui.tui.draw.spans import Line, cells, flat, wrap
from ralph_tui.tui.draw.words import since
from ralph_tui.tui.lists.keys import key_spans
from ralph_tui.tui.modals.scroll_text import ScrollText

SEPARATOR = " · "
TITLE = 12
"""Number of cells reserved for the fleet's title; fewer if the title is shorter."""
ALWAYS_SHOWN = ("help", "leave", "decide", "open")
"""Actions that the row of keys drops last."""
DROPPED_FIRST = ("guide", "stop", "log", "abort", "pause")
"""Actions that the row of keys drops first."""
WHOLE_FROM = 80
"""Minimum width, in columns, at which every key is shown with its label."""


def head(view: FleetView, width: int) -> tuple[Line, Line]:
    """Return the fleet's name, and its loops, slots, cost and time."""
    state = view.state
    started = state.started
    name = started.name if started is not None else "fleet"
    title = flat(state.plan.name)
    left: Line = [(name, "accent strong"), *([(f"  {title}", "text")] if title else [])]
    here = [host for host in state.hosts.values() if host.takes]
    slots, used = (
        sum(host.slots for host in here),
        sum(len([*state.running_on(h.name)]) for h in here),
    )
    spent, whole = cost_words(state), spent_words(state)
    style = "warn" if state.budget_percent else "text"
    end = state.finished.at if state.finished is not None else view.now
    took = duration((end - started.at).total_seconds()) if started is not None else ""
    slotted: list[Line] = [[]]
    if view.live:
        idle = sum(row.is_waiting for row in view.rows)
        used_words = (
            f"{used} of {count(slots, 'slot')} used{f', {idle} only waiting' if idle else ''}"
        )
        brief = f"{used}/{slots} slots{f', {idle} waiting' if idle else ''}"
        slotted = [[(used_words, "dim")], [(brief, "dim")], [(f"{used}/{slots}", "dim")], []]
    fields = [
        Field([[(count(len(view.rows), "loop"), "dim")], []], 0),
        Field(slotted, 1),
        Field([[(whole, style)], [(spent, style)], []], 3),
        Field([[(took, "dim")], []], 2),
    ]
    shown = fit(fields, max(0, width - 4 - len(name) - min(TITLE, cells(left[1:]))))
    return left, join(shown)


def sentence(view: FleetView) -> Line:
    """Return the fleet's status as a glyph and a sentence."""
    state = view.state
    said = fleet_sentence(state, view.now, lost=view.lost)
    if view.note and not view.lost:
        return [(f"{terms.WARNING.glyph} ", "warn"), (flat(view.note), "text")]
    term, style = _status_mark(view)
    return [(f"{term.glyph} ", style), (flat(said, 600), style if style != "accent" else "text")]


def _status_mark(view: FleetView) -> tuple[terms.Term, str]:
    state = view.state
    if view.lost:
        return terms.ENDLESS[view.lost], "bad"
    if state.finished is not None:
        outcome = state.finished.outcome
        return terms.OUTCOMES[outcome], "good" if outcome == "completed" else "warn"
    if view.asking is not None:
        return terms.NEEDS_YOU, "warn"
    if state.held or state.stopping or any(host.missing for host in state.hosts.values()):
        return terms.WARNING, "warn"
    return (
        (terms.PHASES["agent"], "accent")
        if state.started is not None
        else (terms.PHASES["starting"], "dim")
    )


def hosts(view: FleetView) -> Line:
    """Return each host with its slots; empty if this machine is the only host."""
    state = view.state
    if not view.several_hosts or not view.live:
        return []
    line: Line = [("hosts", "dim")]
    for host in state.hosts.values():
        line += [("  ", ""), *_host_spans(host, len([*state.running_on(host.name)]), view)]
    return line


def _host_spans(host: HostState, used: int, view: FleetView) -> Line:
    if host.here:
        at_work = f"{flat(host.name)} {used}/{host.slots}"
        if host.leaving:
            return [(f"{terms.PHASES['agent'].glyph} {at_work} leaves", "dim")]
        return [(f"{terms.PHASES['agent'].glyph} ", "accent"), (at_work, "text")]
    if host.left:
        return [(f"{terms.LOOPS['skipped'].glyph} {flat(host.name)} left", "dim")]
    lost = f" lost {since(host.since, view.now)} ago"
    return [(f"{terms.LOOPS['lost'].glyph} {flat(host.name)}", "bad"), (lost, "bad")]


def detail(view: FleetView, width: int, most: int) -> list[tuple[Line, Line]]:
    """Return exactly `most` rows about the selected loop.

    They show its objective, where it runs, its status and its work.
    """
    row = view.row
    lines: list[Line] = []
    if row is not None:
        room = max(8, width - 2)
        lines = [[(flat(row.loop.spec.objective, 2000), "text")], _facts(view, room)]
        for text, style in _top_facts(view):
            lines += [[(part, style)] for part in wrap(flat(text, 2000), room, 2)]
    return [(lines[index] if index < len(lines) else [], []) for index in range(most)]


def _facts(view: FleetView, width: int) -> Line:
    row = view.row
    assert row is not None
    loop = row.loop
    term, style = state_of(row)
    lasts = time_left(row, view.now)
    placed, placed_style = place_text(row)
    again = f"restart {loop.attempt - 1}" if loop.attempt > 1 else ""
    where = f"on {host_words(loop.host)}" if loop.host else ""
    if loop.machine and loop.host not in (loop.machine, HERE):
        where = f"{where} ({loop.machine})"
    attempts = f"attempt {row.number} of {row.attempts}" if row.attempts > 1 else ""
    began = loop.began_at or loop.placed_at
    ports = f"ports {loop.ports[0]}-{loop.ports[1]}" if loop.ports and not loop.over else ""
    parts = [
        f"loop {row.id}",
        attempts,
        agent(row),
        f"{again} {where}".strip(),
        f"began {day_and_clock(began, view.now)}" if began else "",
        f"issue {loop.spec.issue}" if loop.spec.issue else "",
        f"account {loop.spec.account}" if loop.spec.account else "",
        ports,
    ]
    line: Line = [(f"{term.label} {lasts}".strip(), style), ("  ", "")]
    line += [(f"{placed}  ", placed_style)] if placed else []
    known = [part for part in parts if part]
    return fitted(known, lambda left, _: [*line, (flat(SEPARATOR.join(left)), "dim")], width)


def _top_facts(view: FleetView) -> Iterator[tuple[str, str]]:
    """Yield the most important facts first: conflicts, status, the result."""
    row = view.row
    assert row is not None
    loop = row.loop
    if conflicts := _conflicts_text(loop):
        yield f"{terms.WARNING.glyph} {conflicts}", "warn"
    if loop.verified is False:
        failed = "its completion command failed in a fresh clone"
        yield f"{terms.WARNING.glyph} {failed}: {loop.verified_why}".rstrip(": "), "warn"
    if not loop.over or loop.reason:
        said = loop_sentence(loop, view.state, view.now, lost=view.lost)
        yield said, "warn" if row.is_asking else "text"
    if result := result_sentence(loop, lost=view.lost):
        yield result, "warn" if loop.not_collected else "text"
    if kept := kept_sentence(loop):
        yield kept, "dim"
    chosen = view.state.chosen.get(loop.spec.tries_at) if loop.spec.tries_at else None
    if chosen is not None and chosen.reason:
        yield f"chosen: {chosen.loop or 'none'}, {chosen.reason}", "dim"


def _conflicts_text(loop: LoopState) -> str:
    """Describe the loop's conflicts; of several, only their number and the first few."""
    branches = list(loop.conflicts)
    if len(branches) < 2:
        return "; ".join(conflict_sentences(loop))
    more = f" and {len(branches) - MAX_NAMED} more" if len(branches) > MAX_NAMED else ""
    known = f"conflicts with {len(branches)} branches: {', '.join(branches[:MAX_NAMED])}{more}"
    unknown = loop.conflicts_unknown
    return f"{known}; others are not known: {unknown}" if unknown else known


class KeysRow(FeedbackRow):
    """The last row: the available keys, or feedback on a key press."""

    def __init__(
        self, view: FleetView, monotonic: Callable[[], float], keys: Keys = DEFAULTS
    ) -> None:
        super().__init__("fleet-foot", monotonic)
        self._view, self._keys = view, keys

    def keys_line(self, width: int) -> Line:

        def draw(shown: Sequence[FleetKey], bare: int) -> Line:
            return key_spans(shown, self._keys, bare, lambda key: verb(key, self._view))

        available = self._available()
        for action in DROPPED_FIRST if width >= WHOLE_FROM else ():
            if (
                cells(draw(available, 0)) > width
            ):  # never cut a label; `?` and the palette list all keys
                available = [key for key in available if key.action != action]
        return fitted(available, draw, width, lambda key: key.action in ALWAYS_SHOWN)

    def _available(self) -> list[FleetKey]:
        running = not fleet_refusal(self._view)
        return [
            key
            for key in KEYS
            if key.footer == "always" or (key.footer and running and not key.refusal(self._view))
        ]


INDENT = 10
"""Number of cells that the margin, the time and the level's sign take up."""
MAX_ROWS = 4
"""Maximum number of rows for one event."""
LEAST = 30
"""Minimum width, in cells, at which the log shows times."""


def log_rows(events: Sequence[FleetEvent], width: int) -> list[Line]:
    """Return the rows of these events."""
    rows: list[Line] = []
    for event in events:
        said = event.row()
        if said is None:
            continue
        level, text = said.level, said.text
        tone, loud = terms.LEVEL_TONES[level], level in ("warn", "critical")
        head: Line = [(f"  {clock(event.at)} ", "dim")] if width >= LEAST else [(" ", "")]
        head.append((f"{terms.LEVELS[level].glyph} ", tone))
        indent = INDENT if width >= LEAST else 3
        for number, row in enumerate(wrap(flat(text, 2000), max(8, width - indent), MAX_ROWS)):
            words = (row, tone if loud else "text")
            rows.append([*head, words] if not number else [(" " * indent, ""), words])
    return rows


class FleetLog(ScrollText):
    """Follows the newest events, unless the user has scrolled away from the end."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__("fleet-log")
        self._stamp: object = None

    def update(self, events: Sequence[FleetEvent], width: int, height: int) -> None:
        """Show events in `height` rows; without events it takes no space."""
        stamp = (events[-1].seq if events else 0, width, height)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        at_end = self.top >= len(self.rows) - self.size.height
        self.show(log_rows(events, width - self.EDGE), height)
        if at_end:
            self._roll_to(len(self.rows), height)
