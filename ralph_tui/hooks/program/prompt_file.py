"""PROMPT.md: the section of it that the loop keeps, between two marks; the rest is its user's.

Without marks the section goes to the top, with nothing else changed; without a file there is one
made of the loop's task, as people write it. Where the rest names another task, as after a loop that
is over, the section names the loop's.
"""

from pathlib import Path

from ralph_tui.errors import RalphError, why
from ralph_tui.plain_files import read_bytes, write_whole

NAME = "PROMPT.md"
BEGIN = b"<!-- ralph-tui: this section is written anew between sessions -->"
END = b"<!-- ralph-tui: end of the section -->"
_TASK = "## Task\n\nThe task is this one, whatever else is named here:\n\n"
LARGEST = 1 << 22
"""Bytes of a prompt."""


def has_section(path: Path) -> bool:
    """Whether it is there with our marks in it."""
    try:
        return _span(read_bytes(path, most=LARGEST)) is not None
    except OSError:
        return False


def names(path: Path, objective: str) -> bool:
    """Whether what its user wrote there names the task; also where that cannot be read."""
    try:
        found = read_bytes(path, most=LARGEST)
    except OSError:
        return True
    return _names(found, objective)


def write_section(
    path: Path, section: str, task: str, instructions: str, objective: str = ""
) -> None:
    """Put the section into the file; a file that is not there gets `task` and `instructions`
    around it. Raises ``RalphError``.
    """
    block = _block(section)
    try:
        try:
            found = read_bytes(path, most=LARGEST)
        except FileNotFoundError:
            parts = (_unmarked(task).strip().encode("utf-8", "replace"), block)
            whole = b"\n\n".join(
                (*parts, _unmarked(instructions).strip().encode("utf-8", "replace"))
            )
            write_whole(path, whole + b"\n", durable=False)
            return
        if not _names(found, objective):
            block = _block(f"{_TASK}{objective}\n\n{section}")
        span = _span(found)
        if span is None:
            whole = block + b"\n\n" + found
        else:
            whole = found[: span[0]] + block + found[span[1] :]
        if whole != found:
            write_whole(path, whole, durable=False)
    except OSError as error:
        raise RalphError(
            f"{path} cannot be brought up to date: {why(error, 'make it a writable file')}"
        ) from error


def _block(section: str) -> bytes:
    return b"\n\n".join((BEGIN, _unmarked(section.strip()).encode("utf-8", "replace"), END))


def _names(content: bytes, objective: str) -> bool:
    """Whether the task stands outside of the section, however its lines are broken."""
    begin, end = _span(content) or (0, 0)
    wanted = _unmarked(objective).encode("utf-8", "replace").split()
    return b" ".join(wanted) in b" ".join((content[:begin] + content[end:]).split())


def _span(content: bytes) -> tuple[int, int] | None:
    """Where the section stands, its marks included."""
    begin = content.find(BEGIN)
    end = content.find(END, begin)
    return None if begin < 0 or end < 0 else (begin, end + len(END))


def _unmarked(text: str) -> str:
    """Foreign words that look like our marks do not end the section."""
    return text.replace("<!--", "&lt;!--")
