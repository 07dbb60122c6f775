"""The owner of a played run: what he answers to its questions."""

from collections.abc import Callable

from ralph_tui.commands import Answer, Command
from ralph_tui.events import QuestionAsked

Reply = Callable[[QuestionAsked], Command | None]
"""What the owner does about a question; None: nothing."""


def answer(word: str, **more: object) -> Reply:
    """The same answer to every question."""
    return lambda asked: Answer.model_validate(
        {"question_id": asked.question_id, "answer": word, **more}
    )


def first(asked: QuestionAsked) -> Command:
    """The first option of every question: approve, or continue."""
    return Answer(question_id=asked.question_id, answer=asked.options[0].answer)
