"""Layer 3 as a run has seen it: what was looked up, what it learned, what came of it."""

from dataclasses import dataclass, field
from typing import Literal

from ralph_tui import events as ev
from ralph_tui.events.memory import Learning, Retrieved
from ralph_tui.state.fold import Fold
from ralph_tui.text import terms

Origin = Literal["retrieved", "learned"]
Gone = Literal["", "deleted", "joined"]
"""How a learning has ceased to be one of its own: by its owner, or by joining a known one."""


@dataclass(slots=True)
class SeenLearning:
    """One learning in this run."""

    learning: Learning
    """As it stands now."""
    origin: Origin
    """Whether it was looked up, or this run has learned it."""
    looked_up: Retrieved | None = None
    """As it was looked up for this iteration, whatever has been done to it since; None: it was not.

    A prompt is written at once from what was looked up, so this is what the prompt says, too.
    """
    at: int = 0
    """The iteration of that look-up."""
    why: str = ""
    """Why it was chosen for the last iteration that looked it up."""
    sent: dict[int, str] = field(default_factory=dict)
    """What it said in the prompts that carried it, by iteration."""
    credits: dict[int, ev.LearningCredited] = field(default_factory=dict)
    """What came of it, by iteration."""
    promoted: ev.LearningPromoted | None = None
    gone: Gone = ""

    @property
    def current(self) -> bool:
        """Whether it was looked up for this iteration."""
        return self.looked_up is not None

    @property
    def in_prompt(self) -> bool:
        """Whether this iteration's prompt carries it."""
        looked_up = self.looked_up
        return looked_up is not None and looked_up.in_prompt and self.at in self.sent

    @property
    def prompts(self) -> list[int]:
        """Iterations whose prompt carried it."""
        return list(self.sent)

    @property
    def told(self) -> Learning:
        """As this iteration was told of it; otherwise as it stands now."""
        return self.looked_up or self.learning

    @property
    def listed(self) -> bool:
        """Whether it is of this run still: what is gone stays until the next look-up."""
        return self.current or not self.gone

    @property
    def since(self) -> list[terms.Term]:
        """What became of it after it was looked up; this iteration's prompt knows nothing of it."""
        was, now = self.looked_up, self.learning
        if was is None:
            return []
        if self.gone == "deleted":
            return [terms.DELETED_SINCE]
        if self.gone == "joined" or was.learning_id != now.learning_id:
            return [terms.JOINED_SINCE]
        marks = {
            terms.MUTED_SINCE: now.muted and not was.muted,
            terms.EDITED_SINCE: now.text != was.text,
        }
        return [term for term, holds in marks.items() if holds]


class MemoryFold(Fold):
    """All learnings this run has seen, its plan and its reflections."""

    def __init__(self) -> None:
        self.task_type = ""
        self.looked_up_at: int | None = None
        """The iteration of the last look-up; None before the first."""
        self.seen: dict[str, SeenLearning] = {}
        """By id, in the order in which they appeared."""
        self._unsent = False
        """Whether no prompt was made since the last look-up."""
        self.again = ""
        """Id of the learning that had been dropped and that this run tries once more."""
        self.plan: ev.PlanMade | None = None
        self.reflections: list[ev.ReflectionWritten] = []
        self._ended = False
        self.promoted: set[str] = set()
        """Staged ids whose promotion is recorded."""
        self.staged: set[str] = set()
        """Ids of what this run has learned."""

    @property
    def current(self) -> list[SeenLearning]:
        """What was looked up for this iteration, best first."""
        return [one for one in self.seen.values() if one.current]

    @property
    def in_prompt(self) -> list[SeenLearning]:
        """Of those the ones that its prompt carries."""
        return [one for one in self.current if one.in_prompt]

    @property
    def learned(self) -> list[SeenLearning]:
        """What this run has learned itself, oldest first."""
        return [one for one in self.seen.values() if one.origin == "learned" and not one.gone]

    def carried(self, iteration: int) -> list[SeenLearning]:
        """What the prompt of that iteration carried."""
        return [one for one in self.seen.values() if iteration in one.sent]

    def for_prompt(self, iteration: int) -> list[Retrieved]:
        """What was looked up to go into the prompt of that iteration; never that of another."""
        if self.looked_up_at != iteration:
            return []
        found = [one.looked_up for one in self.seen.values()]
        return [one for one in found if one is not None and one.in_prompt]

    def wrote(self, reflection: ev.ReflectionWritten) -> bool:
        """Whether this one is recorded already, in the words of the template or of a model."""
        worded = {"analysis", "learning", "action_items", "model"}

        def same(one: ev.ReflectionWritten) -> bool:
            others = {"seq", "at", *(worded if one.model else ())}
            return one.model_dump(exclude=others) == reflection.model_dump(exclude=others)

        return any(map(same, self.reflections))

    def on_reflected(self, event: ev.ReflectionWritten) -> None:
        self.reflections.append(event)

    def on_end(self, _event: ev.RunFinished) -> bool:
        self._ended = True
        return False

    def on_resumed(self, _event: ev.RunResumed) -> None:
        """It teaches by the end it comes to; what a person has said of an earlier one stays."""
        if self._ended:
            self.reflections = [one for one in self.reflections if one.triggered_by == "manual"]
        self._ended = False

    def on_retrieved(self, event: ev.LearningsRetrieved) -> None:
        self.task_type, self.looked_up_at = event.task_type, event.iteration
        self._unsent = True
        for one in self.seen.values():
            one.looked_up = None
        for found in event.learnings:
            self._look_up(found, event.iteration)

    def _look_up(self, found: Retrieved, iteration: int) -> None:
        # The order of `seen` is that of the last look-up, best first, behind what came before it.
        one = self.seen.pop(found.learning_id, None) or SeenLearning(found, "retrieved")
        one.learning = one.looked_up = found
        one.at, one.why, one.gone = iteration, found.why, ""
        if found.again:
            self.again = found.learning_id
        if found.in_prompt:
            one.sent[iteration] = found.text
        self.seen[found.learning_id] = one

    def on_prompted(self, event: ev.PromptPrepared) -> bool:
        """What was looked up counts as sent only where a prompt of the iteration carries it."""
        if event.learnings is None or self.looked_up_at != event.iteration:
            return False
        for one in self.current:
            if one.looked_up is not None and one.learning.learning_id in event.learnings:
                one.sent[event.iteration] = one.looked_up.text
            elif self._unsent:
                one.sent.pop(event.iteration, None)
        self._unsent = False
        return True

    def on_staged(self, event: ev.LearningStaged) -> None:
        self.staged.add(event.learning.learning_id)
        known = self.seen.get(event.learning.learning_id)
        if known is None:
            self.seen[event.learning.learning_id] = SeenLearning(event.learning, "learned")

    def on_promoted(self, event: ev.LearningPromoted) -> None:
        self.promoted.add(event.staged_id)
        staged, name = event.staged_id, event.learning.learning_id
        one = self.seen.get(staged) or SeenLearning(event.learning, "learned")
        known = self.seen.get(name)
        if staged != name and known is not None:
            if one.current or one.sent:  # it was it that prompts carried
                one.gone = "joined"
            else:
                self.seen.pop(staged, None)
            one = known
        elif staged != name:
            self.seen = {name if key == staged else key: each for key, each in self.seen.items()}
        one.learning, one.promoted = event.learning, event
        self.seen[name] = one

    def on_credited(self, event: ev.LearningCredited) -> None:
        if (one := self.seen.get(event.learning_id)) is not None:
            one.credits[event.iteration] = event

    def on_changed(self, event: ev.LearningChanged) -> None:
        one = self.seen.get(event.learning_id)
        if one is None:
            return
        said, fields = one.learning.text, one.learning.content.items()
        changes: dict[str, dict[str, object]] = {
            "pin": {"pinned": True, "muted": False},
            "unpin": {"pinned": False},
            "mute": {"muted": True, "pinned": False},
            "unmute": {"muted": False},
            "edit": {
                "text": event.text,
                "content": {name: value for name, value in fields if value != said},
            },
        }
        one.learning = one.learning.model_copy(update=changes.get(event.change, {}))
        if event.change == "delete":
            one.gone = "deleted"

    def on_planned(self, event: ev.PlanMade) -> None:
        self.plan = event
