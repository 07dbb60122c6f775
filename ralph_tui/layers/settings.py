"""Settings of the layers, each with its range; the defaults follow the documented rules."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from ralph_tui.layers.context.levels import Thresholds
from ralph_tui.layers.context.state_file import NAME
from ralph_tui.text.durations import DAY, Seconds


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


class ControlSettings(BaseModel):
    """The controller: gains, and when it raises an alarm.

    Text such as ``"0.9"`` or ``"false"`` is converted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: fixed `focused` gains and no alarms; the overseer still watches."""
    adaptive_gains: bool = True
    """False: always `focused` gains; alarms and advice stay on."""
    window_size: int = Field(default=5, ge=1, le=1000)
    """Number of past iterations that velocity and volatility use."""
    decay: float = Field(default=0.9, ge=0, le=1)
    """Factor by which the integral decays at each iteration."""
    noise_threshold: float = Field(default=0.05, ge=0, le=1)
    """A derivative smaller than this fraction counts as 0."""
    smoothing: float = Field(default=0.3, ge=0, le=1)
    """Weight of the previous gains when new ones are computed."""
    integral_term: Literal["mean", "accumulated"] = "mean"
    """What ki multiplies: the weighted mean error, or the accumulated error."""
    patience: float = Field(default=1.0, gt=0, le=100)
    """Multiplies the number of iterations before STUCK."""
    stuck_after: Annotated[int | None, Field(ge=1, le=1000), BeforeValidator(_none_if_empty)] = None
    """Iterations without progress before STUCK; None: from the run's own pace and ``patience``."""
    oscillations: int = Field(default=3, ge=1, le=5)
    """Changes of direction within 6 iterations that raise OSCILLATING."""
    falls: int = Field(default=2, ge=1, le=100)
    """Number of consecutive falls that raises REGRESSING."""
    budget_warning: float = Field(default=0.9, gt=0, le=1)
    """Used share of a limit at which the run warns, and asks you if its pace is too slow."""
    first_profile: Literal["exploration", "focused", "aggressive"] = "exploration"
    """Gains of the first iterations."""


class OversightSettings(BaseModel):
    """The overseer, which proposes redirects, pauses or aborts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: no overseer; the loop runs to its limit."""
    act: bool = True
    """False: the overseer detects and warns, but never redirects, pauses or aborts."""
    pause_on_critical: bool = False
    """True: a loop that oscillates or regresses is paused at once instead of redirected."""
    redirect_timeout_s: Seconds = Field(default=120.0, ge=1, le=30 * DAY)
    """How long a REDIRECT waits before it is approved; headless runs do not wait."""
    pause_timeout_s: Seconds = Field(default=1800.0, ge=0, le=30 * DAY)
    """How long a PAUSE waits for an answer; then the run aborts, or continues if it is only
    slow."""
    presence_s: Seconds = Field(default=600.0, ge=0, le=30 * DAY)
    """How long a key press or mouse action on the run's screen pauses question countdowns."""
    escalate_after_s: Seconds = Field(default=600.0, ge=1, le=30 * DAY)
    """How long a question stays unanswered before it is sent to the channels of ``outreach``."""


Percent = Annotated[float, Field(ge=1, le=100)]
Text = Annotated[str | None, Field(max_length=4096), BeforeValidator(_none_if_empty)]


class ContextSettings(BaseModel):
    """How full the context window may get. If several levels are reached, the highest applies."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    rollover: bool = True
    """False: context usage is only shown; no session ends because of it."""
    warn_percent: Percent = 70.0
    """Percent of the window at which a warning appears."""
    checkpoint_percent: Percent = 85.0
    """Percent at which the session hands off once its tool ends; a fresh session continues."""
    stop_percent: Percent = 95.0
    """Percent at which the session ends at once and hands off."""
    tool_wait_s: Seconds = Field(default=60.0, ge=0, le=DAY)
    """How long a handoff waits for the running tool before the session ends anyway."""
    handoff_edit_s: Seconds = Field(default=60.0, ge=0, le=DAY)
    """How long you have to edit a handoff before it is sent unchanged; 0: do not ask."""
    handoff_copy: bool = False
    """True: save a copy of each handoff in ``.claude/handoffs``."""
    model_handoff: bool = False
    """True: a model writes the handoff."""
    model_handoff_model: Text = None
    """Model; None: the agent's small model."""
    model_handoff_timeout_s: Seconds = Field(default=60.0, ge=1, le=DAY)
    """Timeout, after which the template is used."""
    commit_wip: bool = False
    """True: at each handoff, commit the session's work to your branch."""
    state_file: Text = None
    """State file for other tools: a ``ralph-state.json`` inside the repository; None: no
    file."""

    @property
    def thresholds(self) -> Thresholds:
        """The percentages at which levels start."""
        return Thresholds(self.warn_percent, self.checkpoint_percent, self.stop_percent)

    @field_validator("state_file")
    @classmethod
    def _check_name(cls, value: str | None) -> str | None:
        """Check the name: it distinguishes the file from the agent's work and from other files."""
        if value is None:
            return None
        path = PurePosixPath(value)
        inside = not path.is_absolute() and not {"..", ".git", "~"} & set(path.parts)
        if path.name != NAME or not inside or "\0" in value:
            raise ValueError(f"must be a {NAME} inside the repository, such as .claude/{NAME}")
        return value


Model = Annotated[str | None, Field(max_length=200), BeforeValidator(_none_if_empty)]
"""A model's name as the agent accepts it; None: the agent's small model."""


class IntelligenceSettings(BaseModel):
    """Assessment, strategy, validation, prompts, and how much a model helps with them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: prompts contain only the objective, the criteria and your guidance."""
    escalate_at: int = Field(default=7, ge=1, le=1000)
    """Minimum number of iterations that a changed approach gets before the strategy asks you.

    While a redirect is in effect, the overseer asks on its own schedule.
    """
    strict_validation: bool = False
    """True: a validation error pauses the run and asks you; False: it only warns."""
    prompt_budget_tokens: int = Field(default=8000, ge=1000, le=200_000)
    """Maximum size of a prompt in tokens, estimated; less important sections are cut."""
    prompt_template: Annotated[
        str | None, Field(max_length=4096), BeforeValidator(_none_if_empty)
    ] = None
    """File that replaces the layout of prompts; None: the built-in layout."""
    model_prompts: bool = False
    """True: a model writes the prompt."""
    model_prompts_model: Model = None
    """Model; None: the agent's small model."""
    model_prompts_timeout_s: Seconds = Field(default=90.0, ge=1, le=DAY)
    """Timeout, after which the template is used."""
    model_assessment: bool = False
    """True: a model gives a second opinion on each iteration."""
    model_assessment_model: Model = None
    """Model; None: the agent's small model."""
    model_assessment_timeout_s: Seconds = Field(default=120.0, ge=1, le=DAY)
    """Timeout, after which the assessment is used without the opinion."""
    model_reflections: bool = False
    """True: a model writes the reflection on an attempt. The end of the run waits for it; a run
    that is stopped, aborted or fails asks no model."""
    model_reflections_model: Model = None
    """Model; None: the agent's small model."""
    model_reflections_timeout_s: Seconds = Field(default=60.0, ge=1, le=DAY)
    """Timeout, after which the template is used."""
    model_judge: bool = False
    """True: a model judges whether a plain-language criterion is met; you are asked if it fails."""
    model_judge_model: Model = None
    """Model; None: the agent's small model."""
    model_judge_timeout_s: Seconds = Field(default=120.0, ge=1, le=DAY)
    """Timeout, after which you are asked."""


def _split(value: object) -> object:
    """Convert text such as ``failure, timeout`` or ``["failure"]``, and any list, to a tuple."""
    if isinstance(value, str):
        return tuple(re.findall(r"[^\s,\[\]\"']+", value))
    return tuple(value) if isinstance(value, list) else value


ReflectOn = Literal["failure", "success", "timeout", "completion"]
"""When an attempt gets a reflection; for ``completion``, it covers how the work went."""


class MemorySettings(BaseModel):
    """Learnings that runs share, and reflections on attempts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    enabled: bool = True
    """False: runs neither use nor record learnings."""
    min_confidence: float = Field(default=0.7, ge=0, le=1)
    """Minimum confidence at which a proven strategy is used."""
    min_success_rate: float = Field(default=0.6, ge=0, le=0.75)
    """Success rate below which a strategy or convention is no longer used; a new one has 0.75."""
    max_results: int = Field(default=5, ge=1, le=50)
    """Maximum number of learnings in a prompt."""
    promote_at: float = Field(default=0.6, ge=0, le=1)
    """Minimum confidence for a learning to become proven."""
    min_uses: int = Field(default=2, ge=1, le=1000)
    """Runs that must report a learning before it is proven, unless it has helped before."""
    backup: bool = True
    """True: keep the previous state of the file of proven learnings as ``.bak``."""
    reflect_on: Annotated[tuple[ReflectOn, ...], BeforeValidator(_split)] = (
        *("failure", "success", "timeout", "completion"),
    )
    """When an attempt gets a reflection: ``failure``, ``success``, ``timeout`` (a limit was
    reached), and ``completion`` (how the work of a completed attempt went)."""
