"""The resume block: the first part of the prompt for a session that takes over.

It is short: the work in progress, its files, the next step, and the handoff that has the details.
Other authors' text is in blocks labelled as data; the user's words are quoted in full.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ralph_tui.layers.context.handoff import HALF_MADE, LONGEST_ITEM, LONGEST_WORDS, lines_word, why
from ralph_tui.layers.context.state_file import FileInProgress
from ralph_tui.text.quoting import labelled, line_of, quoted

MAX_FILES = 8
"""Maximum files named here; the handoff names more."""
LONGEST_PATH, LONGEST_ABOUT = 160, 80
"""Maximum characters of a path, and of other text about a file."""
DO_NOT_RESTART = "**DO NOT restart the task from scratch.**"


class Resume(NamedTuple):
    """Everything known about the session that was ended; unknown fields keep their defaults."""

    handoff_file: str
    """Path of the handoff relative to the worktree; chosen by ralph-tui, not quoted."""
    cause: str = ""
    """``L2``, ``L3``, ``item`` or ``asked``."""
    percent: float | None = None
    item: str = ""
    """The plan's first open item."""
    progress: str = ""
    summary: str = ""
    files: tuple[FileInProgress, ...] = ()
    """The last edited first."""
    next_step: str = ""
    said: tuple[str, ...] = ()
    """The user's messages to that session."""
    made_file: str = ""
    """Path of the original, if the handoff was edited."""
    edited: bool = False
    """True if the user edited the handoff; the block then omits the work and the next step."""


def resume_text(given: Resume) -> str:
    """Return the block in Markdown, without its heading."""
    parts = [
        why(given.cause, given.percent) + " Continue its work.",
        _instructions(given),
        "" if given.edited else _data("Work in progress", _in_progress(given)),
        _data("Files to resume, most recently edited first", _files(given.files)),
        "" if given.edited else _data("Next step", [line_of(given.next_step, LONGEST_WORDS)]),
        *_owner(given.said),
    ]
    return "\n\n".join(part for part in parts if part)


def _instructions(given: Resume) -> str:
    edited = " (edited by the user)" if given.edited else ""
    made = f"; the original is in {given.made_file}" if given.made_file else ""
    where = "the files to resume" if _files(given.files) else "the files as they are now"
    steps = [
        f"{DO_NOT_RESTART} That session's work is in the files.",
        f"Read its handoff first: {given.handoff_file}{edited}{made}" if given.handoff_file else "",
        f"Continue from there, in {where}. Other planned work comes after that.",
        HALF_MADE if given.cause == "L3" else "",
    ]
    return "\n".join(f"{n}. {step}" for n, step in enumerate(filter(None, steps), 1))


def _in_progress(given: Resume) -> list[str]:
    item = line_of(given.item, LONGEST_ITEM)
    progress = line_of(given.progress, LONGEST_ABOUT)
    how = f" ({progress})" if item and progress else ""
    named = f"First open item in the plan: {item}{how}" if item else ""
    return [named, line_of(given.summary, LONGEST_WORDS)]


def _files(files: Sequence[FileInProgress]) -> list[str]:
    lines = []
    for file in files:
        path, where = line_of(file.path, LONGEST_PATH), line_of(file.lines, LONGEST_ABOUT)
        what = line_of(file.description, LONGEST_ABOUT)
        places = f", {lines_word(where)} {where}" if where else ""
        lines += [f"{path}{places}{f': {what}' if what else ''}"] if path else []
    more = len(lines) - MAX_FILES
    return [*lines[:MAX_FILES], *([f"and {more} more"] if more > 0 else [])]


def _data(label: str, lines: Sequence[str]) -> str:
    said = [line for line in lines if line]
    return labelled(label, "\n".join(said)) if said else ""


def _owner(said: Sequence[str]) -> list[str]:
    words = ["\n".join(quoted(text)) for text in dict.fromkeys(said) if text.strip()]
    return ["The user's messages to that session apply to you, too:", *words] if words else []
