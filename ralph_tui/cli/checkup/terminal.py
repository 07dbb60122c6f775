"""The terminal: its size, encoding and colours."""

import re
from collections.abc import Iterator

from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.cli.fronts.terminal import default_theme

SUBJECT = "terminal"
COLOURS = "colours"
_LAYOUTS = (
    (140, 28, "all panes side by side"),
    (100, 28, "two columns of panes"),
    (100, 15, "two columns; the other panes share one of them"),
    (60, 15, "one pane at a time; a width of 100 shows two columns of panes"),
)
"""Minimum columns and rows of each layout."""


def check_terminal(env: Environment) -> Iterator[Finding]:
    """Check whether a screen can be drawn, its size and its encoding."""
    if not env.columns:
        yield Finding(
            "note", SUBJECT, "the output is not a terminal; run, demo and replay print plain lines"
        )
        return
    term = env.environ.get("TERM", "")
    if term in ("", "dumb"):
        says = f"TERM is {term!r}; the screen cannot be drawn" if term else "TERM is not set"
        yield Finding("warning", SUBJECT, says, "export TERM=xterm-256color")
    size = f"{env.columns}x{env.rows}"
    layout = next(
        (words for columns, rows, words in _LAYOUTS if env.columns >= columns and env.rows >= rows),
        None,
    )
    if layout is None:
        yield Finding(
            "warning",
            SUBJECT,
            f"{size} has room for only one line of status",
            "make it 80x24 or larger",
        )
    else:
        yield Finding("ok", SUBJECT, f"{size}, TERM={term}: {layout}")
    yield from _check_encoding(env)


def _check_encoding(env: Environment) -> Iterator[Finding]:
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    name = next((name for name in names if env.environ.get(name)), "LANG")
    locale = env.environ.get(name, "")
    if not re.search(r"utf-?8", locale, re.IGNORECASE):
        says = f"the locale is not UTF-8 ({name}={locale or 'not set'}): symbols may show as ?"
        yield Finding("warning", SUBJECT, says, f"export {name}=C.UTF-8")


def check_colours(env: Environment) -> Iterator[Finding]:
    """Report how many colours the cockpit would use."""
    if not env.columns:
        return
    environ = env.environ
    if environ.get("NO_COLOR"):
        yield Finding(
            "ok", COLOURS, "none, because NO_COLOR is set; each state still has a symbol and a word"
        )
    elif environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        yield Finding("ok", COLOURS, f"true colour (COLORTERM={environ['COLORTERM']})")
    elif default_theme(environ) is None:
        fix = "export COLORTERM=truecolor, if your terminal supports true colour"
        yield Finding("ok", COLOURS, "256 colours", fix)
    else:
        fix = "export TERM=xterm-256color, if your terminal supports more"
        yield Finding("note", COLOURS, "the terminal's own 16 colours", fix)
