"""What a user can set of context checkpoints."""

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
)

from ralph_tui.layers.context.state_file import NAME
from ralph_tui.text.durations import DAY, Seconds


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


Percent = Annotated[float, Field(ge=1, le=100)]
Text = Annotated[str | None, Field(max_length=4096), BeforeValidator(_none_if_empty)]


class ContextSettings(BaseModel):
    """How full the context window may get. Of levels reached at once the highest counts."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

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
