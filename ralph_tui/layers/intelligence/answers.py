"""Forms for a model's answers, one per purpose: limited in size, and validated.

A sentence that is too long is cut. Anything missing or of the wrong type is an error, and the
answer is not used.
"""

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ralph_tui.events.control import Urgency
from ralph_tui.text.sanitize import clip, one_line, plain

LONGEST_PROMPT = 20_000
LONGEST_CONTEXT = 8000
LONGEST = 2000
"""Maximum length of a text of one or two sentences, in characters."""
MAX_ITEMS = 5
NAMED = 3
"""Maximum number of errors reported."""

Form = TypeVar("Form", bound=BaseModel)


def _clipped(value: object) -> object:
    return clip(plain(value[: 2 * LONGEST]).strip(), LONGEST) if isinstance(value, str) else value


def _first(value: object) -> object:
    return value[:MAX_ITEMS] if isinstance(value, list) else value


Said = Annotated[str, BeforeValidator(_clipped)]
Needed = Annotated[str, Field(min_length=1), BeforeValidator(_clipped)]
Items = Annotated[list[Needed], BeforeValidator(_first)]


class Answer(BaseModel):
    """A form; unknown fields are ignored."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, extra="ignore", strict=True, defer_build=True
    )


class PromptAnswer(Answer):
    """The wording of a prompt."""

    prompt: str = Field(min_length=1, max_length=LONGEST_PROMPT)
    system_context: str = Field(default="", max_length=LONGEST_CONTEXT)
    focus_areas: Items = Field(default=[], max_length=3)
    urgency: Urgency = "normal"


class AssessmentAnswer(Answer):
    """A second opinion on an iteration's results."""

    enhanced_summary: Needed
    additional_learnings: Items = []
    refined_progress: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    suggested_approach: Said = ""


class ReflectionAnswer(Answer):
    """Lessons of an attempt; its facts are measured, so the model does not supply them."""

    analysis: Needed
    learning: Needed
    action_items: Items = []


class HandoffAnswer(Answer):
    """Text for the next session; the model does not report files, tests or the plan."""

    summary: Needed
    next_step: Needed
    open_questions: Items = []


class JudgeAnswer(Answer):
    """A verdict on the criterion."""

    met: bool
    reason: Needed


def read(form: type[Form], answer: dict[str, object]) -> Form:
    """Parse an answer; raise ``ValueError`` with a sentence about its errors."""
    try:
        return form.model_validate(answer)
    except ValidationError as error:
        wrong = [
            f"{clip(one_line('.'.join(map(str, one['loc'])) or 'it'), 60)}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)
        ]
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise ValueError(f"{'; '.join(wrong[:NAMED])}{more}") from error
