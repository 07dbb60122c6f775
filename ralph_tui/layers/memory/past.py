"""What the records of earlier runs say, as a plan needs it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PastReflection:
    """A reflection of an earlier attempt."""

    cite: str
    """``task-001/001 #1``."""
    triggered_by: str
    learning: str
    action_items: tuple[str, ...] = ()


@dataclass(frozen=True)
class RelatedTask:
    """A task of another description that is like this one."""

    task: str
    description: str
    iterations: tuple[int, ...] = ()
    """Of its attempts that completed."""
    reflections: tuple[PastReflection, ...] = ()
