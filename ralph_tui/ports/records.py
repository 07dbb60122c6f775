"""The attempt's folder, and the files of checkpoints. All that writes is a job."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ralph_tui.events.workspace import FileChange, Trigger
from ralph_tui.state import RunState

if TYPE_CHECKING:
    from ralph_tui.layers.intelligence.template import Template
    from ralph_tui.layers.sensor import GateResult


class Records(Protocol):
    """The attempt's folder, everything but the journal."""

    folder: Path

    def iteration_folder(self, iteration: int) -> Path:
        """``results/iter-001``, made when missing."""

    def relative(self, path: Path) -> str:
        """A path inside the attempt's folder as the journal names it."""

    def write_prompt(self, iteration: int, prompt: str, unsent: str | None = None) -> Path:
        """Keep the prompt of the iteration's next session as sent, in a file of its own.

        `unsent` is the path, as `relative` gives it, of one that no session got: it is replaced.
        """

    def write_iteration_file(self, iteration: int, name: str, content: Any) -> Path:
        """Keep text, or a value as JSON, in the iteration's folder; what stood there is replaced.

        Secrets are taken out of text; a value is made of what events say. Raises ``OSError``.
        """

    def assessment(self, state: RunState, iteration: int) -> dict[str, Any] | None:
        """What ``assessment.json`` is to say of an iteration, None for nothing; quick."""

    def project(self, state: RunState) -> dict[str, Any]:
        """The projections of the run as it stands, as plain values; quick."""

    def write_projections(self, projected: Mapping[str, Any]) -> None:
        """Write them; what stood in their place and cannot be read is set aside."""

    def write_verification(self, iteration: int, result: "GateResult") -> None:
        """Keep the gate's result as JSON."""


@dataclass(frozen=True)
class CheckpointFacts:
    """Which checkpoint is taken, and why."""

    iteration: int
    number: int
    trigger: Trigger
    session_id: str
    duration_s: float = 0.0
    """Since the session's start."""
    memory_bytes: int = 0
    """The agent's peak since the last checkpoint; 0: not known."""
    changes: tuple[FileChange, ...] = ()
    """At the end: what the session changed."""


class CheckpointFiles(Protocol):
    """The files of a session's checkpoints, beside the journal."""

    def path(self, iteration: int, number: int) -> str:
        """Where a checkpoint's file is, relative to the attempt's folder."""

    def capture(self, facts: CheckpointFacts) -> None:
        """Write a checkpoint's file, and an inventory before and after a session; blocking, a job.

        Raises ``WorkspaceError`` when it cannot be written, ``NoRoomError`` when the disk is full.
        """


class NoCheckpointFiles:
    """No files are kept of checkpoints."""

    def path(self, iteration: int, number: int) -> str:
        """Nowhere."""
        return ""

    def capture(self, facts: CheckpointFacts) -> None:
        """Nothing is written."""


class LoopStateFile(Protocol):
    """The state file of a run, which other tools read and write as well."""

    def keep(self, fields: Mapping[str, Any]) -> Sequence[str]:
        """Bring these fields into it, and keep whatever others have there.

        Gives back sentences about what was set aside. Raises ``WorkspaceError``.
        """


@dataclass(frozen=True)
class PromptTemplate:
    """A template's file as it was read when the run began: later changes of it do not count."""

    name: str
    """As it was set."""
    text: str
    template: "Template"
    read: Callable[[], str]
    """Its text now; blocking, a job. Raises ``UsageError``."""
