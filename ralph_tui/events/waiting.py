"""What a run waits for: the end of a limit, or an answer of its owner."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.asking import AgentRequest
from ralph_tui.events.base import Event, Fact
from ralph_tui.events.text import Line, Plain

__all__ = [
    "InterruptRequested",
    "PermissionsChanged",
    "QuestionAnswered",
    "QuestionAsked",
    "QuestionHeld",
    "QuestionPostponed",
    "QuestionWithdrawn",
    "WaitEnded",
    "WaitStarted",
]

WaitCause = Literal["usage_limit", "overload", "outage", "disk_full"]
Takes = Literal["nothing", "words", "instructions", "more", "iterations", "money", "choices"]
"""Words for the agent, the edited proposal (or nothing: as it is), iterations or money (``more``:
either), or answers to the agent's own questions.
"""
Topic = Literal[
    "silence",
    "redirect",
    "pause",
    "goal",
    "criterion",
    "removal",
    "prompt",
    "handoff",
    "permission",
    "choice",
]
"""``goal``: the completion command passes before iteration 1, so what completes the run?"""
SILENCE = "the default"
"""`QuestionAnswered.by` of a question that its default decided because nobody answered."""


class WaitStarted(Event):
    """The agent's service has no answer for us, or the disk no room; no iteration is spent."""

    kind: Literal["wait_started"] = "wait_started"
    iteration: int
    cause: WaitCause
    reason: Plain = ""
    until: datetime | None = None
    """When it is tried again, UTC; None: as soon as there is room."""
    resets_at: datetime | None = None
    """When the service said that the limit ends, UTC; None when it did not say."""
    attempt: int = 1
    """How often in a row this iteration has waited, and the agent did no work in between."""
    since: datetime | None = None
    """When it was found out for the first time of these, UTC."""
    agent: Line = ""
    """Which of several agents is tried then; empty in journals from before there were several."""
    others: list[Line] = []
    """Further agents that cannot work now."""


class WaitEnded(Event):
    """It is tried again."""

    kind: Literal["wait_ended"] = "wait_ended"
    iteration: int
    by: Line = "the clock"
    waited_s: float = 0.0


class Option(Fact):
    """One answer that can be given."""

    key: Line
    answer: Line
    """The word that commands and journal use."""
    verb: Line
    """What it does, in a few words."""
    takes: Takes = "nothing"
    """What the answer has to bring along."""


class Rollback(Fact):
    """The point a question offers to roll back to, and what that would change."""

    snapshot: int
    iteration: int
    """The iteration whose work it holds; 0 for the start."""
    completion: float | None = None
    """Points read there."""
    files: int = 0
    added: int = 0
    removed: int = 0
    paths: list[Line] = []
    """The first 20 files it would change."""


class QuestionAsked(Event):
    """The run needs a decision; without one its default happens at the deadline."""

    durable = True
    urgent = True
    kind: Literal["question_asked"] = "question_asked"
    iteration: int
    question_id: Line
    topic: Topic
    text: Plain
    options: list[Option]
    default: Line = ""
    """The answer that silence gives; empty, of older versions: it waits for ever."""
    deadline: datetime | None = None
    """UTC; None waits for ever."""
    about: Line = ""
    """What an intervention is about: ``stuck``."""
    evidence: list[Plain] = []
    """What else speaks for it, a sentence each."""
    proposal: Plain = ""
    """Instructions for the agent that may be edited; of a ``prompt``, the prompt itself."""
    gains: Line = ""
    """How the controller would change, in words; empty: not at all."""
    rollback: Rollback | None = None
    diff: Plain = ""
    """What the iteration changed, as a unified diff, where that is to be judged; bounded."""
    request: AgentRequest | None = None
    """What the agent has asked, of a ``permission`` or ``choice``."""


class QuestionAnswered(Event):
    """It is decided."""

    durable = True
    urgent = True
    kind: Literal["question_answered"] = "question_answered"
    question_id: Line
    answer: Line
    by: Line = "you"
    """`SILENCE` when nobody answered in time."""
    text: Plain = ""
    """Guidance, or the instructions as edited."""
    iterations: int = 0
    """More iterations that were granted."""
    budget_usd: float = 0.0
    """More money that was granted, dollars."""
    choices: list[list[Plain]] = []
    """Of a ``choice``: for each question of the agent in order the labels chosen, or own words."""


class QuestionHeld(Event):
    """Its countdown was stopped: it waits for an answer."""

    urgent = True
    kind: Literal["question_held"] = "question_held"
    question_id: Line
    by: Line = "you"


class QuestionPostponed(Event):
    """Somebody is at a screen of the run: its default is taken later."""

    kind: Literal["question_postponed"] = "question_postponed"
    question_id: Line
    deadline: datetime
    """UTC."""


class QuestionWithdrawn(Event):
    """It has answered itself."""

    urgent = True
    kind: Literal["question_withdrawn"] = "question_withdrawn"
    question_id: Line
    reason: Plain


class InterruptRequested(Event):
    """The owner interrupts the agent's turn; the run goes on."""

    kind: Literal["interrupt_requested"] = "interrupt_requested"
    by: Line = "you"


class PermissionsChanged(Event):
    """What the agent may do from its next session on."""

    kind: Literal["permissions_changed"] = "permissions_changed"
    mode: Literal["edits", "skip", "ask"]
    allow: list[Line] = []
    by: Line = "you"
