"""The commands a user can send to a run: they enter the engine's inbox, and events come back.

Each command is one class with its fields, its reasons for refusal, and its effect.
"""

from typing import Annotated

from pydantic import Field

from ralph_tui.commands.command import (
    IMPORTED,
    MAX_ITERATIONS,
    NO_MONEY,
    WATCHED,
    Command,
    Controls,
    Steered,
    over,
    refusal,
    stopping,
)
from ralph_tui.commands.questions import Answer, Hold, Present
from ralph_tui.commands.steering import (
    Abort,
    Extend,
    Interrupt,
    Pause,
    RetryNow,
    SetPermissions,
    Stop,
    Unpause,
    extended,
)
from ralph_tui.commands.words import (
    MAX_GUIDANCE,
    ChangeLearning,
    EditPrompt,
    Guide,
    Instruct,
    Reflect,
)
from ralph_tui.commands.work import Checkpoint, Restore, RollOver, are_files_idle

__all__ = [
    "IMPORTED",
    "MAX_GUIDANCE",
    "MAX_ITERATIONS",
    "NO_MONEY",
    "WATCHED",
    "Abort",
    "Answer",
    "AnyCommand",
    "ChangeLearning",
    "Checkpoint",
    "Command",
    "Controls",
    "EditPrompt",
    "Extend",
    "Guide",
    "Hold",
    "Instruct",
    "Interrupt",
    "Pause",
    "Present",
    "Reflect",
    "Restore",
    "RetryNow",
    "RollOver",
    "SetPermissions",
    "Steered",
    "Stop",
    "Unpause",
    "are_files_idle",
    "extended",
    "over",
    "refusal",
    "stopping",
]

AnyCommand = Annotated[
    Pause
    | Unpause
    | Guide
    | Abort
    | Checkpoint
    | RollOver
    | Stop
    | Interrupt
    | RetryNow
    | Answer
    | Hold
    | Present
    | Extend
    | Restore
    | SetPermissions
    | ChangeLearning
    | Reflect
    | EditPrompt
    | Instruct,
    Field(discriminator="name"),
]
"""Every command, discriminated by `name`."""
