"""The set-up: this program and its Python, the settings, and the outreach channels."""

import platform
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version

from ralph_tui import __version__
from ralph_tui.adapters.outreach import build_channels, outbox_folder
from ralph_tui.cli.checkup.environment import Environment
from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.config.files import user_config_file
from ralph_tui.text.format import count

SUBJECT = "python"


def check_python(_: Environment) -> Iterator[Finding]:
    """Report the versions, and check that SQLite has full-text search."""
    says = f"ralph-tui {__version__}, Python {platform.python_version()}"
    yield Finding("ok", SUBJECT, f"{says}, Textual {version('textual')} ({sys.prefix})")
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error:
        yield Finding(
            "warning",
            SUBJECT,
            "Python's SQLite has no full-text search (FTS5); search finds nothing",
            "install ralph-tui with another Python",
        )


SETTINGS = "settings"
MESSAGES = "messages"


def check_settings(env: Environment) -> Iterator[Finding]:
    """Report every error in any source of settings, or how many settings are set."""
    loaded = env.loaded
    for problem in loaded.problems:
        says, _, fix = problem.rpartition(": ")
        fix = fix if says else "correct the file"
        yield Finding("problem", SETTINGS, says or problem, fix)
    for warning in loaded.warnings:
        says, _, fix = warning.partition("; ")
        yield Finding("warning", SETTINGS, says, fix)
    if loaded.problems:
        return
    given = sum(origin != "default" for origin in loaded.origins.values())
    own = user_config_file()
    if not given and not own.exists():
        says = "all settings have their defaults"
        yield Finding("ok", SETTINGS, says, "ralph-tui config init writes a settings file")
    else:
        yield Finding("ok", SETTINGS, f"{count(given, 'setting')} set (ralph-tui config show)")


def check_messages(env: Environment) -> Iterator[Finding]:
    """Check whether a channel notifies the user when a run needs an answer; nothing is sent."""
    outreach, outbox = env.settings.outreach, outbox_folder(env.root)
    channels = build_channels(outreach, env.environ, outbox)
    if channels and not outreach.escalate:
        yield Finding("note", MESSAGES, "outreach.escalate is false: no message is sent")
    elif channels:
        names = ", ".join(f"{channel.name} {channel.place}" for channel in channels)
        yield Finding("ok", MESSAGES, f"sent to {names} (test: ralph-tui doctor --notify)")
    else:
        says = "you are not notified when a run waits for an answer and no screen is open"
        yield Finding("note", MESSAGES, says, "ralph-tui doctor --notify explains the set-up")
