"""Texts of the hooks for Claude, for people and for PROMPT.md; and removal of secrets from text.

The code that masks secrets takes longer to import than everything else in a call. It is not used
for text that cannot contain a secret: short plain words, none of which hints at one.

In PROMPT.md the loop maintains the section between two marks; the rest belongs to the user. Without
marks, the section is inserted at the top. Without a file, one is made from the loop's task. If the
rest names another task, as after an earlier loop, the section names the current one.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ralph_tui.base.errors import RalphError, why
from ralph_tui.base.plain_files import read_bytes, write_whole
from ralph_tui.hooks.program.call import Progress
from ralph_tui.layers.context.handoff import MAX_CHARACTERS
from ralph_tui.layers.context.resume import Resume, resume_text
from ralph_tui.layers.context.state_file import UNKNOWN, Checkpoint, State

PROMPT = "PROMPT.md"
BEGIN = b"<!-- ralph-tui: this section is written anew between sessions -->"
END = b"<!-- ralph-tui: end of the section -->"
_TASK = "## Task\n\nThis is the task, whatever else is named here:\n\n"
LARGEST = 1 << 22
"""Maximum number of bytes in a prompt."""
LONGEST = 200
"""Maximum number of characters in a summary."""

_SUBJECTS = (
    "file_path", "notebook_path", "path", "command", "pattern", "query", "url", "description",
    "prompt",
)  # fmt: skip
_WORDS = re.compile(
    r"(?:[A-Za-z]{1,14}[0-9]{0,3}(?![A-Za-z0-9])|[0-9]{1,4}(?![A-Za-z0-9])|[ ./_,*-])*"
)
_ANNOUNCES = re.compile(
    r"pass|pwd|phrase|secret|token|key|auth|cred|bearer|login|user|cookie|session|sig|salt|hash"
    r"|jwt|ssh|curl|wget|http|basic|otp|pin|dsn|account|private|(?:^| )-[a-z]*[abdhkpuw]",
    re.IGNORECASE,
)
_FENCES = ("```", "~~~")


def warning_text(percent: int) -> str:
    """Return the warning at L1 for Claude; its first line is for scripts and the user."""
    return (
        f"CCS_WARNING|L1|{percent}|Context at {percent}%\n"
        f"The context window is {percent}% full. Finish the item you are working on and start no "
        "large one. Read parts of files rather than whole files, and leave searches to subagents."
    )


def checkpoint_line(level: str, percent: int, handoff: str) -> str:
    """Return the line about a checkpoint for scripts and the user."""
    return f"CCS_CHECKPOINT_TRIGGERED|{level}|{percent}|{handoff}"


def handoff_prompt(percent: int, handoff: str) -> str:
    """Return the instructions at L2 for Claude."""
    return (
        f"{checkpoint_line('L2', percent, handoff)}\n"
        f"The context window is {percent}% full, so this session ends now and a fresh one "
        "continues the same task. It will see only the files and the handoff.\n"
        "1. Finish the edit you are making, so that the files are whole. Start nothing new.\n"
        f"2. Complete the handoff {handoff}. It contains what could be measured. Add what only you "
        "know: what is done, what is in progress and where, the next step, open questions. Use at "
        f"most {MAX_CHARACTERS} characters. Name files and lines; do not copy their content.\n"
        "3. Stop. Do not promise completion unless the whole task is done."
    )


def end_text(level: str, percent: int, handoff: str) -> str:
    """Return the message at L3 for the user."""
    return (
        f"{checkpoint_line(level, percent, handoff)}\n"
        f"The context window is {percent}% full: the session ends now. {_fresh_hint(handoff)}"
    )


def fresh_session_text(percent: int, handoff: str) -> str:
    """Return the message for the user when a session stops after its checkpoint."""
    return (
        f"ralph-tui: the session handed off at {percent} % of its context window, and "
        f"continuing here does not empty it. {_fresh_hint(handoff)}"
    )


def _fresh_hint(handoff: str) -> str:
    return (
        f"Unless an outer loop does it, start a fresh session (/clear) and have it read {PROMPT}; "
        f"the handoff is {handoff}."
    )


def continue_prompt(state: State, item: str) -> str:
    """Return the reason, worded for Claude, why the session must continue."""
    lines = [
        f"Iteration {state['iteration']} of {state['max_iterations']}: the task is not done yet.",
        f"Task: {state['objective']}" if state["objective"] else "Task: see PROMPT.md.",
    ]
    if item:
        lines.append(f"Next item: {item}")
    lines.append(
        "Continue with it, one item at a time. Only when all of it is done and checked, print "
        "this on a line of its own:\n"
        f"<promise>{state['completion_promise']}</promise>"
    )
    return "\n".join(lines)


def task_text(state: State) -> str:
    """Return the beginning of a new PROMPT.md."""
    name = state["task_name"] or state["objective"].strip().partition("\n")[0][:60] or "see below"
    return f"# Task: {name}\n\n## Objective\n\n{state['objective']}"


def instructions_text(state: State) -> str:
    """Return the end of a new PROMPT.md."""
    return (
        "## Instructions\n\n"
        "1. If the section above says that this session resumes, read the handoff first and "
        "continue from there. Do not reread what it covers.\n"
        "2. Work on ONE open item, check it, and mark it done in the plan.\n"
        "3. Only when every item is done and checked, print this on a line of its own: "
        f"`<promise>{state['completion_promise']}</promise>`."
    )


def progress_text(state: State, progress: Progress | None, last: str) -> str:
    """Return the section of PROMPT.md with the loop's progress."""
    lines = ["## Current State", "", f"- **Iteration**: {state['iteration']}"]
    if last:
        lines.append(f"- **Last action**: {last}")
    if progress is not None:
        left = progress.total - progress.done
        lines.append(f"- **Remaining items**: {left} of {progress.total}")
        if progress.item:
            lines.append(f"- **Next item**: {progress.item}")
    return "\n".join([*lines, f"- **Started**: {state['started_at']}"])


def first_line(text: str) -> str:
    """Return the first line that contains words and does not open a code block."""
    lines = (line.strip() for line in text.splitlines())
    with_words = (line for line in lines if any(map(str.isalnum, line)) and line[:3] not in _FENCES)
    return next(with_words, "")


def resume_block(checkpoint: Checkpoint, progress: Progress | None = None) -> str:
    """Return the section of PROMPT.md to write after a checkpoint."""
    parts = progress.parts if progress else ()
    done = [*(progress.completed if progress else ()), *(text for text, ticked in parts if ticked)]
    resume = Resume(
        handoff_file=checkpoint.handoff_file,
        cause=checkpoint.level,
        percent=checkpoint.percent_at_checkpoint,
        level=checkpoint.level,
        done=tuple(done),
        focus=next((text for text, ticked in parts if not ticked), ""),
        item=checkpoint.current_todo_item,
        progress=item_progress(checkpoint),
        summary=checkpoint.resume_summary,
        files=checkpoint.files_in_progress,
    )
    return f"## CONTEXT CHECKPOINT RESUME\n\n{resume_text(resume)}"


def item_progress(checkpoint: Checkpoint) -> str:
    """Return the progress on the checkpoint's item; empty if unknown."""
    progress = checkpoint.progress_on_item
    return "" if progress == UNKNOWN else progress


def is_harmless(text: str) -> bool:
    """True if the text cannot contain a secret; False proves nothing."""
    return _WORDS.fullmatch(text) is not None and _ANNOUNCES.search(text) is None


def identifier(text: str) -> str:
    """Return a foreign id reduced to valid characters, at most 80."""
    return re.sub(r"[^A-Za-z0-9_.:-]", "", text[:80])


def clean(text: str, longest: int = LONGEST) -> str:
    """Return the text on one line, shortened, without secrets and control sequences."""
    beginning = text[: longest * 2]
    if is_harmless(beginning):
        return beginning if len(beginning) <= longest else beginning[: longest - 1] + "…"
    from ralph_tui.text.sanitize import clip, one_line

    return clip(one_line(beginning), longest)


def redact_text(text: str) -> str:
    """Return the whole text without secrets and control sequences."""
    from ralph_tui.text.sanitize import plain

    return plain(text)


def describe_input(tool_input: Mapping[str, Any], root: str) -> str:
    """Return the file, command or pattern that a tool works on."""
    for name in _SUBJECTS:
        value = tool_input.get(name)
        if isinstance(value, str) and value:
            return clean(value.removeprefix(root.rstrip("/") + "/"))
    return clean(json.dumps(tool_input, ensure_ascii=False)) if tool_input else ""


def has_section(path: Path) -> bool:
    """True if the file exists and contains our marks."""
    try:
        return _find_section(read_bytes(path, most=LARGEST)) is not None
    except OSError:
        return False


def names_task(path: Path, objective: str) -> bool:
    """True if the user's part of the file names the task, or cannot be read."""
    try:
        found = read_bytes(path, most=LARGEST)
    except OSError:
        return True
    return _names_task(found, objective)


def write_prompt(
    path: Path,
    state: State,
    progress: Progress | None = None,
    last: str = "",
    checkpoint: Checkpoint | None = None,
) -> None:
    """Update the section with the loop's progress and its `last` action. Raises ``RalphError``."""
    section = progress_text(state, progress, last)
    if checkpoint is not None:
        section += "\n\n" + resume_block(checkpoint, progress)
    task, instructions = task_text(state), instructions_text(state)
    write_section(path, redact_text(section), task, instructions, redact_text(state["objective"]))


def write_section(
    path: Path, section: str, task: str, instructions: str, objective: str = ""
) -> None:
    """Write the section into the file; a new file has `task` and `instructions` around it.

    Raises ``RalphError``.
    """
    block = _block(section)
    try:
        try:
            found = read_bytes(path, most=LARGEST)
        except FileNotFoundError:
            whole = b"\n\n".join((_encode_part(task), block, _encode_part(instructions)))
            write_whole(path, whole + b"\n", durable=False)
            return
        if not _names_task(found, objective):
            block = _block(f"{_TASK}{objective}\n\n{section}")
        if span := _find_section(found):
            whole = found[: span[0]] + block + found[span[1] :]
        else:
            whole = block + b"\n\n" + found
        if whole != found:
            write_whole(path, whole, durable=False)
    except OSError as error:
        raise RalphError(
            f"{path} cannot be updated: {why(error, 'make it a writable file')}"
        ) from error


def _block(section: str) -> bytes:
    return b"\n\n".join((BEGIN, _encode_part(section), END))


def _names_task(content: bytes, objective: str) -> bool:
    """True if the task is named outside the section, however its lines are wrapped."""
    begin, end = _find_section(content) or (0, 0)
    wanted = _encode_part(objective).split()
    return b" ".join(wanted) in b" ".join((content[:begin] + content[end:]).split())


def _find_section(content: bytes) -> tuple[int, int] | None:
    """Return the position of the section, including its marks."""
    begin = content.find(BEGIN)
    end = content.find(END, begin)
    return None if begin < 0 or end < 0 else (begin, end + len(END))


def _encode_part(text: str) -> bytes:
    """Encode a part of the file; escape text that looks like our marks."""
    return text.replace("<!--", "&lt;!--").strip().encode("utf-8", "replace")
