"""What a user may tune in Layer 4."""

from pydantic import BaseModel, ConfigDict, Field

from ralph_tui.text.durations import DAY, Seconds


class OversightSettings(BaseModel):
    """The `oversight.*` settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    enabled: bool = True
    """Off: no overseer watches, the loop runs to its limit."""
    redirect_timeout_s: Seconds = Field(default=120.0, ge=1, le=30 * DAY)
    """Seconds after which a REDIRECT is approved by default; at once in a headless run."""
    pause_timeout_s: Seconds = Field(default=1800.0, ge=0, le=30 * DAY)
    """Seconds after which a PAUSE aborts a run that was started headless; others wait for ever."""
    escalate_after_s: Seconds = Field(default=600.0, ge=1, le=30 * DAY)
    """Seconds after which an unanswered question is escalated, if it was not already."""
