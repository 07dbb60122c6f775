"""The glossary: glyph and word of every state of a run, told once for all who show it.

Rule: a state is looked up by its name in the events; its colour is the screen's affair.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple


class Term(NamedTuple):
    """How one state is shown."""

    glyph: str
    word: str
    short: str = ""
    """The word where room is scarce; empty: it is short already."""

    @property
    def label(self) -> str:
        """Glyph and word, for who sees no colour; the word alone where there is no glyph."""
        return f"{self.glyph} {self.word}".strip()

    @property
    def short_label(self) -> str:
        """The label where room is scarce."""
        return f"{self.glyph} {self.brief}".strip()

    @property
    def brief(self) -> str:
        """The shortest word."""
        return self.short or self.word


GOOD = Term("✓", "good news")
WARNING = Term("▲", "warning")
CRITICAL = Term("◆", "critical or emergency")

SHORTENED = Term("»", "a wait, shown in less time than it took")

RowLevel = Literal["log", "good", "warn", "critical", "owner"]
"""How much a row of the log matters, and to whom."""

LEVELS: Mapping[RowLevel, Term] = {
    "log": Term("·", "log entry"),
    "good": GOOD,
    "warn": WARNING,
    "critical": CRITICAL,
    "owner": Term("@", "something you asked for"),
}
"""Severity is told by glyph and word, never by colour alone."""

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
"""The level of a notice, of what the agent is noted for, of an alarm, and of what does not fit.

The one alarm recorded as an emergency says that little of the budget is left.
"""

Tone = Literal["good", "warn", "bad", "owner", "dim"]
"""How it is meant; colours are the screen's affair."""

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
"""What the loop is doing."""

OUTCOMES: Mapping[str, Term] = {
    "completed": Term(GOOD.glyph, "completed"),
    "limit_reached": Term("⊖", "limit reached"),
    "aborted": Term("⊗", "aborted"),
    "failed": Term(PHASES["crashed"].glyph, "failed"),
    "interrupted": Term(PHASES["finished"].glyph, "stopped"),
}
"""How a run has ended."""
BUG = "failed, by a bug of ralph-tui"

WAITS: Mapping[str, Term] = {
    "usage_limit": Term(PHASES["limited"].glyph, "usage limit", "limit"),
    "overload": Term(PHASES["limited"].glyph, "overload"),
    "outage": Term(PHASES["limited"].glyph, "service down", "down"),
    "disk_full": Term(PHASES["limited"].glyph, "disk full"),
}
"""What a run can wait for."""
DISK_FULL = "the disk is full: what was recorded is safe, free some space"
"""The advice comes first: a line on the screen may have no room for the rest."""

CHECKPOINTS: Mapping[str, Term] = {
    "start": Term("▷", "at the start"),
    "timer": Term("◈", "by timer"),
    "key": Term("◈", "by key"),
    "rollover": Term("⟳", "at a rollover"),
    "end": Term("◁", "at the end"),
}
"""What a checkpoint was captured by."""

CONTEXT_LEVELS: Mapping[str, Term] = {
    "L0": Term("", "normal"),
    "L1": Term(WARNING.glyph, "it fills"),
    "L2": Term(WARNING.glyph, "hand over"),
    "L3": Term(CRITICAL.glyph, "stop at once"),
}
"""How full the context window of a session is, by the level's name in the events."""
CONTEXT_TONES: Mapping[str, Tone] = {"L0": "dim", "L1": "warn", "L2": "warn", "L3": "bad"}
ROLLOVER = Term(CHECKPOINTS["rollover"].glyph, "rolled over")
"""A session ended for its context, and a fresh one of the same iteration goes on."""
FORGOT = Term("⇣", "forgot")
"""The agent summed its own context up."""

APPROACHES: Mapping[str, str] = {
    "persist": "go on",
    "pivot": "another approach",
    "escalate": "no approach has worked",
}
"""How the next iteration goes about it."""

REMEDIES: Mapping[str, str] = {
    "pivot_strategy": "try another approach",
    "simplify_scope": "make the task smaller",
    "stabilize": "take small steps",
    "constrain_scope": "work on one thing only",
    "review_changes": "review the last changes",
    "consider_rollback": "think of restoring the best iteration",
    "pause": "pause",
    "escalate": "ask for more, or for help",
}
"""What an alarm recommends, by its name in the events."""


PERMISSIONS: Mapping[str, str] = {
    "edits": "may edit files",
    "ask": "may edit files, and asks you for more",
    "acceptEdits": "may edit files",
    "skip": "unrestricted",
    "bypassPermissions": "unrestricted",
    "unrestricted": "unrestricted: a shell command may do anything",
    "plan": "may only plan",
    "default": "asks for each use of a tool",
}
"""What an agent may do, by the setting and by what Claude Code calls it."""


def permission_words(mode: str) -> str:
    """``may edit files``; a mode of a newer agent is told by its name."""
    return PERMISSIONS.get(mode, mode)


def remedy_words(names: Iterable[str]) -> str:
    """``try another approach, make the task smaller``."""
    return ", ".join(REMEDIES.get(name, in_words(name)) for name in names)


LEARNINGS: Mapping[str, Term] = {
    "strategy": Term("", "strategy"),
    "antipattern": Term("", "to avoid"),
    "estimate": Term("", "estimate"),
    "convention": Term("", "convention"),
}
"""What a learning is."""

HELPED = Term(GOOD.glyph, "helped")
NO_HELP = Term("–", "did not help")
IN_PROMPT = Term("→", "in the prompt")
FITS = Term("·", "fits, not in the prompt", "fits")
EARLIER = Term("·", "looked up earlier", "earlier")
LEARNED = Term("+", "learned in this run", "learned")
PINNED = Term("◉", "pinned")
MUTED = Term("⊘", "muted")
UNPROVEN = Term("◌", "unproven")
DELETED_SINCE = Term("", "deleted since", "deleted")
MUTED_SINCE = Term(MUTED.glyph, "muted since", "muted")
EDITED_SINCE = Term("", "edited since", "edited")
JOINED_SINCE = Term("", "joined to another since", "joined")
"""How a learning stands in a run; *since* it was looked up, and so not as its prompt has it."""

WOULD_DO, WHY, WOULD_ALLOW = "it would do", "why", "for this session it would allow"
"""What of a permission is told, whole: above each of its parts."""
NEEDS_YOU = Term("!", "needs you")
ASKED = Term(NEEDS_YOU.glyph, "asked")
"""The same in a recorded run, where nobody is needed any more."""
NO_END = "no end was recorded"
PROCESS_GONE = "its process is gone; ralph-tui resume goes on with it"
RECORD_BROKEN = "its record breaks off here, so how it ended is not known"
DIED = Term("◇", "died")
"""Of a run whose process is gone, without an end."""
UNHEARD = Term(DIED.glyph, "unheard")
"""Of a run without an end, of which nobody can know here whether it goes on."""
ENDLESS: Mapping[str, Term] = {"died": DIED, "unheard": UNHEARD}
"""What stands for the phase of a run that has no end and no process that is known."""
STATES: Mapping[str, Term] = {**PHASES, **OUTCOMES, **ENDLESS}
"""A run's outcome, or its phase while it has none, as a list and a status name it."""
IN_CLONE = "the prompts of a fleet's loop stay in its clone, and go with it"
NOT_RECORDED = "not recorded by the tool that led this run"
"""Of what is missing in a run of another tool."""

LOOPS: Mapping[str, Term] = {
    "queued": Term("⋯", "queued"),
    "placing": Term(PHASES["waiting"].glyph, "placing"),
    "lost": Term(DIED.glyph, "lost"),
    "skipped": Term("–", "skipped"),
}
"""How a loop of a fleet stands that does not run; of one that runs its phase is told, of one that
has ended its outcome."""
STAGES: Mapping[str, str] = {
    "fetching": "fetching the base",
    "cloning": "making its tree",
    "copying": "copying files",
    "setup": "setting up",
    "checking": "checking the command",
    "starting": "starting",
}
"""How far a host is with the tree of a loop that it was given."""

BEST = Term("★", "best")
CHOSEN = Term(BEST.glyph, "chosen")
BEATEN = Term("", "beaten")
NOT_NEEDED = Term("–", "not needed")
"""Of several attempts at one objective."""
ROLLED_BACK = Term("↶", "restored")
PASSED = Term("✓", "passed")
FAILED = Term("✗", "failed")
"""Of the completion command, a test, a tool call; a run that fails has an outcome."""


SUBJECTS: Mapping[str, str] = {
    "owner": "by order",
    "unanswered": "a question",
    "circuit": "stalled",
    "oversight": "the overseer failed",
    "objective_deviation": "away from the objective",
    "resource_burn": "effort without effect",
    "unmeasured": "no counts",
}
"""What an intervention is about, where the name in the events is no plain word."""


def subject_words(name: str, reason: str = "") -> str:
    """What an intervention is about; with its reason, an abort says who ordered it."""
    if name == "owner" and reason:
        return reason.partition(";")[0]
    return SUBJECTS.get(name) or in_words(name)


def alarm_words(name: str) -> str:
    """An alarm as people read it: ``STUCK`` is ``stuck``; nothing is spent before it is."""
    return "budget nearly used" if name == "BUDGET_EXCEEDED" else in_words(name.lower())


def who_words(by: str) -> str:
    """``you``; from another terminal of yours ``you (terminal pts/3)``."""
    return f"you ({by.removeprefix('the ')})" if by.startswith("the terminal ") else by


def in_words(name: str) -> str:
    """A name of the events as people read it: ``limit_reached`` is ``limit reached``."""
    return name.replace("_", " ")


def outcome_word(name: str) -> str:
    """How a run ended, in words; that of a newer version is told by its name."""
    return OUTCOMES[name].word if name in OUTCOMES else in_words(name)


ANSWERS: Mapping[str, str] = {"roll_back": "restore", "retry": "interrupt"}
"""Answers to a question that are called otherwise than they are recorded."""


ALLOWING = ("once", "session")
"""Answers that let an agent do what it may not do by itself."""


def answer_word(name: str) -> str:
    """An answer as people read and type it."""
    return ANSWERS.get(name, in_words(name))


_SILENT: Mapping[str, str] = {"leave": "lets the agent decide", "no": "continues",
                              "hand_over": "hands over"}  # fmt: skip


def silence_word(default: str) -> str:
    """What happens where no answer comes: ``approves``, ``lets the agent decide``."""
    return _SILENT.get(default) or f"{answer_word(default)}s"


def answer_name(word: str) -> str:
    """An answer as it is recorded: people may type ``Restore``, ``roll-back`` or ``roll_back``."""
    word = word.strip().lower().replace("-", "_")
    return next((name for name, said in ANSWERS.items() if said == word), word)


GONE: Mapping[str, str] = {
    "deleted": "the learning is deleted: no run looks it up again",
    "joined": "the learning was joined to another that says the same",
}
"""Why nothing can be changed about a learning that a run has seen."""
PAUSED_ALREADY = "the run is paused already"
PAUSE_ASKED_ALREADY = "a pause was asked for already"
"""Why a pause is refused; whoever wanted one has it."""


TRIGGERS: Mapping[str, str] = {
    "failure": "after an attempt that did not complete",
    "success": "after a success",
    "timeout": "when the limit was reached",
    "manual": "by hand",
}
"""What made somebody think about an attempt."""
