"""Learnings as test data, and strategies that generate any learning."""

from typing import Any

from hypothesis import strategies as st

from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.layers.memory.content import learning_id, text_of

MAIN_FIELD: dict[LearningType, str] = {
    "strategy": "approach",
    "antipattern": "pattern",
    "convention": "convention",
}


def learning(
    text: str = "Run one failing test first",
    type_: LearningType = "strategy",
    task_type: str = "test-fix",
    **fields: Any,
) -> Learning:
    """A learning with this `text`; an estimate with this `content`."""
    content = fields.pop("content", {MAIN_FIELD[type_]: text} if type_ in MAIN_FIELD else {})
    return Learning(
        learning_id=fields.pop("learning_id", learning_id(type_, task_type, text)),
        type=type_,
        task_type=task_type,
        text=text_of(type_, content) or text,
        content=content,
        **{"confidence": 0.8, **fields},
    )


FRACTIONS = st.floats(0, 1)
TYPES: st.SearchStrategy[LearningType] = st.sampled_from(
    ["strategy", "antipattern", "estimate", "convention"]
)
TEXTS = st.lists(
    st.sampled_from(
        ["run", "one", "failing", "test", "first", "always", "commit", "never", "push"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@st.composite
def learnings(draw: st.DrawFn) -> Learning:
    """Generate any learning from a few words, so that similar ones occur."""
    uses = draw(st.integers(0, 20))
    return learning(
        draw(TEXTS),
        draw(TYPES),
        draw(st.sampled_from(["test-fix", "feature", "general"])),
        confidence=draw(FRACTIONS),
        success_rate=draw(FRACTIONS),
        uses=uses,
        successes=draw(st.integers(0, uses)),
        runs=draw(st.integers(0, 5)),
        standing=draw(st.sampled_from(["staged", "proven"])),
        pinned=draw(st.booleans()),
        muted=draw(st.booleans()),
    )
