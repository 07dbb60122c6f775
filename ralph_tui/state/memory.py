"""Layer 3 in this run: learnings retrieved, sent, learned and credited, the plan, reflections."""

from dataclasses import dataclass, field
from typing import Literal

from ralph_tui import events as ev
from ralph_tui.events.memory import Learning, Retrieved
from ralph_tui.state.fold import Fold
from ralph_tui.text import terms

Origin = Literal["retrieved", "learned"]
Gone = Literal["", "deleted", "joined"]
"""How a learning was removed: deleted by the user, or merged with a known one."""


@dataclass(slots=True)
class SeenLearning:
    """A learning as this run knows it."""

    learning: Learning
    """The learning in its current form."""
    origin: Origin
    """From memory, or from this run itself."""
    looked_up: Retrieved | None = None
    """The learning as retrieved for this iteration; None if it was not retrieved.

    Later changes are not included. The prompt is written right after the retrieval, so it has this
    text.
    """
    at: int = 0
    """The iteration of that retrieval."""
    why: str = ""
    """Why it was chosen at its last retrieval."""
    sent: dict[int, str] = field(default_factory=dict)
    """The learning's text in each prompt that carried it, by iteration."""
    credits: dict[int, ev.LearningCredited] = field(default_factory=dict)
    """The learning's effects, by iteration."""
    promoted: ev.LearningPromoted | None = None
    gone: Gone = ""

    @property
    def current(self) -> bool:
        """True if it was retrieved for this iteration."""
        return self.looked_up is not None

    @property
    def in_prompt(self) -> bool:
        """True if this iteration's prompt carries it."""
        looked_up = self.looked_up
        return looked_up is not None and looked_up.in_prompt and self.at in self.sent

    @property
    def prompts(self) -> list[int]:
        """Iterations whose prompt carried it."""
        return list(self.sent)

    @property
    def shown(self) -> Learning:
        """The learning as retrieved for this iteration; otherwise in its current form."""
        return self.looked_up or self.learning

    @property
    def listed(self) -> bool:
        """True if the run still lists it: a removed learning stays until the next retrieval."""
        return self.current or not self.gone

    @property
    def since(self) -> list[terms.Term]:
        """Changes after its retrieval, which this iteration's prompt does not reflect."""
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
    """All learnings that this run has seen, its plan and its reflections."""

    def __init__(self) -> None:
        self.task_type = ""
        self.looked_up_at: int | None = None
        """The iteration of the last retrieval; None before the first."""
        self.seen: dict[str, SeenLearning] = {}
        """Learnings by id; those retrieved or learned most recently come last."""
        self._unsent = False
        """True if no prompt has been prepared since the last retrieval."""
        self.again = ""
        """Id of a dropped learning that this run is trying again."""
        self.plan: ev.PlanMade | None = None
        self.reflections: list[ev.ReflectionWritten] = []
        self._ended = False
        self.promoted: set[str] = set()
        """Staged ids whose promotion is recorded."""
        self.staged: set[str] = set()
        """Ids of the learnings of this run."""

    @property
    def current(self) -> list[SeenLearning]:
        """Learnings retrieved for this iteration, best first."""
        return [one for one in self.seen.values() if one.current]

    @property
    def in_prompt(self) -> list[SeenLearning]:
        """Retrieved learnings that this iteration's prompt carries."""
        return [one for one in self.current if one.in_prompt]

    @property
    def learned(self) -> list[SeenLearning]:
        """Learnings of this run, oldest first."""
        return [one for one in self.seen.values() if one.origin == "learned" and not one.gone]

    def carried(self, iteration: int) -> list[SeenLearning]:
        """Return the learnings that were in the iteration's prompt."""
        return [one for one in self.seen.values() if iteration in one.sent]

    def for_prompt(self, iteration: int) -> list[Retrieved]:
        """Return the learnings retrieved for the prompt of `iteration`; none for any other."""
        if self.looked_up_at != iteration:
            return []
        found = [one.looked_up for one in self.seen.values()]
        return [one for one in found if one is not None and one.in_prompt]

    def has_reflection(self, reflection: ev.ReflectionWritten) -> bool:
        """True if an equal reflection is recorded, worded by the template or by a model."""
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
        """Drop the reflections on an earlier end, except manual ones: the next end gets its own."""
        if self._ended:
            self.reflections = [one for one in self.reflections if one.triggered_by == "manual"]
        self._ended = False

    def on_retrieved(self, event: ev.LearningsRetrieved) -> None:
        self.task_type, self.looked_up_at = event.task_type, event.iteration
        self._unsent = True
        for one in self.seen.values():
            one.looked_up = None
        for found in event.learnings:
            self._match(found, event.iteration)

    def _match(self, found: Retrieved, iteration: int) -> None:
        # `seen` lists the last retrieval at its end, best first, after everything older.
        one = self.seen.pop(found.learning_id, None) or SeenLearning(found, "retrieved")
        one.learning = one.looked_up = found
        one.at, one.why, one.gone = iteration, found.why, ""
        if found.again:
            self.again = found.learning_id
        if found.in_prompt:
            one.sent[iteration] = found.text
        self.seen[found.learning_id] = one

    def on_prompted(self, event: ev.PromptPrepared) -> bool:
        """Count a retrieved learning as sent only if a prompt of its iteration carries it."""
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
            if one.current or one.sent:  # still listed, or sent in a prompt
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
