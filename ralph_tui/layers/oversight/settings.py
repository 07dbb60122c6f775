"""What a user may tune in Layer 4."""

from pydantic import BaseModel, ConfigDict, Field

from ralph_tui.text.durations import DAY, Seconds


class OversightSettings(BaseModel):
    """The overseer, which proposes another course, pauses or aborts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

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
