"""Layer 3 as a run has seen it: what was looked up, what it learned, what came of it."""

from dataclasses import dataclass, field
from typing import Literal

from ralph_tui.events import (
    LearningChanged,
    LearningCredited,
    LearningPromoted,
    LearningsRetrieved,
    LearningStaged,
    PlanMade,
    ReflectionWritten,
)
from ralph_tui.events.memory import Learning, Retrieved
from ralph_tui.state.fold import Fold, Handlers, on

Origin = Literal["retrieved", "learned"]


@dataclass(slots=True)
class SeenLearning:
    """One learning in this run."""

    learning: Learning
    """As it was last recorded."""
    origin: Origin
    """Whether it was looked up, or this run has learned it."""
    why: str = ""
    """Why it was chosen for the last iteration that looked it up."""
    current: bool = False
    """Whether it was looked up for this iteration."""
    in_prompt: bool = False
    """Whether this iteration's prompt carries it."""
    prompts: list[int] = field(default_factory=list)
    """Iterations whose prompt carried it."""
    credits: dict[int, LearningCredited] = field(default_factory=dict)
    """What came of it, by iteration."""
    promoted: LearningPromoted | None = None
    deleted: bool = False


class MemoryFold(Fold):
    """All learnings this run has seen, its plan and its reflections."""

    def __init__(self) -> None:
        self.task_type = ""
        self.looked_up_at: int | None = None
        """The iteration of the last look-up; None before the first."""
        self.seen: dict[str, SeenLearning] = {}
        """By id, in the order in which they appeared."""
        self.plan: PlanMade | None = None
        self.reflections: list[ReflectionWritten] = []
        self.promoted: set[str] = set()
        """Staged ids whose promotion is recorded."""
        self.staged: set[str] = set()
        """Ids of what this run has learned."""

    @property
    def current(self) -> list[SeenLearning]:
        """What was looked up for this iteration, best first."""
        return [one for one in self.seen.values() if one.current and not one.deleted]

    @property
    def in_prompt(self) -> list[SeenLearning]:
        """Of those the ones that its prompt carries."""
        return [one for one in self.current if one.in_prompt]

    @property
    def learned(self) -> list[SeenLearning]:
        """What this run has learned itself, oldest first."""
        return [one for one in self.seen.values() if one.origin == "learned" and not one.deleted]

    def carried(self, iteration: int) -> list[SeenLearning]:
        """What the prompt of that iteration carried."""
        return [one for one in self.seen.values() if iteration in one.prompts]

    def wrote(self, reflection: ReflectionWritten) -> bool:
        """Whether this one is recorded already."""
        stamps = {"seq", "at"}
        said = reflection.model_dump(exclude=stamps)
        return any(one.model_dump(exclude=stamps) == said for one in self.reflections)

    def handlers(self) -> Handlers:
        """See `Fold`."""
        return (
            on(LearningsRetrieved, self._retrieved),
            on(LearningStaged, self._staged),
            on(LearningPromoted, self._promoted),
            on(LearningCredited, self._credited),
            on(LearningChanged, self._changed),
            on(ReflectionWritten, self.reflections.append),
            on(PlanMade, self._planned),
        )

    def _retrieved(self, event: LearningsRetrieved) -> None:
        self.task_type, self.looked_up_at = event.task_type, event.iteration
        for one in self.seen.values():
            one.current = one.in_prompt = False
        for found in event.learnings:
            self._look_up(found, event.iteration)

    def _look_up(self, found: Retrieved, iteration: int) -> None:
        # The order of `seen` is that of the last look-up, best first, behind what came before it.
        one = self.seen.pop(found.learning_id, None) or SeenLearning(found, "retrieved")
        one.learning, one.why = found, found.why
        one.current, one.in_prompt, one.deleted = True, found.in_prompt, False
        if found.in_prompt and iteration not in one.prompts:
            one.prompts.append(iteration)
        self.seen[found.learning_id] = one

    def _staged(self, event: LearningStaged) -> None:
        self.staged.add(event.learning.learning_id)
        known = self.seen.get(event.learning.learning_id)
        if known is None:
            self.seen[event.learning.learning_id] = SeenLearning(event.learning, "learned")

    def _promoted(self, event: LearningPromoted) -> None:
        self.promoted.add(event.staged_id)
        one = self.seen.get(event.staged_id) or SeenLearning(event.learning, "learned")
        if event.staged_id != event.learning.learning_id:
            self.seen.pop(event.staged_id, None)
            one = self.seen.get(event.learning.learning_id, one)
        one.learning, one.promoted = event.learning, event
        self.seen[event.learning.learning_id] = one

    def _credited(self, event: LearningCredited) -> None:
        if (one := self.seen.get(event.learning_id)) is not None:
            one.credits[event.iteration] = event

    def _changed(self, event: LearningChanged) -> None:
        one = self.seen.get(event.learning_id)
        if one is None:
            return
        changes: dict[str, dict[str, object]] = {
            "pin": {"pinned": True, "muted": False},
            "unpin": {"pinned": False},
            "mute": {"muted": True, "pinned": False},
            "unmute": {"muted": False},
            "edit": {"text": event.text},
        }
        one.learning = one.learning.model_copy(update=changes.get(event.change, {}))
        one.deleted = one.deleted or event.change == "delete"

    def _planned(self, event: PlanMade) -> None:
        self.plan = event
