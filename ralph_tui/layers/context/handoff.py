"""The handoff: what one session leaves to the next, as a document of at most 4000 characters."""

from typing import NamedTuple

MOST_CHARACTERS = 4000


class Handoff(NamedTuple):
    """What is known when a session ends; what is not known is left out."""

    objective: str


def handoff_text(handoff: Handoff) -> str:
    """The document, in Markdown."""
    return f"# Handoff\n\n## Objective\n\n{handoff.objective}\n"[:MOST_CHARACTERS]
