"""What is said of a run that a newer version has recorded."""

from ralph_tui.events import SCHEMA_VERSION, RunStarted


def told_newer(started: RunStarted) -> str:
    """One sentence about a run of which a newer version has recorded more than this one knows."""
    return newer_than_this(started.schema_version, started.program_version)


def newer_than_this(schema: int, program: str) -> str:
    """The same of what stands in its first line."""
    if schema <= SCHEMA_VERSION:
        return ""
    by = f"ralph-tui {program}" if program else "ralph-tui"
    return (
        f"recorded by {by}, which is newer: what this version does not know is shown raw or left "
        "out; update to see all of it"
    )
