"""What a user can set of layer 2."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ralph_tui.text.durations import DAY, Seconds


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


Model = Annotated[str | None, Field(max_length=200), BeforeValidator(_none_if_empty)]
"""A model's name as the agent takes it; None: the agent's small one."""


class IntelligenceSettings(BaseModel):
    """Assessment, strategy, validation, prompts, and how much a model helps with them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    enabled: bool = True
    """False: prompts say the objective, the criteria and your words, and nothing is derived."""
    prompt_budget_tokens: int = Field(default=8000, ge=1000, le=200_000)
    """Tokens, estimated, that a prompt may have; less important sections are cut."""
    prompt_template: Annotated[
        str | None, Field(max_length=4096), BeforeValidator(_none_if_empty)
    ] = None
    """A file that replaces the layout of prompts; None: the built-in one."""
    model_prompts: bool = False
    """Whether a model words the prompt."""
    model_prompts_model: Model = None
    """Which model; None: the agent's small one."""
    model_prompts_timeout_s: Seconds = Field(default=90.0, ge=1, le=DAY)
    """How long it may take before the template stands."""
    model_assessment: bool = False
    """Whether a model gives a second opinion on what an iteration came to."""
    model_assessment_model: Model = None
    """Which model; None: the agent's small one."""
    model_assessment_timeout_s: Seconds = Field(default=120.0, ge=1, le=DAY)
    """How long it may take before the assessment stands alone."""
    model_reflections: bool = False
    """Whether a model words what an attempt teaches. The end of the run waits for it; a run that
    is stopped, aborted or fails asks no model."""
    model_reflections_model: Model = None
    """Which model; None: the agent's small one."""
    model_reflections_timeout_s: Seconds = Field(default=60.0, ge=1, le=DAY)
    """How long it may take before the reflection by template stands."""
    model_judge: bool = False
    """Whether a model judges if a plain-language criterion is met; its error asks you."""
    model_judge_model: Model = None
    """Which model; None: the agent's small one."""
    model_judge_timeout_s: Seconds = Field(default=120.0, ge=1, le=DAY)
    """How long it may take before you are asked."""
