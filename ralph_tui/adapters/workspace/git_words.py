"""What git says of a failure, which may be many lines with hints, in one line. Pure."""

from ralph_tui.text.sanitize import one_line

MOST_NAMED = 3
"""Of the files that an error of git lists."""


def reason_of(error: str) -> str:
    """The line that says what is wrong, and the files it is about; empty: none does."""
    lines = [line.strip() for line in error.splitlines()]
    lines = [line for line in lines if line and not line.startswith("hint:")]
    first = next((n for n, line in enumerate(lines) if line.startswith(("fatal:", "error:"))), 0)
    if not lines or not lines[first].endswith(":"):
        return one_line("".join(lines[first : first + 1]))
    named = lines[first + 1 :]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return one_line(f"{lines[first]} {', '.join(named[:MOST_NAMED])}{more}")
