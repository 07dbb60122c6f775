"""The context window in the record: how full it got, what was forgotten, and who took over."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import count, filled
from ralph_tui.text.terms import CONTEXT_LEVELS, FORGOT, RowLevel, who_words

__all__ = [
    "ContextCompacted",
    "ContextLevelReached",
    "HandoffWritten",
    "PlanItemBegan",
    "RolloverBegan",
    "RolloverRequested",
    "WorkCommitted",
]

MOST_ROLLOVERS = 3
"""Of one iteration: a task that fills four windows is too large for it."""

Level = Literal["L1", "L2", "L3"]
"""Warn, checkpoint, stop at once; below all of them it is L0."""
Cause = Literal["L2", "L3", "item", "asked"]
"""``item``: the plan's next item would not fit; ``asked``: the owner wants it."""
ItemSize = Literal["trivial", "simple", "medium", "complex", "very complex"]
SizeBasis = Literal["tag", "history", "default"]
"""What an item's size was told by."""


class ContextLevelReached(Event):
    """A session's window is this full; each level is told once in a session."""

    kind: Literal["context_level_reached"] = "context_level_reached"
    iteration: int
    level: Level
    percent: float
    """Of the window, 0-100 and beyond."""
    tokens: int = 0
    window: int = 0
    """Tokens the window holds."""

    def row(self) -> Row:
        """What follows from it, if anything does, has a row of its own."""
        known = f"{self.tokens:,} of {self.window:,} tokens: {CONTEXT_LEVELS[self.level].word}"
        level: RowLevel = "critical" if self.level == "L3" else "warn"
        text = f"the window is {filled(self.percent)} full"
        return Row(level, "CONTEXT", text, known if self.window else "")


class ContextCompacted(Event):
    """The agent summed up its own context: what it no longer holds, it forgot."""

    kind: Literal["context_compacted"] = "context_compacted"
    iteration: int
    before: int | None = None
    """Tokens; None where the agent does not tell."""
    after: int | None = None
    window: int | None = None
    trigger: Line = ""
    """``auto``, or ``manual``, as the agent says."""
    offset: int = 0
    """Where it stands in the transcript."""

    @property
    def shrunk(self) -> str:
        """``, from 90 % to 20 % of the window``; empty where the agent does not tell."""
        if not (self.before and self.after):
            return ""
        if not self.window:
            return f", from {self.before:,} to {self.after:,} tokens"
        before, after = (filled(100 * n / self.window) for n in (self.before, self.after))
        return f", from {before} to {after} of the window"

    def row(self) -> Row:
        text = f"the agent summed its context up{self.shrunk}: it {FORGOT.word} details"
        return Row("warn", "FORGOT", text)


class RolloverRequested(Event):
    """The owner wants a fresh session of the same iteration."""

    kind: Literal["rollover_requested"] = "rollover_requested"
    by: Line = "you"
    note: Line = ""
    """Why."""

    def row(self) -> Row:
        note = f": {self.note}" if self.note else ""
        return Row("owner", "ROLLOVER", f"asked by {who_words(self.by)}{note}")


class RolloverBegan(Event):
    """A session is ended for its context; one with an empty window is to go on from its handoff."""

    durable = True
    kind: Literal["rollover_began"] = "rollover_began"
    iteration: int
    number: int
    """From 1 in each iteration."""
    cause: Cause
    percent: float | None = None
    """How full the window was; None where that is not known."""
    reason: Plain = ""
    """One sentence."""
    by: Line = ""
    """Who wanted it; empty: the loop."""

    def row(self) -> Row:
        why = f": {self.reason}" if self.reason else ""
        return Row("warn", "ROLLOVER", f"the session hands over to a fresh one{why}")


class FileInProgress(Fact):
    """A file that the ended session was working on."""

    path: Line
    lines: Line = ""
    """``45-120``; empty where that is not known."""
    description: Plain = ""


class HandoffWritten(Event):
    """What one session leaves to the next, kept in a file."""

    durable = True
    kind: Literal["handoff_written"] = "handoff_written"
    iteration: int
    number: int
    """That of its rollover."""
    path: Line
    """Relative to the attempt's folder."""
    read_at: Line = ""
    """The same file, relative to the worktree: where the agent finds it."""
    cause: Cause
    percent: float | None = None
    characters: int = 0
    summary: Plain = ""
    """What was in progress, in a sentence or two."""
    done: list[Plain] = []
    files: list[FileInProgress] = []
    item: Plain = ""
    """Of the plan; empty: there is none."""
    progress: Line = ""
    """On that item, where it is known: ``70%``."""
    next_step: Plain = ""
    guidance: list[Plain] = []
    """What the owner had said to the ended session."""
    origin: Literal["template", "model"] = "template"
    """Who worded it."""
    edited_by: Line = ""
    """Who edited it before it was sent; empty: nobody."""
    made_at: Line = ""
    """Of one that was edited: the file as it was made, relative to the worktree."""
    copy_path: Line = ""
    """A copy in the worktree, relative to it; empty: none."""
    snapshot: int | None = None
    """Number of the snapshot that holds the files as they were left; None: none was taken."""

    @property
    def written(self) -> str:
        """``worded by a model, edited by you``; empty: by template, as it was."""
        parts = ["worded by a model"] if self.origin == "model" else []
        return ", ".join([*parts, *([f"edited by {self.edited_by}"] if self.edited_by else [])])

    def row(self) -> Row:
        how = f", {self.written}" if self.written else ""
        facts = (("in progress", self.summary), ("item", self.item), ("next", self.next_step))
        says = [f"{name}: {words}" for name, words in facts if words]
        says += [f"file: {file.path} {file.lines}".rstrip() for file in self.files]
        says += [f"you said: {words}" for words in self.guidance]
        return Row("log", "HANDOFF", f"{self.path or 'not kept in a file'}{how}", "\n".join(says))


class WorkCommitted(Event):
    """The work of a session as a commit of the owner's own branch, where that is set."""

    kind: Literal["work_committed"] = "work_committed"
    iteration: int
    commit: Line
    message: Line
    files: int = 0

    def row(self) -> Row:
        files = f", {count(self.files, 'file')}" if self.files else ""
        return Row("log", "COMMIT", f"{self.commit[:12]} {self.message}{files}")


class PlanItemBegan(Event):
    """An item of the plan became the first open one, in a session or before it."""

    kind: Literal["plan_item_began"] = "plan_item_began"
    iteration: int
    item: Plain
    """Empty: all of them are done."""
    size: ItemSize = "medium"
    low: float = 20.0
    """Points of the window that it is expected to take, at least."""
    high: float = 40.0
    basis: SizeBasis = "default"
    percent: float | None = None
    """How full the window was; None where that is not known, and between sessions."""
    done: int = 0
    """Items of the plan that are done."""
    total: int = 0
    """All of its items; 0 in older journals."""
    later: list[Plain] = []
    """The open items after it, the first 20."""

    @property
    def words(self) -> str:
        """``write the lexer · medium, 20-40 % of a window``."""
        if not self.item:
            return "all items of the plan are done"
        return f"{self.item} · {self.size}, {self.low:.0f}-{self.high:.0f} % of a window"

    def line(self) -> str:
        return f"item    {self.words}"
