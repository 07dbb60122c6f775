"""Commands about an open question: answer it, or stop its countdown."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from ralph_tui.commands.command import MAX_ITERATIONS, NO_MONEY, Command, Steered
from ralph_tui.events import QuestionAnswered, QuestionHeld
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.terms import ALLOWING, sender_label

if TYPE_CHECKING:
    from ralph_tui.events import QuestionAsked
    from ralph_tui.state import RunState

MAX_HANDOFF = 3999
"""Maximum length of an edited handoff, in characters: 4000 with its final newline."""
CLOSED = "that question is already closed"
Chosen = Annotated[Plain, Field(min_length=1, max_length=2000)]


class Answer(Command):
    """Answer an open question, identified by id because another answer may have come first."""

    name: Literal["answer"] = "answer"
    question_id: Line
    answer: Line
    text: Plain = Field(default="", max_length=100_000)
    """Guidance, or the edited instructions; empty: as proposed."""
    iterations: int = Field(default=0, ge=0, le=1000)
    budget_usd: float = Field(default=0.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Additional budget in US dollars."""
    choices: tuple[Annotated[tuple[Chosen, ...], Field(min_length=1, max_length=20)], ...] = Field(
        default=(), max_length=20
    )
    """For each of the agent's questions, in order: the chosen labels, or free text."""

    while_stopping: ClassVar[bool] = True

    @property
    def empowers(self) -> bool:
        return self.answer in ALLOWING

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        question, last = state.needs.question, state.needs.answer
        if question is not None and question.question_id == self.question_id:
            return self._refused_by(question, state)
        if last and last.question_id == self.question_id:
            return f"that question was already answered: {last.answer}, by {sender_label(last.by)}"
        return CLOSED

    def _refused_by(self, question: "QuestionAsked", state: "RunState") -> str | None:
        meant = [option for option in question.options if option.answer == self.answer]
        if not meant:
            known = dict.fromkeys(option.answer for option in question.options)
            return f"{self.answer} is not a valid answer; choose from {', '.join(known)}"
        if question.topic == "handoff" and len(self.text.strip()) > MAX_HANDOFF:
            length = f"{len(self.text.strip()):,}"
            return f"a handoff has at most {MAX_HANDOFF:,} characters; yours has {length}"
        match meant[0].takes:
            case "words" if not self.text.strip():
                return f"{self.answer} needs text; add it"
            case "choices":
                return self._bad_choices(question)
            case "more" | "iterations" | "money" as takes:
                return self._bad_grant(takes, state)
        return None

    def _bad_grant(self, takes: str, state: "RunState") -> str | None:
        iterations, dollars = self.iterations, self.budget_usd
        if not ((takes != "money" and iterations) or (takes != "iterations" and dollars)):
            kinds = {"iterations": "iterations", "money": "dollars"}
            return f"{self.answer} needs a number: {kinds.get(takes, 'iterations, or dollars')}"
        if dollars and state.run.budget_usd is None:
            return NO_MONEY
        if state.run.max_iterations + iterations > MAX_ITERATIONS:
            return f"a run has at most {MAX_ITERATIONS} iterations"
        return None

    def _bad_choices(self, question: "QuestionAsked") -> str | None:
        asked = question.request.choices if question.request is not None else []
        if len(self.choices) != len(asked):
            return f"you answered {len(self.choices)} of {len(asked)} questions; answer each one"
        for one, labels in zip(asked, self.choices, strict=True):
            if len(labels) > 1 and not one.multiple:
                return f"choose only one answer for: {one.question}"
            if not any(label.strip() for label in labels):
                return f"empty answer to: {one.question}"
        return None

    def carry_out(self, run: Steered) -> None:
        answer = QuestionAnswered(
            question_id=self.question_id,
            answer=self.answer,
            by=self.by,
            text=self.text,
            iterations=self.iterations,
            budget_usd=self.budget_usd,
            choices=[list(labels) for labels in self.choices],
        )
        run.record(answer)
        if run.controls.answered is not None:
            run.controls.answered(answer)


class Hold(Command):
    """Stop a question's countdown because the user is thinking about it."""

    name: Literal["hold"] = "hold"
    question_id: Line

    while_stopping: ClassVar[bool] = True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        question = state.needs.question
        if question is None or question.question_id != self.question_id:
            return CLOSED
        return "no countdown is running" if question.deadline is None else None

    def carry_out(self, run: Steered) -> None:
        run.record(QuestionHeld(question_id=self.question_id, by=self.by))


class Present(Command):
    """Report that the user pressed a key or used the mouse, which holds countdowns for a while.

    The scheduler handles this command, and it is never refused.
    """

    name: Literal["present"] = "present"

    @property
    def empowers(self) -> bool:
        return True
