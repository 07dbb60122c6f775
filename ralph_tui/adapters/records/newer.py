"""Messages about runs recorded by a newer version."""

from ralph_tui.events import SCHEMA_VERSION, RunStarted


def newer_sentence(started: RunStarted) -> str:
    """Return a sentence if a newer version recorded the run, or ""."""
    return newer_than_this(started.schema_version, started.program_version)


def newer_than_this(schema: int, program: str) -> str:
    """Return a sentence if the schema is newer than this version's, or ""."""
    if schema <= SCHEMA_VERSION:
        return ""
    by = f"ralph-tui {program}" if program else "ralph-tui"
    return (
        f"recorded by {by}, which is newer; unknown parts are shown raw or omitted; update to "
        "see everything"
    )
