"""The ports through which a run reaches the outside world."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ralph_tui.ports.agents import Agent, Asker, Memory, NoMemory
from ralph_tui.ports.knowledge import Knowledge, NoKnowledge, NoPastRuns, PastRuns
from ralph_tui.ports.outreach import NoOutreach, Outreach
from ralph_tui.ports.records import (
    CheckpointFiles,
    LoopStateFile,
    NoCheckpointFiles,
    PromptTemplate,
    Records,
)
from ralph_tui.ports.worktree import Commits, Gate, Watcher, Workspace

if TYPE_CHECKING:
    from ralph_tui.layers.intelligence import Traces
    from ralph_tui.layers.sensor.plan import Progress


@dataclass(frozen=True)
class Ports:
    """The outside world of one run."""

    agent: Agent
    gate: Gate | None
    """None if a person judges the work (see ``RunStarted.criterion``)."""
    workspace: Workspace
    watcher: Watcher
    records: Records
    read_traces: "Callable[[int, datetime], Traces]"
    """Read an iteration's traces since a given time; blocks, so run it as a job."""
    test_files: Callable[[], Sequence[str]] = tuple
    """List the repository's test files; blocks, so run it as a job. Raises ``WorkspaceError``."""
    outreach: Outreach = field(default_factory=NoOutreach)
    fallbacks: Sequence[Agent] = ()
    """The agents that take over, in this order, if `agent` cannot work."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why requested agents are unavailable, by agent name."""
    agent_notes: Sequence[str] = ()
    """Notes about the agents for the start of the run, one sentence each."""
    commits: Commits | None = None
    """None if no commits are made."""
    checkpoint_files: CheckpointFiles = field(default_factory=NoCheckpointFiles)
    memory: Memory = field(default_factory=NoMemory)
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    past: PastRuns = field(default_factory=NoPastRuns)
    asker: Asker | None = None
    """None if the agent cannot answer questions."""
    askers: Sequence[str] = ()
    """Names of the agents that can answer questions."""
    read_plan: "Callable[[], Progress | None]" = lambda: None
    template: PromptTemplate | None = None
    """The user's own prompt template; None for the built-in one."""
    copy_handoff: Callable[[str, str], str] = lambda _text, _before: ""
    """Copy a handoff to the worktree, replacing any copy at `before`; return its path. Blocks."""
    state_file: LoopStateFile | None = None
    """The run's state file for other tools; None if it is not written."""
    sweep: Callable[[], Sequence[int]] = tuple
    """Stop processes left behind by dead runs of this worktree; return their process ids."""
