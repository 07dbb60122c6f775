"""All that a run needs from outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ralph_tui.ports.agents import Agent, Asker, Memory, NoMemory
from ralph_tui.ports.knowledge import Knowledge, NoKnowledge, NoPastRuns, PastRuns
from ralph_tui.ports.outreach import Outreach, Silent
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
    from ralph_tui.layers.sensor import Progress


@dataclass(frozen=True)
class Ports:
    """The outside world of one run."""

    agent: Agent
    gate: Gate | None
    """None: a human judges (see ``RunStarted.criterion``)."""
    workspace: Workspace
    watcher: Watcher
    records: Records
    read_traces: "Callable[[int, datetime], Traces]"
    """What the session of an iteration left behind since then; blocking, a job."""
    outreach: Outreach = field(default_factory=Silent)
    fallbacks: Sequence[Agent] = ()
    """The agents that take over where `agent` cannot work, in their order."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """By name, why an agent that was asked for is none of these."""
    agent_notes: Sequence[str] = ()
    """What is to be said of the agents before the run begins, a sentence each."""
    commits: Commits | None = None
    """None: nobody makes any."""
    checkpoint_files: CheckpointFiles = field(default_factory=NoCheckpointFiles)
    memory: Memory = field(default_factory=NoMemory)
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    past: PastRuns = field(default_factory=NoPastRuns)
    asker: Asker | None = None
    """None: the agent cannot be asked."""
    askers: Sequence[str] = ()
    """The agents that can be."""
    read_plan: "Callable[[], Progress | None]" = lambda: None
    template: PromptTemplate | None = None
    """The user's own layout of prompts; None: the built-in one."""
    copy_handoff: Callable[[str, str], str] = lambda _text, _before: ""
    """Puts a copy, or that of `before` anew, into the worktree and gives back where; a job."""
    state_file: LoopStateFile | None = None
    """What other tools read of the run; None: nothing is kept for them."""
    sweep: Callable[[], Sequence[int]] = tuple
    """Stops what dead runs of this worktree left behind; gives back the process ids."""
