"""The glossary: glyph and word of every state of a run, defined in one place.

Rule: a state is looked up by its name in the events; each screen chooses the colours.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple


class Term(NamedTuple):
    """Glyph and words of one state."""

    glyph: str
    word: str
    short: str = ""
    """A shorter word; empty if `word` is short enough."""

    @property
    def label(self) -> str:
        """Glyph and word, readable without colour; the word alone if there is no glyph."""
        return f"{self.glyph} {self.word}".strip()

    @property
    def short_label(self) -> str:
        """The label for narrow places."""
        return f"{self.glyph} {self.brief}".strip()

    @property
    def brief(self) -> str:
        """The shortest word."""
        return self.short or self.word


GOOD = Term("✓", "good news")
WARNING = Term("▲", "warning")
CRITICAL = Term("◆", "critical or emergency")

SHORTENED = Term("»", "a shortened wait")

RowLevel = Literal["log", "good", "warn", "critical", "owner"]
"""The importance of a log row; ``owner`` marks the user's own actions."""

LEVELS: Mapping[RowLevel, Term] = {
    "log": Term("·", "log entry"),
    "good": GOOD,
    "warn": WARNING,
    "critical": CRITICAL,
    "owner": Term("@", "your request or answer"),
}
"""Severity is shown by glyph and word, never by colour alone."""

SEVERITIES: Mapping[str, RowLevel] = {
    "log": "log",
    "medium": "log",
    "high": "warn",
    "warn": "warn",
    "error": "critical",
    "warning": "warn",
    "critical": "critical",
    "emergency": "warn",
}
"""Row levels for the severities of notices, agent notes, alarms and validation issues.

The only alarm recorded as an emergency reports that little of the budget is left.
"""

Tone = Literal["good", "warn", "bad", "owner", "dim"]
"""The meaning of a term; each screen chooses the colours."""

OUTCOME_TONES: Mapping[str, Tone] = {
    "completed": "good",
    "limit_reached": "warn",
    "aborted": "warn",
    "failed": "bad",
    "interrupted": "owner",
}
LEVEL_TONES: Mapping[RowLevel, Tone] = {
    "log": "dim",
    "good": "good",
    "warn": "warn",
    "critical": "bad",
    "owner": "owner",
}

PHASES: Mapping[str, Term] = {
    "starting": Term("○", "starting"),
    "thinking": Term("◔", "between iterations"),
    "waiting": Term("○", "waiting for the agent", "waiting"),
    "agent": Term("●", "agent at work", "agent"),
    "verifying": Term("◐", "verifying"),
    "limited": Term("◷", "waiting for a limit"),
    "paused": Term("▮", "paused"),
    "finished": Term("■", "finished"),
    "crashed": Term("✗", "failed"),
}
"""Phases of the loop."""

OUTCOMES: Mapping[str, Term] = {
    "completed": Term(GOOD.glyph, "completed"),
    "limit_reached": Term("⊖", "limit reached"),
    "aborted": Term("⊗", "aborted"),
    "failed": Term(PHASES["crashed"].glyph, "failed"),
    "interrupted": Term(PHASES["finished"].glyph, "stopped"),
}
"""Outcomes of a run."""
BUG = "failed because of a bug in ralph-tui"

WAITS: Mapping[str, Term] = {
    "usage_limit": Term(PHASES["limited"].glyph, "usage limit", "limit"),
    "overload": Term(PHASES["limited"].glyph, "overload"),
    "outage": Term(PHASES["limited"].glyph, "service down", "down"),
    "disk_full": Term(PHASES["limited"].glyph, "disk full"),
}
"""Causes of a wait, by their names in the events."""
DISK_FULL = "the disk is full: free some space; the record so far is safe"
"""The advice comes first, because a narrow line may cut off the rest."""

CHECKPOINTS: Mapping[str, Term] = {
    "start": Term("▷", "at the start"),
    "timer": Term("◈", "by timer"),
    "key": Term("◈", "on request"),
    "rollover": Term("⟳", "at a handoff"),
    "end": Term("◁", "at the end"),
}
"""Triggers of a checkpoint."""

CONTEXT_LEVELS: Mapping[str, Term] = {
    "L0": Term("", "normal"),
    "L1": Term(WARNING.glyph, "filling up"),
    "L2": Term(WARNING.glyph, "handoff due"),
    "L3": Term(CRITICAL.glyph, "stop now"),
}
"""Context levels of a session, by their names in the events."""
CONTEXT_TONES: Mapping[str, Tone] = {"L0": "dim", "L1": "warn", "L2": "warn", "L3": "bad"}
ROLLOVER = Term(CHECKPOINTS["rollover"].glyph, "handed off")
"""A session ended because its context filled up; a fresh one continues the same iteration."""
COMPACTED = Term("⇣", "compacted")
"""The agent compacted its own context."""

APPROACHES: Mapping[str, str] = {
    "persist": "continue",
    "pivot": "another approach",
    "escalate": "no approach has worked",
}
"""Approaches of the next iteration."""

REMEDIES: Mapping[str, str] = {
    "pivot_strategy": "try another approach",
    "simplify_scope": "make the task smaller",
    "stabilize": "take small steps",
    "constrain_scope": "work on one thing only",
    "review_changes": "review the last changes",
    "consider_rollback": "consider restoring the best iteration",
    "pause": "pause",
    "escalate": "ask for more, or for help",
}
"""An alarm's recommendations, by their names in the events."""


PERMISSIONS: Mapping[str, str] = {
    "edits": "may edit files",
    "ask": "may edit files; asks before anything else",
    "acceptEdits": "may edit files",
    "skip": "unrestricted",
    "bypassPermissions": "unrestricted",
    "unrestricted": "unrestricted: a shell command may do anything",
    "plan": "may only plan",
    "default": "asks before changes and commands",
}
"""The agent's permissions in words, by the value of the setting or Claude Code's name for it."""


def permission_words(mode: str) -> str:
    """Return ``may edit files``; an unknown mode keeps its name."""
    return PERMISSIONS.get(mode, mode)


def remedy_words(names: Iterable[str]) -> str:
    """Return ``try another approach, make the task smaller``."""
    return ", ".join(REMEDIES.get(name, in_words(name)) for name in names)


LEARNINGS: Mapping[str, Term] = {
    "strategy": Term("", "strategy"),
    "antipattern": Term("", "to avoid"),
    "estimate": Term("", "estimate"),
    "convention": Term("", "convention"),
}
"""Types of learnings."""

HELPED = Term(GOOD.glyph, "helped")
NO_HELP = Term("–", "did not help")
IN_PROMPT = Term("→", "in the prompt")
FITS = Term("·", "fits, not in the prompt", "fits")
EARLIER = Term("·", "retrieved earlier", "earlier")
LEARNED = Term("+", "learned in this run", "learned")
PINNED = Term("◉", "pinned")
MUTED = Term("⊘", "muted")
UNPROVEN = Term("◌", "unproven")
DELETED_SINCE = Term("", "deleted since", "deleted")
MUTED_SINCE = Term(MUTED.glyph, "muted since", "muted")
EDITED_SINCE = Term("", "edited since", "edited")
JOINED_SINCE = Term("", "merged into another since", "merged")
"""A learning's status in a run; *since* means after its retrieval, so the prompt may differ."""

WOULD_DO, WHY, WOULD_ALLOW = "request", "reason", "allowing it for this session permits"
"""Headings of the parts of a permission request."""
NEEDS_YOU = Term("!", "needs you")
ASKED = Term(NEEDS_YOU.glyph, "asked")
"""Replaces `NEEDS_YOU` in a recorded run, which no longer needs an answer."""
NO_END = "no end was recorded"
PROCESS_GONE = "its process is gone; ralph-tui resume continues it"
RECORD_BROKEN = "its record ends abruptly here, without an outcome"
DIED = Term("◇", "died")
"""A run without an end whose process is gone."""
UNHEARD = Term(DIED.glyph, "unknown")
"""A run without an end that may still be running: this machine cannot tell."""
ENDLESS: Mapping[str, Term] = {"died": DIED, "unheard": UNHEARD}
"""Replaces the phase of a run that has no end and no known process."""
STATES: Mapping[str, Term] = {**PHASES, **OUTCOMES, **ENDLESS}
"""A run's outcome, or its phase while it has none, for lists and the status."""
IN_CLONE = "a fleet loop's prompts stay in its clone and are deleted with it"
NOT_RECORDED = "not recorded by the tool that ran this"
"""Shown for facts missing in an imported run."""
NO_SNAPSHOTS = "this run saved no snapshots"
"""Shown for changes that are unknown because there is nothing to compare."""

LOOPS: Mapping[str, Term] = {
    "queued": Term("⋯", "queued"),
    "placing": Term(PHASES["waiting"].glyph, "starting"),
    "lost": Term(DIED.glyph, "lost"),
    "skipped": Term("–", "skipped"),
}
"""States of a fleet's loop without a run; a loop with a run shows its phase or outcome."""
STAGES: Mapping[str, str] = {
    "fetching": "fetching the base",
    "cloning": "creating clone",
    "copying": "copying files",
    "setup": "setting up",
    "checking": "checking the command",
    "starting": "starting",
}
"""Stages in which a host prepares the worktree of a new loop."""

BEST = Term("★", "best")
CHOSEN = Term(BEST.glyph, "chosen")
BEATEN = Term("", "not chosen")
"""Results of attempts when several share an objective."""
ROLLED_BACK = Term("↶", "restored")
PASSED = Term("✓", "passed")
FAILED = Term("✗", "failed")
"""Results of the completion command, a test or a tool call; a run has an outcome instead."""


SUBJECTS: Mapping[str, str] = {
    "owner": "on request",
    "unanswered": "a question",
    "circuit": "stalled",
    "oversight": "the overseer failed",
    "objective_deviation": "off the objective",
    "resource_burn": "effort without effect",
    "unmeasured": "no counts",
}
"""Intervention subjects whose names in the events are not plain words."""


def subject_words(name: str, reason: str = "") -> str:
    """Return an intervention's subject; with its `reason`, an abort names its requester."""
    if name == "owner" and reason:
        return reason.partition(";")[0]
    return SUBJECTS.get(name) or in_words(name)


def alarm_words(name: str) -> str:
    """Return an alarm in words, such as ``stuck``; ``BUDGET_EXCEEDED`` applies to any limit."""
    return "limit nearly reached" if name == "BUDGET_EXCEEDED" else in_words(name.lower())


def sender_label(by: str) -> str:
    """Return ``you``, or ``you (terminal pts/3)`` for another of your terminals."""
    if by == "the clock":  # the recorded value for a wait that ended on time
        return "the timer"
    return f"you ({by.removeprefix('the ')})" if by.startswith("the terminal ") else by


def in_words(name: str) -> str:
    """Return an event's name in words: ``limit_reached`` is ``limit reached``."""
    return name.replace("_", " ")


def outcome_word(name: str) -> str:
    """Return a run's outcome in words; an outcome from a newer version keeps its name."""
    return OUTCOMES[name].word if name in OUTCOMES else in_words(name)


ANSWERS: Mapping[str, str] = {"roll_back": "restore", "retry": "interrupt"}
"""Answers shown under a name that differs from the recorded one."""


ALLOWING = ("once", "session")
"""Answers that permit an agent's request."""


def answer_word(name: str) -> str:
    """Return an answer as people read and type it."""
    return ANSWERS.get(name, in_words(name))


_SILENT: Mapping[str, str] = {"leave": "lets the agent decide", "no": "continues",
                              "hand_over": "hands off"}  # fmt: skip


def silence_word(default: str) -> str:
    """Return the effect of giving no answer: ``approves``, ``lets the agent decide``."""
    return _SILENT.get(default) or f"{answer_word(default)}s"


def answer_name(word: str) -> str:
    """Return an answer's recorded name; people may type ``Restore`` or ``roll-back``."""
    word = word.strip().lower().replace("-", "_")
    return next((name for name, said in ANSWERS.items() if said == word), word)


GONE: Mapping[str, str] = {
    "deleted": "the learning is deleted; no run retrieves it again",
    "joined": "the learning was merged into an equivalent one",
}
"""Reasons why a learning that a run has seen cannot be changed."""
NOT_PAUSED = "the run is not paused"
PAUSED_ALREADY = "the run is already paused"
PAUSE_ASKED_ALREADY = "a pause is already requested"
"""Reasons to refuse a pause that is already in effect or requested."""
PAUSING = "pausing: this iteration ends first"
THEN_PAUSES = "then it pauses"
"""A requested pause, during an iteration and during a wait."""


TRIGGERS: Mapping[str, str] = {
    "failure": "after an attempt that did not complete",
    "success": "after a success",
    "timeout": "when the limit was reached",
    "manual": "by hand",
}
"""Triggers of a reflection on an attempt."""
