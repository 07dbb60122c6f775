"""The section of a prompt for a session that takes over from another."""

from ralph_tui.events import HandoffWritten
from ralph_tui.layers.context.resume import Resume, resume_text
from ralph_tui.layers.context.state_file import FileInProgress
from ralph_tui.layers.intelligence.blocks import uncut_section
from ralph_tui.layers.intelligence.budget import Section
from ralph_tui.layers.intelligence.material import PromptInput

HEADING = "Context checkpoint: continue from here"


def resume_section(inputs: PromptInput) -> Section:
    """Return the section, which is never cut; empty if no session handed off."""
    left, reading = inputs.handoff, inputs.reading
    if left is None:
        return uncut_section(HEADING)
    before = ""
    if reading is not None and reading.iteration < left.iteration:
        before = "The measurements below were taken before that work."
    return uncut_section(HEADING, resume_text(resume_of(left)), before)


def resume_of(left: HandoffWritten) -> Resume:
    """Convert a recorded handoff into the input of the resume block."""
    return Resume(
        handoff_file=left.read_at,
        cause=left.cause,
        percent=left.percent,
        level=left.level,
        done=tuple(dict.fromkeys([*left.done, *left.parts_done])),
        item=left.item,
        progress=left.progress,
        focus=left.focus,
        summary=left.summary,
        files=tuple(FileInProgress(**dict(f)) for f in left.files),
        next_step=left.next_step,
        said=tuple(left.guidance),
        made_file=left.made_at,
        edited=bool(left.edited_by),
    )
