"""What a user may tune in Layer 4."""

from pydantic import BaseModel, ConfigDict


class OversightSettings(BaseModel):
    """The `oversight.*` settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """Off: nobody watches, the loop runs to its limit."""
