"""What the loop needs from outside, as Protocols that fakes and the real parts both fit.

Every call here returns at once or is run as a job (`Host.start`): none may hold the engine thread
for more than 100 ms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ralph_tui.ports.agents import (
    Agent,
    AgentAnswer,
    Ask,
    Asked,
    Asker,
    Memory,
    NoMemory,
    Permissions,
    Session,
    Turn,
)
from ralph_tui.ports.host import Accepted, Clock, CommandRequest, Emit, Host, Job, Refused
from ralph_tui.ports.knowledge import (
    Credit,
    Knowledge,
    NoKnowledge,
    NoPastRuns,
    PastRuns,
    Promotion,
)
from ralph_tui.ports.outreach import Outreach, Silent
from ralph_tui.ports.records import (
    CheckpointFacts,
    CheckpointFiles,
    LoopStateFile,
    NoCheckpointFiles,
    PromptTemplate,
    Records,
)
from ralph_tui.ports.worktree import (
    Commits,
    Committed,
    Gate,
    LeftAlone,
    Restored,
    Snapshot,
    Watcher,
    Workspace,
)

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


__all__ = [
    "Accepted",
    "Agent",
    "AgentAnswer",
    "Ask",
    "Asked",
    "Asker",
    "CheckpointFacts",
    "CheckpointFiles",
    "Clock",
    "CommandRequest",
    "Commits",
    "Committed",
    "Credit",
    "Emit",
    "Gate",
    "Host",
    "Job",
    "Knowledge",
    "LeftAlone",
    "LoopStateFile",
    "Memory",
    "NoCheckpointFiles",
    "NoKnowledge",
    "NoMemory",
    "NoPastRuns",
    "Outreach",
    "PastRuns",
    "Permissions",
    "Ports",
    "Promotion",
    "PromptTemplate",
    "Records",
    "Refused",
    "Restored",
    "Session",
    "Silent",
    "Snapshot",
    "Turn",
    "Watcher",
    "Workspace",
]
