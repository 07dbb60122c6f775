"""The resume block: the first part of the prompt for a session that takes over.

It is short: the work in progress, its files, the next step, and the path of the handoff with the
details. Other authors' text is in blocks labelled as data; the user's words are quoted in full.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ralph_tui.layers.context.handoff import (
    LONGEST_ITEM,
    LONGEST_WORDS,
    PARTLY_DONE,
    lines_word,
    why,
)
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


def resume_text(resume: Resume) -> str:
    """Return the block in Markdown, without its heading."""
    parts = [
        why(resume.cause, resume.percent) + " Continue its work.",
        _instructions(resume),
        "" if resume.edited else _data("Work in progress", _in_progress(resume)),
        _data("Files to resume, most recently edited first", _files(resume.files)),
        "" if resume.edited else _data("Next step", [line_of(resume.next_step, LONGEST_WORDS)]),
        *_user_text(resume.said),
    ]
    return "\n\n".join(part for part in parts if part)


def _instructions(resume: Resume) -> str:
    edited = " (edited by the user)" if resume.edited else ""
    made = f"; the original is in {resume.made_file}" if resume.made_file else ""
    where = "the files to resume" if _files(resume.files) else "the files as they are now"
    steps = [
        f"{DO_NOT_RESTART} That session's work is in the files.",
        f"Read its handoff first: {resume.handoff_file}{edited}{made}"
        if resume.handoff_file
        else "",
        f"Continue from there, in {where}. Other planned work comes after that.",
        PARTLY_DONE if resume.cause == "L3" else "",
    ]
    return "\n".join(f"{n}. {step}" for n, step in enumerate(filter(None, steps), 1))


def _in_progress(resume: Resume) -> list[str]:
    item = line_of(resume.item, LONGEST_ITEM)
    progress = line_of(resume.progress, LONGEST_ABOUT)
    how = f" ({progress})" if item and progress else ""
    named = f"First open item in the plan: {item}{how}" if item else ""
    return [named, line_of(resume.summary, LONGEST_WORDS)]


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


def _user_text(said: Sequence[str]) -> list[str]:
    words = ["\n".join(quoted(text)) for text in dict.fromkeys(said) if text.strip()]
    return ["The user's messages to that session apply to you, too:", *words] if words else []
