"""The attempt's folder and its checkpoint files. Run everything that writes as a job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ralph_tui.events.workspace import FileChange, Trigger
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.layers.intelligence.template import Template
    from ralph_tui.layers.sensor.gate import GateResult


class Records(Protocol):
    """Access to the attempt's folder, except for its journal."""

    folder: Path

    def iteration_folder(self, iteration: int) -> Path:
        """Return ``results/iter-001``, creating it if missing."""

    def relative(self, path: Path) -> str:
        """Return a path inside the attempt's folder as the journal writes it."""

    def write_prompt(self, iteration: int, prompt: str, unsent: str | None = None) -> Path:
        """Write the prompt of the iteration's next session, as sent, to its own file.

        `unsent` is the path, as returned by `relative`, of a prompt never sent; it is replaced.
        """

    def write_iteration_file(self, iteration: int, name: str, content: Any) -> Path:
        """Write text, or a value as JSON, to the iteration's folder, replacing an existing file.

        Text is redacted; a JSON value is built from events and written as is. Raises ``OSError``.
        """

    def assessment(self, state: RunState, iteration: int) -> dict[str, Any] | None:
        """Return the content of an iteration's ``assessment.json``, None if missing; quick."""

    def project(self, state: RunState) -> dict[str, Any]:
        """Return the run's projections in their current state, as plain values; quick."""

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        """Write the projections; unreadable files in their place are set aside."""

    def write_verification(self, iteration: int, result: "GateResult") -> None:
        """Write the verification's result as JSON."""


@dataclass(frozen=True)
class CheckpointFacts:
    """Which checkpoint to write, and why."""

    iteration: int
    number: int
    trigger: Trigger
    session_id: str
    duration_s: float = 0.0
    """Seconds since the session's start."""
    memory_bytes: int = 0
    """The agent's peak memory use since the last checkpoint; 0 if unknown."""
    changes: tuple[FileChange, ...] = ()
    """Final checkpoint only: files changed by the session."""


class CheckpointFiles(Protocol):
    """The files of a session's checkpoints, stored beside the journal."""

    def path(self, iteration: int, number: int) -> str:
        """Return the path of a checkpoint's file, relative to the attempt's folder."""

    def capture(self, facts: CheckpointFacts) -> None:
        """Write a checkpoint's file, and an inventory before and after a session; run as a job.

        Raises ``WorkspaceError`` if it cannot be written, ``NoRoomError`` if the disk is full.
        """


class NoCheckpointFiles:
    """Checkpoints without files."""

    def path(self, iteration: int, number: int) -> str:
        return ""

    def capture(self, facts: CheckpointFacts) -> None:
        pass


class LoopStateFile(Protocol):
    """The run's state file, which other tools also read and write."""

    def keep(self, fields: Mapping[str, Any]) -> Sequence[str]:
        """Update these fields and preserve those of other tools.

        Returns sentences about content that was set aside. Raises ``WorkspaceError``.
        """


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt template as read at the start of the run; later changes have no effect."""

    name: str
    """The configured name."""
    text: str
    template: "Template"
    read: Callable[[], str]
    """Read the file's current text; blocks, so run it as a job. Raises ``UsageError``."""
