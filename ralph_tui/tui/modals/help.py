"""The help: the whole screen, by what one wants to do, a line for each key and each sign.

Rule: keys come from the table of actions, signs from the glossary that all panes draw with.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from ralph_tui.keys import DEFAULTS, TABLE, Keys
from ralph_tui.text.terms import (
    ASKED,
    BEST,
    CHECKPOINTS,
    CRITICAL,
    DIED,
    FORGOT,
    GOOD,
    IN_PROMPT,
    LEARNED,
    LEVELS,
    MUTED,
    NO_HELP,
    OUTCOMES,
    PHASES,
    PINNED,
    ROLLED_BACK,
    ROLLOVER,
    SHORTENED,
    UNPROVEN,
    WARNING,
    Term,
)
from ralph_tui.tui.actions import ACTIONS, TASKS, Action, offered
from ralph_tui.tui.draw.spans import Line, cells, clip_line, wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.reading import Reading
from ralph_tui.tui.modals.scroll_text import ScrollText

LEFT, RIGHT, GAP = 8, 27, 2
"""Cells of a key and of what it does; between two columns of them."""
LEAST = LEFT + 1 + RIGHT
"""Cells; where a column has fewer, what does not fit beside its key stands below it."""
FRAME = 4
"""Cells of the frame with its margin; it takes half as many rows."""

AT_WORK = ("starting", "agent", "thinking", "verifying", "limited", "paused")
"""Phases of a run that is not over."""
Block = tuple[str, Sequence[tuple[str, str]]]
"""A heading, and what stands below it."""


def by_sign(terms: Iterable[Term]) -> Iterator[tuple[str, str]]:
    """A row for each sign, with all that it means."""
    words: dict[str, list[str]] = {}
    for term in terms:
        words.setdefault(term.glyph, []).append(term.word)
    return ((glyph, " or ".join(dict.fromkeys(named))) for glyph, named in words.items())


def _sign(term: Term, words: str = "") -> tuple[str, str]:
    return term.glyph, words or term.word


BESIDE: dict[str, Sequence[tuple[str, str]]] = {
    "watch": (
        ("1-9 tab", "a pane by number; the next"),
        ("↑ ↓", "move in it; page, home, end"),
        ("enter", "open what is selected"),
        ("esc", "close; then all panes again"),
        ("mouse", "click; shift+drag selects"),
    ),
    "steer": (("8, e", "edit the next prompt once"),),
    "go back": (
        ("3, ← →", "select an iteration"),
        ("v", "mark it, to compare two"),
        ("enter", "what it changed, as a diff"),
    ),
    "leave": (("ctrl+c", "the same; twice: at once"),),
    "replay": (
        ("mouse", "on the bar: go there"),
        _sign(SHORTENED, "a wait, shown shortened"),
        ("┼", "an iteration begins"),
    ),
}
"""Keys of panes, by what they are good for; where they are no action of the whole screen.

An action in braces stands for its key.
"""
IN_A_QUESTION: Block = (
    "in a question",
    (
        ("y n", "yes, no; a aborts"),
        ("e g", "edit it; with guidance"),
        ("w", "answer in your own words"),
        ("space", "stop its countdown"),
        ("↑ ↓", "read on"),
        ("esc", "answer later; {decide} opens it"),
    ),
)
TOGETHER: dict[str, tuple[str, str]] = {
    "grant": ("take_back", "one iteration more, fewer"),
    "back": ("forward", "one event back, forward"),
    "back_iteration": ("forward_iteration", "one iteration back, forward"),
    "slower": ("faster", "half, double the speed"),
    "start": ("end", "to the beginning, the end"),
    "next_mark": ("previous_mark", "next alarm, the one before"),
}
"""Actions that are told in one row: by the first of two the second, and what they do."""
LEARNINGS: Block = (
    "learnings",
    (
        ("5, enter", "all about one of them"),
        ("* m e x", "pin, mute, edit, delete it"),
    ),
)


SIGNS: tuple[Block, ...] = (
    (
        "signs",
        (
            _sign(ASKED, "it needs you"),
            _sign(GOOD, "good, passed, helped"),
            _sign(WARNING, "a warning"),
            _sign(CRITICAL, "critical; you were asked"),
            _sign(LEVELS["owner"], "what you asked for"),
            ("└", "what was done about it"),
            _sign(BEST, "the best so far"),
            _sign(PHASES["agent"], "the iteration that runs"),
            _sign(ROLLED_BACK, "files were restored"),
            _sign(CHECKPOINTS["key"], "saved by key (◦ by timer)"),
            _sign(ROLLOVER, "a fresh session went on"),
            _sign(FORGOT, "the agent forgot details"),
        ),
    ),
    (
        "what the run does",
        tuple(by_sign(PHASES[name] for name in AT_WORK)),
    ),
    ("how it ended", tuple(by_sign([*OUTCOMES.values(), DIED]))),
    (
        "signs of learnings",
        tuple(_sign(term) for term in (IN_PROMPT, NO_HELP, LEARNED, PINNED, MUTED, UNPROVEN)),
    ),
    (
        "words",
        (("push", "how hard the prompt urges"),),
    ),
)


def _keys(actions: Sequence[Action], keys: Keys) -> list[tuple[str, str]]:
    """A row for each, or for two."""
    second = {told for told, _ in TOGETHER.values()}
    rows = []
    for name in (action.name for action in actions if action.name not in second):
        other, words = TOGETHER.get(name, ("", TABLE[name].help))
        rows.append((" ".join(keys.shown(each) for each in (name, other) if each), words))
    return rows


def blocks(
    keys: Keys = DEFAULTS, *, live: bool, now: Sequence[Action] = (), asked: bool = False
) -> list[Block]:
    """Return the help for this kind of screen: first the keys in the footer (`now`) and the signs.

    While a question is open (`asked`), the keys that answer it come before them.
    """
    told: list[Block] = []
    for task in TASKS:
        there = [a for a in ACTIONS if a.task == task and offered(a, live=live)]
        rows = _keys([a for a in there if a not in now], keys)
        if rows:
            beside = BESIDE.get(task, ()) if live or task != "steer" else ()
            told.append((task, [*rows, *_told(beside, keys)]))
    title, answers = IN_A_QUESTION
    question: list[Block] = [(title, _told(answers, keys))] if live else []
    first: list[Block] = [("on this screen", _keys(now, keys))] if now else []
    before, after = (question, []) if asked else ([], question)
    return [*before, *first, *SIGNS[:2], *told, *after, LEARNINGS, *SIGNS[2:]]


def _told(rows: Sequence[tuple[str, str]], keys: Keys) -> list[tuple[str, str]]:
    return [(keys.told(key), keys.told(words)) for key, words in rows]


def _rows(block: Block, size: int) -> list[Line]:
    title, pairs = block
    told: list[Line] = [[(title, "accent strong")]]
    for key, words in pairs:
        if size >= LEAST or LEFT + 1 + len(words) <= size:
            told.append([(f"{key:<{LEFT}} ", "key"), (words, "text")])
        else:
            told += [[(key, "key")], *([("  " + row, "text")] for row in wrap(words, size - 2, 9))]
    return told


def _filled(laid: Sequence[list[Line]], most: int) -> list[list[Line]]:
    """The blocks below one another, in columns of at most so many rows where they are divisible."""
    sides: list[list[Line]] = []
    for rows in laid:
        if sides and len(sides[-1]) + 1 + len(rows) <= most:
            sides[-1] += [[], *rows]
        else:
            sides.append(list(rows))
    return sides


def columns(told: Sequence[Block], width: int) -> list[Line]:
    """The blocks in as many columns as there is room for, about equally long."""
    number = max(1, min(3, (width + GAP) // (LEFT + RIGHT + GAP + 1)))
    size = (width + GAP) // number - GAP
    laid = [_rows(block, size) for block in told]
    sides = next(sides for most in count(1) if len(sides := _filled(laid, most)) <= number)
    beside: list[Line] = []
    for row in range(max(map(len, sides))):
        line: Line = []
        for index, side in enumerate(sides):
            spans = clip_line(side[row], size) if row < len(side) else []
            gap = GAP if index < len(sides) - 1 else 0
            line += [*spans, (" " * (size - cells(spans) + gap), "")]
        beside.append(line)
    return beside


class Help(Reading[None]):
    """Fills the screen; it scrolls where that is not enough."""

    HELPS = (("q", "leave"),)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "close", show=False),
    ]

    def __init__(self, told: Sequence[Block], clock: Callable[[], float] = monotonic) -> None:
        """`told`: what is explained."""
        super().__init__("help-text", clock)
        self._told = told

    def parts(self) -> ComposeResult:
        """One text in a frame."""
        with Vertical(id="help", classes="dialog"):
            yield self.text

    def pairs(self) -> Sequence[Pair]:
        """See `Modal`."""
        return (("↑", ""), ("↓", "scroll"), ("esc", "close"))

    def lay(self) -> None:
        """See `Reading`."""
        self.query_one("#help").border_title = Content(" help ")
        wide, high = self.room
        self.text.show(
            columns(self._told, max(8, wide - FRAME - ScrollText.EDGE)), max(1, high - 2)
        )
