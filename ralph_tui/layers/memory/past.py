"""Records of earlier runs, in the form that planning needs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PastReflection:
    """A reflection on an earlier attempt."""

    cite: str
    """How to cite it, such as ``task-001/001 #1``."""
    triggered_by: str
    learning: str
    action_items: tuple[str, ...] = ()


@dataclass(frozen=True)
class RelatedTask:
    """A similar task with a different description."""

    task: str
    description: str
    iterations: tuple[int, ...] = ()
    """Number of iterations of each completed attempt."""
    reflections: tuple[PastReflection, ...] = ()
