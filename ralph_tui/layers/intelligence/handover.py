"""The resume block: what a session that takes over from another is told first."""

from ralph_tui.layers.intelligence.blocks import foreign, whole
from ralph_tui.layers.intelligence.budget import Section
from ralph_tui.layers.intelligence.fence import closed, item
from ralph_tui.layers.intelligence.material import PromptInput

HEADING = "Context checkpoint: go on from here"


def resume_section(given: PromptInput) -> Section:
    """Nothing where no session handed over."""
    left = given.handoff
    if left is None:
        return Section(HEADING, ())
    full = "" if left.percent is None else f" at {left.percent:.0f} % of its context window"
    files = [f"{item(file.path)} {item(file.lines)}".strip() for file in left.files]
    return Section(
        HEADING,
        (
            *whole(
                f"You take over from a session of this iteration that was ended{full}. "
                "Do not restart the task: what it did is in the files. "
                f"Read its handoff first: {given.handoff_file}",
            ),
            foreign("strategy", "what was in progress", "What was in progress",
                    [item(left.summary)] if left.summary else []),
            foreign("strategy", "the files in progress", "Files it was working on", files),
            foreign("strategy", "the next step", "Next step",
                    [item(left.next_step)] if left.next_step else []),
            *whole(*[closed(text.strip()) for text in left.guidance]),
        ),
    )  # fmt: skip
