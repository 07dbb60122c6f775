"""Settings of the layers, each with its range; the defaults are the rules as written."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from ralph_tui.layers.context.state_file import NAME
from ralph_tui.text.durations import DAY, Seconds


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


class ControlSettings(BaseModel):
    """The controller: what it makes of the readings, and when it raises an alarm.

    Text (``"0.9"``, ``"false"``) is taken where it says a value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: fixed `focused` gains, no alarms; the overseer still reads the conditions."""
    adaptive_gains: bool = True
    """False: `focused` gains throughout; alarms and advice stay."""
    window_size: int = Field(default=5, ge=1, le=1000)
    """Steps that velocity and volatility look back on."""
    decay: float = Field(default=0.9, ge=0, le=1)
    """How much of the integral an iteration inherits, a factor."""
    noise_threshold: float = Field(default=0.05, ge=0, le=1)
    """A derivative smaller than this fraction counts as 0."""
    smoothing: float = Field(default=0.3, ge=0, le=1)
    """Share of the previous gains in the next ones."""
    integral_term: Literal["mean", "accumulated"] = "mean"
    """What ki multiplies: the weighted mean error, or the sum itself."""
    patience: float = Field(default=1.0, gt=0, le=100)
    """Multiplies the iterations that STUCK waits for."""


class OversightSettings(BaseModel):
    """The overseer, which proposes another course, pauses or aborts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: no overseer watches, the loop runs to its limit."""
    redirect_timeout_s: Seconds = Field(default=120.0, ge=1, le=30 * DAY)
    """How long a REDIRECT waits before it is approved; a headless run does not wait."""
    pause_timeout_s: Seconds = Field(default=1800.0, ge=0, le=30 * DAY)
    """How long a PAUSE waits for an answer before it aborts the run, or continues it where the work
    is merely slow."""
    presence_s: Seconds = Field(default=600.0, ge=0, le=30 * DAY)
    """How long a key or the mouse at a screen of the run holds the countdown of its questions."""
    escalate_after_s: Seconds = Field(default=600.0, ge=1, le=30 * DAY)
    """After how long an unanswered question is sent to the channels of ``outreach``."""


Percent = Annotated[float, Field(ge=1, le=100)]
Text = Annotated[str | None, Field(max_length=4096), BeforeValidator(_none_if_empty)]


class ContextSettings(BaseModel):
    """How full the context window may get. Of levels reached at once the highest counts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    rollover: bool = True
    """False: no session is ended for it, it is shown only."""
    warn_percent: Percent = 70.0
    """Percent of the window at which it is told."""
    checkpoint_percent: Percent = 85.0
    """Percent at which the running tool ends, the session hands over, and a fresh one goes on."""
    stop_percent: Percent = 95.0
    """Percent at which the session is ended at once, and hands over."""
    tool_wait_s: Seconds = Field(default=60.0, ge=0, le=DAY)
    """How long the running tool may take before its session is ended all the same."""
    handoff_edit_s: Seconds = Field(default=60.0, ge=0, le=DAY)
    """How long you have to edit a handoff before it is sent as it is; 0: you are not asked."""
    handoff_copy: bool = False
    """Whether a copy of each handoff is put into ``.claude/handoffs``."""
    model_handoff: bool = False
    """Whether a model words the handoff."""
    model_handoff_model: Text = None
    """Which model; None: the agent's small one."""
    model_handoff_timeout_s: Seconds = Field(default=60.0, ge=1, le=DAY)
    """How long it may take before the handoff by template stands."""
    commit_wip: bool = False
    """Whether the work of each session that hands over becomes a commit on your branch."""
    state_file: Text = None
    """Where the state is kept for other tools: a ``ralph-state.json`` inside of the repository;
    None: nowhere."""

    @field_validator("state_file")
    @classmethod
    def _of_the_name(cls, value: str | None) -> str | None:
        """By its name it is known to be no work of the agent's, and nobody else's file."""
        if value is None:
            return None
        path = PurePosixPath(value)
        inside = not path.is_absolute() and not {"..", ".git", "~"} & set(path.parts)
        if path.name != NAME or not inside or "\0" in value:
            raise ValueError(f"must be a {NAME} inside of the repository: .claude/{NAME}")
        return value


Model = Annotated[str | None, Field(max_length=200), BeforeValidator(_none_if_empty)]
"""A model's name as the agent takes it; None: the agent's small one."""


class IntelligenceSettings(BaseModel):
    """Assessment, strategy, validation, prompts, and how much a model helps with them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

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
