"""How a fleet stands: the fold of its journal, and the only one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ralph_tui.events.base import EPOCH
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as told
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.plan import Loop, Plan

LoopStatus = Literal["queued", "placing", "running", "lost", "ended", "skipped"]
"""Where a loop is; what it does while it runs says `phase`, how it ended says `outcome`."""
COURSE = 200
"""Readings of a loop that are kept, the last ones."""


@dataclass
class LoopState:
    """One loop."""

    spec: Loop
    status: LoopStatus = "queued"
    attempt: int = 0
    host: str = ""
    machine: str = ""
    branch: str = ""
    stage: str = ""
    """While it is placed."""
    run_id: str = ""
    run: str = ""
    folder: str = ""
    ports: tuple[int, int] | None = None
    resumes: int = 0
    """How often it went on in the tree that it had."""
    phase: str = ""
    iteration: int = 0
    max_iterations: int | None = None
    completions: list[float] = field(default_factory=list)
    best: float | None = None
    verdict: str = ""
    question: str = ""
    question_id: str = ""
    until: datetime | None = None
    cost_usd: float | None = None
    """Of this attempt; None: not known."""
    earlier_cost_usd: float = 0.0
    """Of attempts before."""
    tokens: int = 0
    given_usd: float | None = None
    """What it may spend."""
    placed_at: datetime | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    lost_until: datetime | None = None
    outcome: Outcome | None = None
    reason: str = ""
    never_began: bool = False
    changed_lines: int | None = None
    commit: str = ""
    """Of the collected branch; empty: it is not collected."""
    files: int = 0
    not_collected: str = ""
    conflicts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts_unknown: str = ""
    place: Literal["", "chosen", "beaten"] = ""
    """Among several tries."""
    verified: bool | None = None
    """Whether the completion command passed once more in a fresh clone."""

    @property
    def spent_usd(self) -> float:
        """All attempts together, as far as it is known."""
        return self.earlier_cost_usd + (self.cost_usd or 0.0)

    @property
    def over(self) -> bool:
        """Nothing more comes of it."""
        return self.status in ("ended", "skipped")


@dataclass
class HostState:
    """One host."""

    name: str
    slots: int = 0
    machine: str = ""
    version: str = ""
    here: bool = True
    """It was heard of and not lost since."""
    since: datetime = EPOCH
    reason: str = ""
    """Why it is lost."""


@dataclass
class FleetState:
    """A fleet; `apply` brings it up to date."""

    started: told.FleetStarted | None = None
    finished: told.FleetFinished | None = None
    plan: Plan = field(default_factory=Plan)
    loops: dict[str, LoopState] = field(default_factory=dict)
    hosts: dict[str, HostState] = field(default_factory=dict)
    held: dict[str, told.AccountHeld] = field(default_factory=dict)
    """Accounts at which nothing is started."""
    chosen: dict[str, told.WinnerChosen] = field(default_factory=dict)
    """By what the tries have in common."""
    budget_percent: int = 0
    """90 or 100 when that much is used."""
    stopping: told.StopAsked | None = None
    last_start: dict[str, datetime] = field(default_factory=dict)
    """By account: when a loop of it was placed last."""
    notices: list[FleetEvent] = field(default_factory=list)
    """What is told in the fleet's log, the last ones."""
    seq: int = 0
    at: datetime = EPOCH
    revision: int = 0

    @property
    def spent_usd(self) -> float:
        """Over all loops, as far as their agents tell."""
        return sum(loop.spent_usd for loop in self.loops.values())

    def running_on(self, host: str) -> Iterator[LoopState]:
        """Loops that take a slot of this host."""
        for loop in self.loops.values():
            if loop.host == host and loop.status in ("placing", "running", "lost"):
                yield loop

    def tries(self, common: str) -> list[LoopState]:
        """The tries at one objective."""
        return [loop for loop in self.loops.values() if loop.spec.tries_at == common]

    def replay(self, events: Iterable[FleetEvent]) -> "FleetState":
        """Apply all of them; gives itself back."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: FleetEvent) -> None:
        """Take one event in."""
        self.seq, self.at = event.seq, event.at
        self.revision += 1
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    # The handlers: one per event, named like it.


Handler = Any
_HANDLERS: dict[type[FleetEvent], Handler] = {}
