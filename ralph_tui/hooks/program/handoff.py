"""Levels L2 and L3: save the work, hand off, and prepare the next session."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ralph_tui.base.errors import RalphError, why
from ralph_tui.base.plain_files import make_folder, write_whole
from ralph_tui.hooks.program import record, words
from ralph_tui.hooks.program.call import Call, Progress
from ralph_tui.hooks.program.evidence import ChangedFile, gather
from ralph_tui.hooks.program.transcript import Activity, read_activity
from ralph_tui.hooks.program.words import clean, describe_input, redact_text
from ralph_tui.layers.context.handoff import Call as Made
from ralph_tui.layers.context.handoff import Handoff, Reference, handoff_text
from ralph_tui.layers.context.levels import Level, whole
from ralph_tui.layers.context.state_file import (
    UNKNOWN,
    Checkpoint,
    FileInProgress,
    checkpoint_of,
    stamp,
    with_checkpoint,
    without_checkpoint,
)
from ralph_tui.layers.context.work import ItemProgress, item_progress, words_about

HANDOFFS = Path(".claude") / "handoffs"
FIELD = "commit_wip"
"""Field of the state file: an object with `left_out`, the files that are never committed."""
MAX_FILES = 10
MAX_PARTS = 50
"""Maximum number of the open item's sub-items that are read."""
ACTIONS = 8
SUMMARY = 400
"""Maximum number of characters quoted from the session's last message."""
_WRITES = ("Edit", "Write", "MultiEdit", "NotebookEdit")


def hand_off(call: Call, level: Level, percent: float) -> None:
    """Do everything that a level requires; the session is informed even if a step fails."""
    before = checkpoint_of(call.state)
    shown = whole(percent)
    item = clean(call.item())
    handoff = before.handoff_file if before else str(_new_name(call))
    checkpoint = Checkpoint(level, shown, stamp(call.now), handoff, current_todo_item=item)
    _keep(call, checkpoint)
    with suppress(RalphError):  # reported at the final save
        # If this call is killed from here on, the Stop hook has what it needs.
        call.held.save()
    activity = _read_all(call)
    checkpoint = _add_evidence(call, checkpoint, activity)
    _keep(call, checkpoint)
    if before is None:
        reason = f"the context window is {shown} % full"
        call.record(
            "rollover_began", number=1, cause=level, percent=percent, level=level, reason=reason
        )
    if before is None or not (call.root / handoff).exists():
        handoff = _write_handoff(call, checkpoint, activity).handoff_file
    if level == "L3":
        complete_handoff(call)
        _end(call, level, shown, handoff)
        return
    call.answer.user.append(words.checkpoint_line(level, shown, handoff))
    call.answer.model = words.handoff_prompt(shown, handoff)


def complete_handoff(call: Call) -> None:
    """End the iteration with its checkpoint; PROMPT.md tells the next one where to continue."""
    checkpoint = checkpoint_of(call.state)
    if checkpoint is None:
        return
    if not (call.root / checkpoint.handoff_file).exists():
        activity = _read_all(call)
        checkpoint = _add_evidence(call, checkpoint, activity)
        checkpoint = _write_handoff(call, checkpoint, activity)
    progress = _clean_progress(call)  # compared with the start of this iteration
    record.begin_iteration(call)
    if FIELD in call.state:
        from ralph_tui.hooks.program.commit import commit_checkpoint

        commit_checkpoint(call, checkpoint)
    record.end_session(call, "rolled_over")
    record.end_iteration(call, "incomplete")
    session = call.session
    if session is not None:
        call.session = session._replace(over=True, left=max(1, session.left))
    call.state = without_checkpoint(call.state) | {"iteration": call.iteration + 1}
    update_prompt(call, checkpoint, progress)


def repeat_end(call: Call, level: Level, percent: float) -> None:
    """End a session that filled its window after its handoff; name that handoff again."""
    _end(call, level, whole(percent), last_handoff(call)[1])


def _end(call: Call, level: Level, percent: int, handoff: str) -> None:
    call.answer.user.append(words.checkpoint_line(level, percent, handoff))
    call.answer.ends = words.end_text(level, percent, handoff)
    call.answer.code = 1 if call.outer_loop else 0


def last_handoff(call: Call) -> tuple[int, str]:
    """Return the percentage at the last checkpoint, and its handoff."""
    last = call.state["context_checkpoint"]
    return last.get("percent_at_checkpoint", 0), last.get("handoff_file", "")


def update_prompt(
    call: Call, checkpoint: Checkpoint | None, progress: Progress | None = None
) -> None:
    """Update the section of PROMPT.md; report a failure to the user."""
    progress = progress or _clean_progress(call)
    last = words.first_line(checkpoint.resume_summary) if checkpoint else ""
    try:
        prompt = call.root / words.PROMPT
        words.write_prompt(prompt, call.state, progress, clean(last, 120), checkpoint)
    except RalphError as refused:
        call.answer.warn(str(refused))


def _clean_progress(call: Call) -> Progress | None:
    progress = call.progress()
    if progress is None:
        return None
    return progress._replace(
        item=clean(progress.item),
        parts=tuple((clean(text), ticked) for text, ticked in progress.parts[:MAX_PARTS]),
        completed=tuple(map(clean, progress.completed)),
    )


def _keep(call: Call, checkpoint: Checkpoint) -> None:
    call.state = with_checkpoint(call.state, checkpoint)
    owner = {"session_id": call.session_id}
    call.state = call.state | {"context_checkpoint": call.state["context_checkpoint"] | owner}


def _new_name(call: Call) -> Path:
    base = f"{call.now.astimezone():%Y-%m-%d-%H%M}"
    names = [f"{base}.md", *(f"{base}-{number}.md" for number in range(2, 100))]
    free = (HANDOFFS / name for name in names if not (call.root / HANDOFFS / name).exists())
    return next(free, HANDOFFS / f"{base}-{call.now:%S%f}.md")


def _read_all(call: Call) -> Activity:
    """Return the session's actions, as read from the end of its transcript."""
    with suppress(OSError):
        return read_activity(call.transcript)
    return Activity()


def _add_evidence(call: Call, checkpoint: Checkpoint, activity: Activity) -> Checkpoint:
    evidence = gather(call.root)
    if evidence.problem:
        call.answer.problems.append(f"the handoff lists no files: {evidence.problem}")
    plan = call.progress()
    known = item_progress(plan.parts if plan else (), None)
    written = _written_files(call, activity, plan.plan if plan else "")
    order = {path: place for place, path in enumerate(written)}
    last_text = redact_text(activity.words[-SUMMARY * 2 :]).strip()
    summary = last_text if len(last_text) <= SUMMARY else "…" + last_text[1 - SUMMARY :]
    if not summary and activity.calls:
        last = activity.calls[-1]
        what = describe_input(last.input, str(call.root))
        summary = f"The last tool was {clean(last.tool)} {what}".strip()
    return checkpoint._replace(
        resume_summary=summary,
        files_in_progress=tuple(
            _file_in_progress(file, written, activity.words, checkpoint.current_todo_item, known)
            for file in sorted(evidence.files, key=lambda file: order.get(file.path, len(order)))
        )[:MAX_FILES],
        progress_on_item=known.words or UNKNOWN,
    )


class Written(NamedTuple):
    """The session's last edit of a file."""

    last_line: int | None
    belongs: bool
    """True if the plan has not been edited since then, so the edit belongs to the open item."""


def _written_files(call: Call, activity: Activity, plan: str) -> dict[str, Written]:
    """Return the files that this session wrote, most recently edited first."""
    root = str(call.root).rstrip("/") + "/"
    written: dict[str, Written] = {}
    for made in reversed(activity.calls):
        path = made.input.get("file_path") or made.input.get("notebook_path")
        if made.tool in _WRITES and isinstance(path, str) and made.ok is not False:
            belongs = not plan or plan not in written
            written.setdefault(path.removeprefix(root), Written(made.last_line, belongs))
    return written


def _file_in_progress(
    file: ChangedFile, written: Mapping[str, Written], said: str, item: str, known: ItemProgress
) -> FileInProgress:
    last = written.get(file.path)
    about, share = clean(words_about(file.path, [said])), ""
    if not about and last is not None and last.belongs:
        about, share = item, known.short
    counts = "new" if file.new and not file.added else f"+{file.added} −{file.removed}"
    status = ", ".join(word for word in (counts, share if about else "") if word)
    line = "" if last is None or last.last_line is None else str(last.last_line)
    return FileInProgress(clean(file.path), file.lines, about, status, line)


def _write_handoff(call: Call, checkpoint: Checkpoint, activity: Activity) -> Checkpoint:
    """Write the handoff and its copy beside the journal.

    If only the copy can be written, the returned checkpoint names it.
    """
    text = handoff_text(_build_handoff(call, checkpoint, activity))
    data = redact_text(text).encode("utf-8", "replace")
    copy = record.journal_folder(call).relative_to(call.root) / f"handoff-{call.iteration}.md"
    problem = _write_file(call.root / checkpoint.handoff_file, data)
    no_copy = _write_file(call.root / copy, data)
    if problem:
        call.answer.warn(f"{problem}; {'no copy was saved' if no_copy else f'a copy is in {copy}'}")
        if no_copy:
            return checkpoint
        checkpoint = checkpoint._replace(handoff_file=str(copy))
        _keep(call, checkpoint)
    call.record(
        "handoff_written",
        number=1,
        path=copy.name,
        read_at=checkpoint.handoff_file,
        cause=checkpoint.level,
        percent=checkpoint.percent_at_checkpoint,
        level=checkpoint.level,
        characters=len(text),
        summary=checkpoint.resume_summary,
        files=[file._asdict() for file in checkpoint.files_in_progress],
        item=checkpoint.current_todo_item,
        progress=words.item_progress(checkpoint),
    )
    return checkpoint


def _write_file(path: Path, data: bytes) -> str:
    """Write a handoff; return the reason for a failure, empty on success."""
    try:
        make_folder(path.parent)
        write_whole(path, data, durable=False)
    except OSError as error:
        advice = why(error, "make its folder writable")
        return f"cannot write the handoff {path}: {advice}"
    return ""


def _build_handoff(call: Call, checkpoint: Checkpoint, activity: Activity) -> Handoff:
    root = str(call.root)
    made = [
        Made(
            clean(one.tool),
            describe_input(one.input, root),
            clean(one.result.strip().partition("\n")[0]),
            failed=one.ok is False,
        )
        for one in reversed(activity.calls[-ACTIONS:])
    ]
    plan = _clean_progress(call)
    parts = plan.parts if plan else ()
    return Handoff(
        objective=redact_text(call.state["objective"]),
        iteration=call.iteration,
        cause=checkpoint.level,
        percent=checkpoint.percent_at_checkpoint,
        level=checkpoint.level,
        done=plan.completed if plan else (),
        parts_done=tuple(text for text, ticked in parts if ticked),
        focus=next((text for text, ticked in parts if not ticked), ""),
        item=checkpoint.current_todo_item,
        progress=words.item_progress(checkpoint),
        summary=checkpoint.resume_summary,
        files=checkpoint.files_in_progress,
        calls=tuple(made),
        references=(
            Reference("Changes since the last commit", "git diff HEAD"),
            Reference("The transcript of this session", clean(str(call.transcript), 300)),
        ),
    )
