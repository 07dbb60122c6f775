"""Events about waits and questions: the end of a limit, or an answer from the user."""

from datetime import datetime
from typing import Literal

from ralph_tui.events.asking import AgentRequest
from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text import terms
from ralph_tui.text.format import day_and_clock, due, duration, wait_time
from ralph_tui.text.sanitize import one_line

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
"""Input that an answer takes: guidance, an edited proposal, or more iterations or money.

``more`` takes iterations or money; an empty proposal approves it unedited. ``choices`` are answers
to the agent's own questions.
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
"""``goal``: the completion command passes before iteration 1, so the user must choose a goal."""
SILENCE = "the default"
"""Value of `QuestionAnswered.by` if no one answered the question and its default applied."""


DECIDED = {
    "once": "allowed once",
    "session": "allowed for the session",
    "refuse": "refused",
    "choose": "answered",
    "leave": "left to the agent",
    "approve": "approved",
    "decline": "declined",
    "roll_back": "restored",
    "continue": "continued",
    "guide": "guided",
    "extend": "extended",
    "abort": "aborted",
    "retry": "interrupted",
    "hand_over": "handed off",
    "stop": "session ended",
    "yes": "accepted",
    "no": "not accepted",
    "send": "sent",
    "criterion": "criterion set",
    "promise": "promise required",
}
"""Each answer in words, in the past tense."""


class WaitStarted(Event):
    """The agent's service is unavailable or the disk is full; the iteration does not count."""

    kind: Literal["wait_started"] = "wait_started"
    iteration: int
    cause: WaitCause
    reason: Plain = ""
    until: datetime | None = None
    """UTC time of the next attempt; None to continue as soon as there is disk space."""
    resets_at: datetime | None = None
    """UTC time when the limit ends, as reported by the service; None if not reported."""
    attempt: int = 1
    """Number of consecutive waits in this iteration with no work in between."""
    since: datetime | None = None
    """UTC time when the cause was first noticed in this series of waits."""
    agent: Line = ""
    """The agent to try next, if there are several; empty in older journals."""
    others: list[Line] = []
    """Other agents that cannot work now."""

    def words(self, now: datetime) -> str:
        """Return ``service down since 03:12``; the time is left out if the reset is known."""
        of = f" of {' and '.join([self.agent, *self.others])}" if self.agent else ""
        what = f"{terms.WAITS[self.cause].word}{of}"
        if self.since is None or self.resets_at is not None:
            return what
        return f"{what} since {day_and_clock(self.since, now)}"

    @property
    def retry(self) -> str:
        """The next attempt, as in ``retry at 10:59``; empty if only disk space is needed."""
        return "" if self.until is None else f"retry at {day_and_clock(self.until, self.at)}"

    @property
    def again(self) -> str:
        """The text of a repeated wait, as in ``2 failed attempts; retry at 10:59``."""
        tries = "1 failed attempt" if self.attempt == 2 else f"{self.attempt - 1} failed attempts"
        return f"{tries}; {self.retry}" if self.retry else tries

    @property
    def stream(self) -> str:
        """The row in the agent's stream."""
        return f"waiting: {self.words(self.at)}, {self.retry or 'until disk space is free'}"

    def row(self) -> Row:
        until = f"waiting until {day_and_clock(self.until, self.at)}" if self.until else "waiting"
        cause = self.words(self.at)
        what = "" if cause == terms.WAITS[self.cause].word else f": {cause}"
        text = f"{until}{what}; the iteration does not count"
        return Row("warn", terms.WAITS[self.cause].brief.upper(), text, self.reason)

    def line(self, *, why: bool = True) -> str:
        """Return the event's line; `why` adds the service's reason."""
        until = "" if self.until is None else f" until {due(self.until, self.at)}"
        what = f" ({self.words(self.at)})" if self.since is not None else ""
        reason = f": {self.reason}" if why and self.reason else ""
        return f"waiting{until}{what}; the iteration does not count{reason}"


class WaitEnded(Event):
    """A wait ended and the run tries again."""

    kind: Literal["wait_ended"] = "wait_ended"
    iteration: int
    by: Line = "the clock"
    waited_s: float = 0.0

    @property
    def stream(self) -> str:
        """The row in the agent's stream."""
        return f"retried by {terms.sender_label(self.by)}"

    def row(self) -> Row:
        return self.row_after(self.waited_s)

    def row_after(self, waited_s: float) -> Row:
        """Return the event's row after `waited_s` seconds of consecutive waits."""
        by = "" if self.by == "the clock" else f", requested by {terms.sender_label(self.by)}"
        return Row("log", "CONTINUED", f"after {duration(waited_s)}{by}")

    def line(self) -> str:
        return f"continued after {duration(self.waited_s)}, by {terms.sender_label(self.by)}"


class Option(Fact):
    """One possible answer."""

    key: Line
    answer: Line
    """The word used by commands and the journal."""
    verb: Line
    """The answer's effect, in a few words."""
    takes: Takes = "nothing"
    """The input that the answer needs."""


class Rollback(Fact):
    """The snapshot that a question offers to roll back to, and the changes this would make."""

    snapshot: int
    iteration: int
    """The iteration whose work the snapshot contains; 0 for the start."""
    completion: float | None = None
    """Points measured in that iteration."""
    files: int = 0
    added: int = 0
    removed: int = 0
    paths: list[Line] = []
    """Files that it would change, at most 20."""


class QuestionAsked(Event):
    """The run needs a decision; without one, the default applies at the deadline."""

    durable = True
    urgent = True
    kind: Literal["question_asked"] = "question_asked"
    iteration: int
    question_id: Line
    topic: Topic
    text: Plain
    options: list[Option]
    default: Line = ""
    """The answer that applies if no one replies; in older versions, empty to wait for a reply."""
    deadline: datetime | None = None
    """UTC; None to wait until answered."""
    about: Line = ""
    """The subject of an intervention, as in ``stuck``."""
    severity: Line = ""
    """Severity of the intervention: low, medium, high or critical."""
    evidence: list[Plain] = []
    """Further evidence, one sentence each."""
    proposal: Plain = ""
    """Instructions for the agent that the user may edit; for a ``prompt``, the prompt itself."""
    gains: Line = ""
    """How the controller would change, in words; empty if it would not."""
    rollback: Rollback | None = None
    diff: Plain = ""
    """Unified diff of the iteration's changes, if they are to be judged; bounded."""
    request: AgentRequest | None = None
    """The agent's request, for a ``permission`` or ``choice``."""

    def row(self) -> Row:
        if self.request is not None:
            return Row("warn", "ASKED", self.request.wanted, self.request.whole)
        choices = "\n".join(f"{option.key}  {option.verb}" for option in self.options)
        default = f"without an answer: {self.default}" if self.default else "no time limit"
        return Row("warn", "QUESTION", self.text, f"{choices}\n{default}")

    def line(self, *, said: bool = False) -> str:
        """Return the question, how to answer, and its default; `said` omits the question."""
        choices = ", ".join(
            dict.fromkeys(terms.answer_word(option.answer) for option in self.options)
        )
        by = "" if self.deadline is None else f" at {due(self.deadline, self.at)}"
        silence = "no time limit"
        if self.default:
            silence = f"{terms.silence_word(self.default)}{by} unless you answer"
        text = "" if said else f"{self.text}{'' if self.text.endswith(('.', '?')) else ';'} "
        return f"question {text}answer with ralph-tui decide ANSWER ({choices}; {silence})"


class QuestionAnswered(Event):
    """A question was decided."""

    durable = True
    urgent = True
    kind: Literal["question_answered"] = "question_answered"
    question_id: Line
    answer: Line
    by: Line = "you"
    """`SILENCE` if no one answered in time."""
    text: Plain = ""
    """Guidance, or the edited instructions."""
    iterations: int = 0
    """Number of extra iterations granted."""
    budget_usd: float = 0.0
    """Extra budget granted, in dollars."""
    choices: list[list[Plain]] = []
    """For a ``choice``: the chosen labels or the user's own words, by question."""

    def decision(self, asked: QuestionAsked | None = None) -> str:
        """Return ``approved by you`` or ``no answer in 2 min: approved``.

        `asked` is the question.
        """
        done = DECIDED.get(self.answer, terms.in_words(self.answer))
        if self.by != SILENCE:
            edited = "edited and " if asked is not None and self._edits(asked) else ""
            return f"{edited}{done} by {terms.sender_label(self.by)}"
        if asked is None or asked.deadline is None:
            return f"no answer: {done}"
        waited = (asked.deadline - asked.at).total_seconds()
        when = f"no answer in {wait_time(waited)}" if waited >= 1 else "no one to ask"
        return f"{when}: {done}"

    def _edits(self, asked: QuestionAsked) -> bool:
        text = self.text.strip()
        redirects = asked.topic == "redirect" and self.answer == "approve"
        return redirects and text not in ("", asked.proposal.strip())

    @property
    def said(self) -> str:
        """The choices per question, as in ``Escaped; the lexer, the tests``, or the text."""
        return one_line("; ".join(", ".join(labels) for labels in self.choices)) or self.text

    def row(self) -> Row:
        return self.row_of(None)

    def row_of(self, asked: QuestionAsked | None) -> Row:
        """Return the row to show below the question `asked`."""
        words = f": {self.text}" if self.text and self.answer == "guide" else ""
        return Row(self.level, "", f"{self.decision(asked)}{words}", self.text)

    @property
    def level(self) -> terms.RowLevel:
        """``owner`` only if a person answered."""
        return "log" if self.by == SILENCE else "owner"

    def line(self, asked: QuestionAsked | None = None) -> str:
        """Return the event's line; `asked` is the question, if known."""
        if asked is not None and asked.request is not None:
            return f"asked   {asked.request.decided(self.decision(asked))}"
        if asked is not None and asked.topic in ("redirect", "pause"):
            return f"{asked.topic:<8} {self.decision(asked)} ({terms.subject_words(asked.about)})"
        return f"answer  {self.decision()}"


class QuestionHeld(Event):
    """A question's countdown was stopped: the question stays open until answered."""

    urgent = True
    kind: Literal["question_held"] = "question_held"
    question_id: Line
    by: Line = "you"

    def row(self) -> Row:
        return Row("owner", "ANSWER", f"countdown stopped by {terms.sender_label(self.by)}")


class QuestionPostponed(Event):
    """A question's deadline was moved, because the user is at a screen of the run."""

    kind: Literal["question_postponed"] = "question_postponed"
    question_id: Line
    deadline: datetime
    """UTC."""


class QuestionWithdrawn(Event):
    """A question became obsolete."""

    urgent = True
    kind: Literal["question_withdrawn"] = "question_withdrawn"
    question_id: Line
    reason: Plain

    def row(self) -> Row:
        return Row("log", "", f"no answer needed: {self.reason}")

    def line(self) -> str:
        return f"question closed: {self.reason}"


class InterruptRequested(Event):
    """The user interrupts the agent's turn; the run continues."""

    kind: Literal["interrupt_requested"] = "interrupt_requested"
    by: Line = "you"

    def row(self) -> Row:
        return Row("owner", "INTERRUPT", f"by {terms.sender_label(self.by)}")

    def line(self) -> str:
        return f"interrupting the agent, requested by {terms.sender_label(self.by)}"


class PermissionsChanged(Event):
    """The agent's permissions from its next session on."""

    kind: Literal["permissions_changed"] = "permissions_changed"
    mode: Literal["edits", "skip", "ask"]
    allow: list[Line] = []
    by: Line = "you"

    def row(self) -> Row:
        allow = f", allowed: {', '.join(self.allow)}" if self.allow else ""
        may = terms.permission_words(self.mode)
        return Row("owner", "PERMIT", f"{may}{allow}, from the next session")

    def line(self) -> str:
        return f"permissions from the next session: {terms.permission_words(self.mode)}"
