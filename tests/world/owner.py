"""The user of a simulated run: answers to its questions."""

from collections.abc import Callable

from ralph_tui.commands import Answer, Command
from ralph_tui.events import QuestionAsked

Reply = Callable[[QuestionAsked], Command | None]
"""The user's reaction to a question; None: nothing."""


def answer(word: str, **more: object) -> Reply:
    """The same answer to every question."""
    return lambda asked: Answer.model_validate(
        {"question_id": asked.question_id, "answer": word, **more}
    )


def first(asked: QuestionAsked) -> Command:
    """The first option of every question that needs nothing more: approve, or continue."""
    option = next(one for one in asked.options if one.takes in ("nothing", "choices"))
    return Answer(question_id=asked.question_id, answer=option.answer)
