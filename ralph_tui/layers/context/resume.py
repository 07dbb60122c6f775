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
"""Maximum number of files named here; the handoff names more."""
MAX_DONE = 5
"""Maximum number of completed items named here."""
LONGEST_PATH, LONGEST_ABOUT = 160, 80
"""Maximum length of a path, and of other text about a file, in characters."""
DO_NOT_RESTART = "**DO NOT restart the task from scratch.**"


class Resume(NamedTuple):
    """Everything known about the session that was ended; unknown fields keep their defaults."""

    handoff_file: str
    """Path of the handoff relative to the worktree; chosen by ralph-tui, not quoted."""
    cause: str = ""
    """``L2``, ``L3``, ``item`` or ``asked``."""
    percent: float | None = None
    level: str = ""
    """The level at `percent`; empty if unknown."""
    done: tuple[str, ...] = ()
    """Plan items and sub-items that are complete."""
    item: str = ""
    """The plan's first open item."""
    progress: str = ""
    focus: str = ""
    """The item's next open part."""
    summary: str = ""
    files: tuple[FileInProgress, ...] = ()
    """Files in progress, most recently edited first."""
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
        why(resume.cause, resume.percent, resume.level) + " Continue its work.",
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
    if _last_edit(resume.files):
        where = "the place edited last"
    steps = [
        f"{DO_NOT_RESTART} That session's work is in the files.",
        f"Read its handoff first: {resume.handoff_file}{edited}{made}"
        if resume.handoff_file
        else "",
        f"Continue from there, in {where}. Other planned work comes after that.",
        "" if resume.edited else _focus(resume),
        PARTLY_DONE if resume.cause == "L3" else "",
    ]
    return "\n".join(f"{n}. {step}" for n, step in enumerate(filter(None, steps), 1))


def _focus(resume: Resume) -> str:
    """Say in our own words what is complete and what to focus on; the block below names both."""
    complete = "What is listed as completed is complete: do not redo it." * bool(resume.done)
    part, item = bool(resume.focus), bool(resume.item)
    focus = "Focus on the next part of the open item." if part else "Focus on the open item." * item
    return " ".join(words for words in (complete, focus) if words)


def _last_edit(files: Sequence[FileInProgress]) -> str:
    """Return where the session edited last, as ``src/oauth.ts, line 90``; empty if unknown."""
    last = files[0] if files else FileInProgress("")
    path, line = line_of(last.path, LONGEST_PATH), line_of(last.last_line, LONGEST_ABOUT)
    return f"{path}, line {line}" if path and line else ""


def _in_progress(resume: Resume) -> list[str]:
    done = [line_of(text, LONGEST_ITEM) for text in resume.done]
    more = len(done) - MAX_DONE
    last, focus = _last_edit(resume.files), line_of(resume.focus, LONGEST_ITEM)
    item = line_of(resume.item, LONGEST_ITEM)
    progress = line_of(resume.progress, LONGEST_ABOUT)
    how = f" ({progress})" if item and progress else ""
    named = f"First open item in the plan: {item}{how}" if item else ""
    return [
        *(f"Completed: {text}" for text in done[:MAX_DONE] if text),
        f"Completed: {more} more" if more > 0 else "",
        named,
        f"Its next part: {focus}" if focus else "",
        f"Last edit: {last}" if last else "",
        line_of(resume.summary, LONGEST_WORDS),
    ]


def _files(files: Sequence[FileInProgress]) -> list[str]:
    lines = []
    for file in files:
        path, where = line_of(file.path, LONGEST_PATH), line_of(file.lines, LONGEST_ABOUT)
        what = line_of(file.description, LONGEST_ABOUT)
        places = f", {lines_word(where)} {where}" if where else ""
        status = line_of(file.status, LONGEST_ABOUT)
        about = f"{what} ({status})" if what and status else what or status
        lines += [f"{path}{places}{f': {about}' if about else ''}"] if path else []
    more = len(lines) - MAX_FILES
    return [*lines[:MAX_FILES], *([f"and {more} more"] if more > 0 else [])]


def _data(label: str, lines: Sequence[str]) -> str:
    said = [line for line in lines if line]
    return labelled(label, "\n".join(said)) if said else ""


def _user_text(said: Sequence[str]) -> list[str]:
    words = ["\n".join(quoted(text)) for text in dict.fromkeys(said) if text.strip()]
    return ["The user's messages to that session apply to you, too:", *words] if words else []
