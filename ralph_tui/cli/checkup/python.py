"""This program and what it runs on."""

import platform
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version

from ralph_tui import __version__
from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.cli.checkup.surroundings import Surroundings

WHAT = "python"


def check_python(_: Surroundings) -> Iterator[Finding]:
    """Versions, and an SQLite that can search."""
    says = f"ralph-tui {__version__}, Python {platform.python_version()}"
    yield Finding("ok", WHAT, f"{says}, Textual {version('textual')} ({sys.prefix})")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error:
        yield Finding(
            "warning",
            WHAT,
            "its SQLite has no full-text search (FTS5): search finds nothing",
            "install ralph-tui with another Python",
        )
