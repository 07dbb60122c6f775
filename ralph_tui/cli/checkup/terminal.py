"""The terminal as the cockpit would find it."""

import re
from collections.abc import Iterator

from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.cli.checkup.surroundings import Surroundings
from ralph_tui.cli.fronts.terminal import default_theme

WHAT = "terminal"
COLOURS = "colours"
_LAYOUTS = (
    (140, 28, "all panes side by side"),
    (100, 28, "two columns of panes"),
    (100, 15, "two columns, one of them shared by the other panes"),
    (60, 15, "one pane at a time; two columns from 100 columns up"),
)
"""Minimum columns and rows of each layout."""


def check_terminal(around: Surroundings) -> Iterator[Finding]:
    """Check whether a screen can be drawn, how large, and with which characters."""
    if not around.columns:
        yield Finding(
            "note", WHAT, "the output is not a terminal; run, demo and replay print plain lines"
        )
        return
    term = around.environ.get("TERM", "")
    if term in ("", "dumb"):
        says = f"TERM is {term!r}; the screen cannot be drawn" if term else "TERM is not set"
        yield Finding("warning", WHAT, says, "export TERM=xterm-256color")
    size = f"{around.columns}x{around.rows}"
    layout = next(
        (
            words
            for columns, rows, words in _LAYOUTS
            if around.columns >= columns and around.rows >= rows
        ),
        None,
    )
    if layout is None:
        yield Finding(
            "warning", WHAT, f"{size} has room for one line of status", "make it 80x24 or larger"
        )
    else:
        yield Finding("ok", WHAT, f"{size}, TERM={term}: {layout}")
    yield from _letters(around)


def _letters(around: Surroundings) -> Iterator[Finding]:
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    name = next((name for name in names if around.environ.get(name)), "LANG")
    locale = around.environ.get(name, "")
    if not re.search(r"utf-?8", locale, re.IGNORECASE):
        says = f"the locale is not UTF-8 ({name}={locale or 'not set'}): symbols may show as ?"
        yield Finding("warning", WHAT, says, f"export {name}=C.UTF-8")


def check_colours(around: Surroundings) -> Iterator[Finding]:
    """Report how many colours the cockpit would use."""
    if not around.columns:
        return
    environ = around.environ
    if environ.get("NO_COLOR"):
        yield Finding(
            "ok", COLOURS, "none, because NO_COLOR is set; states have a symbol and a word"
        )
    elif environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        yield Finding("ok", COLOURS, f"all of them (COLORTERM={environ['COLORTERM']})")
    elif default_theme(environ) is None:
        fix = "export COLORTERM=truecolor, if your terminal supports true colour"
        yield Finding("ok", COLOURS, "256 of them", fix)
    else:
        fix = "export TERM=xterm-256color, if your terminal supports more"
        yield Finding("note", COLOURS, "the 16 of the terminal itself", fix)
