"""How learnings are worded, on every screen and line: what they say, how far they are proven.

Rule: the log tells what changed in what is known; whether it helped stands beside each learning.
"""

from ralph_tui.events import (
    LearningChanged,
    LearningPromoted,
    LearningsRetrieved,
    LearningStaged,
    PlanMade,
    ReflectionWritten,
)
from ralph_tui.events.memory import Learning
from ralph_tui.state.fold import Part, on
from ralph_tui.state.memory import SeenLearning
from ralph_tui.state.wording import Row, Wording
from ralph_tui.text.format import count
from ralph_tui.text.reflection_terms import TRIGGERS
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import (
    DELETED_SINCE,
    EDITED_SINCE,
    HELPED,
    JOINED_SINCE,
    LEARNINGS,
    MUTED_SINCE,
    UNPROVEN,
    Term,
    who_words,
)

NAMED = 60
"""Characters of a learning where others stand beside it."""
LISTED = 2
"""Learnings that a line names."""
WORD = "MEMORY"
FORBIDDING = ("avoid", "do not", "don't", "never", "no ")
"""How what is to be avoided may say so itself."""

CHANGED = {
    "pin": "pinned",
    "unpin": "not pinned any more",
    "mute": "muted",
    "unmute": "not muted any more",
    "edit": "reworded",
    "delete": "deleted",
}
"""What has been done to a learning."""


def saying(learning: Learning) -> str:
    """What it says, as a sentence of its own: what is to be avoided says so."""
    text = one_line(learning.text)
    bare = learning.type == "antipattern" and not text.lower().startswith(FORBIDDING)
    return f"avoid: {text}" if bare else text


def helped_words(uses: int, successes: int) -> str:
    """``helped 6 of 7 times``; ``not judged yet`` before it was in a prompt."""
    if not uses:
        return "not judged yet"
    return f"{HELPED.word} {successes} of {count(uses, 'time')}"


def proof_words(learning: Learning) -> str:
    """``unproven: said by 1 run``, ``proven, said by 3 runs``."""
    runs = f"said by {count(learning.runs, 'run')}"
    if learning.standing != "staged":
        return f"proven, {runs}"
    needs = ", proven from 3 runs on" if learning.type == "estimate" else ""
    return f"{UNPROVEN.word}: {runs}{needs}"


def since_terms(seen: SeenLearning) -> list[Term]:
    """What became of it after it was looked up; this iteration's prompt knows nothing of it."""
    was, now = seen.looked_up, seen.learning
    if was is None:
        return []
    if seen.gone == "deleted":
        return [DELETED_SINCE]
    if seen.gone == "joined" or was.learning_id != now.learning_id:
        return [JOINED_SINCE]
    marks = {
        MUTED_SINCE: now.muted and not was.muted,
        EDITED_SINCE: now.text != was.text,
    }
    return [term for term, holds in marks.items() if holds]


def type_word(learning: Learning) -> str:
    """``strategy``, ``to avoid``, ..."""
    return LEARNINGS[learning.type].word


def unchanged_words(learning_id: str, why: str) -> str:
    """That a wish about a learning could not be carried out."""
    return f"learning {learning_id} stays as it is: {why}"


def retrieved_words(e: LearningsRetrieved) -> str | None:
    """``3 learnings fit, 2 in the prompt: …; …``; nothing is said where nothing fits."""
    if not e.learnings:
        return None
    carried = [one for one in e.learnings if one.in_prompt]
    verb = "fits" if len(e.learnings) == 1 else "fit"
    head = f"{count(len(e.learnings), 'learning')} {verb}, {len(carried) or 'none'} in the prompt"
    named = [clip(saying(one), NAMED) for one in carried[:LISTED]]
    more = [f"{len(carried) - LISTED} more"] if len(carried) > LISTED else []
    return f"{head}: {'; '.join([*named, *more])}" if named else head


def promoted_row(e: LearningPromoted) -> Row:
    """It is knowledge now."""
    how = "joined to what was known" if e.merged else "proven now"
    because = f" ({one_line(e.because)})" if e.because else ""
    return Row(
        "log", WORD, f"{how}: {clip(saying(e.learning), 2 * NAMED)}{because}", e.learning.text
    )


def changed_words(e: LearningChanged, name: str = "") -> str:
    """``muted by you: run one test first``."""
    return f"{CHANGED[e.change]} by {who_words(e.by)}: {name or e.learning_id}"


def estimate_words(e: PlanMade) -> str:
    """``about 4 iterations, from 6 runs``; empty where nothing is known of tasks like this."""
    if e.estimated_iterations is None:
        return ""
    told = f"about {count(e.estimated_iterations, 'iteration')}"
    return f"{told}, from {count(e.estimate_from, 'run')}" if e.estimate_from else told


def plan_words(e: PlanMade) -> str:
    """``about 4 iterations, from 6 runs; follows task-001/001 #1: small steps``."""
    cites = f"follows {', '.join(e.cites[:3])}" if e.cites else ""
    head = "; ".join(part for part in (estimate_words(e), cites) if part)
    return f"{head}: {e.approach}" if head else e.approach


def reflection_words(e: ReflectionWritten) -> str:
    """``after a failure: read the failing test before the code``."""
    return f"{TRIGGERS[e.triggered_by]}: {e.learning}"


class MemoryRows(Part):
    """What the log says of learnings; events name them by id, people by their words."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}

    def wordings(self) -> tuple[tuple[type, Wording], ...]:
        """A row of the table for each type of event; most look-ups are worth no row."""
        return (
            on(LearningsRetrieved, self._retrieved),
            on(LearningStaged, self._staged),
            on(LearningPromoted, self._promoted),
            on(LearningChanged, self._changed),
        )

    def _name(self, learning: Learning) -> None:
        self._words[learning.learning_id] = saying(learning)

    def _retrieved(self, e: LearningsRetrieved) -> None:
        for one in e.learnings:
            self._name(one)

    def _staged(self, e: LearningStaged) -> None:
        self._name(e.learning)

    def _promoted(self, e: LearningPromoted) -> Row:
        self._name(e.learning)
        return promoted_row(e)

    def _changed(self, e: LearningChanged) -> Row:
        if e.change == "edit":
            self._words[e.learning_id] = one_line(e.text)
        name = self._words.get(e.learning_id, e.learning_id)
        return Row("owner", WORD, changed_words(e, clip(name, 2 * NAMED)), name)
