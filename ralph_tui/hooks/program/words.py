"""What the hooks say, to Claude and to people. Pure; whatever comes in is without secrets."""

from ralph_tui.hooks.program.plan import Progress
from ralph_tui.layers.context.handoff import MOST_CHARACTERS
from ralph_tui.layers.context.resume import Resume, resume_text
from ralph_tui.layers.context.state_file import Checkpoint, State

_FENCES = ("```", "~~~")


def warning_of(percent: int) -> str:
    """At L1, for Claude; its first line is for scripts and the user."""
    return (
        f"CCS_WARNING|L1|{percent}|Context at {percent}%\n"
        f"The context window is {percent}% full. Finish the item you work on and begin no large "
        "one; read parts of files rather than whole ones, and leave searches to subagents."
    )


def checkpoint_line(level: str, percent: int, handoff: str) -> str:
    """For scripts and the user."""
    return f"CCS_CHECKPOINT_TRIGGERED|{level}|{percent}|{handoff}"


def hand_over(percent: int, handoff: str) -> str:
    """At L2, for Claude."""
    return (
        f"{checkpoint_line('L2', percent, handoff)}\n"
        f"The context window is {percent}% full, so this session ends now and a fresh one goes on "
        "with the same task. It will see only the files and the handoff.\n"
        "1. Finish the edit you are in the middle of, so that the files are whole. Begin nothing "
        "new.\n"
        f"2. Complete the handoff {handoff}. It holds what could be measured; add what only you "
        "know: what is done, what is in progress and where, the next step, open questions. At most "
        f"{MOST_CHARACTERS} characters; name files and lines, copy nothing.\n"
        "3. Stop. Do not make the promise of completion unless the whole task is done."
    )


def ended_at(level: str, percent: int, handoff: str, prompt: str) -> str:
    """At L3, for the user."""
    return (
        f"{checkpoint_line(level, percent, handoff)}\n"
        f"The context window is {percent}% full: the session ends now. {_fresh(handoff, prompt)}"
    )


def fresh_session(percent: int, handoff: str, prompt: str) -> str:
    """When a session stops after its checkpoint, for the user."""
    return (
        f"ralph-tui: the session handed over at {percent} % of its context window, which nothing "
        f"said here can empty. {_fresh(handoff, prompt)}"
    )


def _fresh(handoff: str, prompt: str) -> str:
    return (
        f"Where no outer loop does it, start a fresh one (/clear) and tell it to read {prompt}; "
        f"the handoff is {handoff}."
    )


def go_on(state: State, item: str) -> str:
    """Why the session does not stop, for Claude."""
    lines = [
        f"Iteration {state['iteration']} of {state['max_iterations']}: the task is not done yet.",
        f"Task: {state['objective']}" if state["objective"] else "Task: see PROMPT.md.",
    ]
    if item:
        lines.append(f"Next item: {item}")
    lines.append(
        "Go on with it, one item at a time. When all of it is done and checked, and only then, say "
        f"this, alone on its line:\n<promise>{state['completion_promise']}</promise>"
    )
    return "\n".join(lines)


def task_of(state: State) -> str:
    """The beginning of a PROMPT.md that nobody has written."""
    name = state["task_name"] or state["objective"].strip().partition("\n")[0][:60] or "see below"
    return f"# Task: {name}\n\n## Objective\n\n{state['objective']}"


def instructions_of(state: State) -> str:
    """Its end."""
    return (
        "## Instructions\n\n"
        "1. If the section above says that this session resumes, read the handoff first and go on "
        "from there; do not read again what it tells.\n"
        "2. Work on ONE open item; check it; note in the plan that it is done.\n"
        "3. When every item is done and checked, and only then, say alone on its line: "
        f"`<promise>{state['completion_promise']}</promise>`."
    )


def where_it_stands(state: State, progress: Progress | None, last: str) -> str:
    """The section of PROMPT.md: how far the loop is."""
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
    """The first that says something; a fence of code does not."""
    lines = (line.strip() for line in text.splitlines())
    told = (line for line in lines if any(map(str.isalnum, line)) and line[:3] not in _FENCES)
    return next(told, "")


def resume_block(checkpoint: Checkpoint) -> str:
    """The section of PROMPT.md after a checkpoint."""
    given = Resume(
        handoff_file=checkpoint.handoff_file,
        cause=checkpoint.level,
        percent=checkpoint.percent_at_checkpoint,
        item=checkpoint.current_todo_item,
        progress=progress_of(checkpoint),
        summary=checkpoint.resume_summary,
        files=checkpoint.files_in_progress,
    )
    return f"## CONTEXT CHECKPOINT RESUME\n\n{resume_text(given)}"


def progress_of(checkpoint: Checkpoint) -> str:
    """On its item; empty where it is not known."""
    progress = checkpoint.progress_on_item
    return "" if progress == "unknown" else progress
