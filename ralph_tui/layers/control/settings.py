"""What a user may tune in Layer 1, each with its range; the defaults are the law as written."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ControlSettings(BaseModel):
    """The controller: what it makes of the readings, and when it raises an alarm.

    Text (``"0.9"``, ``"false"``) is taken where it says a value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

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
