"""Events about the context window: how full it got, compactions, and handoffs."""

from typing import Literal

from ralph_tui.events.base import Event, Fact, Row
from ralph_tui.events.text import Line, Plain
from ralph_tui.text.format import count, filled
from ralph_tui.text.terms import CONTEXT_LEVELS, RowLevel, sender_label

__all__ = [
    "ContextCompacted",
    "ContextLevelReached",
    "EarlierWindowsRead",
    "HandoffWritten",
    "PlanItemBegan",
    "RolloverBegan",
    "RolloverRequested",
    "WorkCommitted",
]

MAX_ROLLOVERS = 3
"""Maximum number of handoffs in one iteration: a task that fills four windows is too large."""

Level = Literal["L1", "L2", "L3"]
"""Warn, checkpoint, stop at once; a lower usage is called L0."""
Cause = Literal["L2", "L3", "item", "asked", "forecast"]
"""``item``: the plan's next item would not fit; ``asked``: the user requested it; ``forecast``: the
next tool calls were expected to fill the window."""
ItemSize = Literal["trivial", "simple", "medium", "complex", "very complex"]
SizeBasis = Literal["tag", "history", "default"]
"""The basis for estimating an item's size."""


class ContextLevelReached(Event):
    """A session's window reached this level; each level is reported once per session."""

    kind: Literal["context_level_reached"] = "context_level_reached"
    iteration: int
    level: Level
    percent: float
    """Percent of the window; may exceed 100."""
    tokens: int = 0
    window: int = 0
    """Size of the window in tokens."""

    def row(self) -> Row:
        known = f"{self.tokens:,} of {self.window:,} tokens: {CONTEXT_LEVELS[self.level].word}"
        level: RowLevel = "critical" if self.level == "L3" else "warn"
        text = f"the window is {filled(self.percent)} full"
        return Row(level, "CONTEXT", text, known if self.window else "")


class ContextCompacted(Event):
    """The agent compacted its own context, which may lose details."""

    kind: Literal["context_compacted"] = "context_compacted"
    iteration: int
    before: int | None = None
    """Tokens; None if the agent does not report them."""
    after: int | None = None
    window: int | None = None
    trigger: Line = ""
    """``auto`` or ``manual``, as the agent reports it."""
    offset: int = 0
    """Position in the transcript."""

    @property
    def shrunk(self) -> str:
        """The change, as in ``, from 90 % to 20 % of the window``; empty if it was not reported."""
        if not (self.before and self.after):
            return ""
        if not self.window:
            return f", from {self.before:,} to {self.after:,} tokens"
        before, after = (filled(100 * n / self.window) for n in (self.before, self.after))
        return f", from {before} to {after} of the window"

    def row(self) -> Row:
        text = f"the agent compacted its context{self.shrunk}; details may be lost"
        return Row("warn", "COMPACT", text)


class RolloverRequested(Event):
    """The user wants a fresh session in the same iteration."""

    kind: Literal["rollover_requested"] = "rollover_requested"
    by: Line = "you"
    note: Line = ""
    """The user's reason."""

    def row(self) -> Row:
        note = f": {self.note}" if self.note else ""
        return Row("owner", "HANDOFF", f"requested by {sender_label(self.by)}{note}")


class RolloverBegan(Event):
    """A session is ended because of its context; a fresh one continues from its handoff."""

    durable = True
    kind: Literal["rollover_began"] = "rollover_began"
    iteration: int
    number: int
    """Counts from 1 in each iteration."""
    cause: Cause
    percent: float | None = None
    """How full the window was, 0-100; None if unknown."""
    level: Line = ""
    """The level of `percent`, ``L0`` to ``L3``; empty if unknown, and in older journals."""
    reason: Plain = ""
    """One sentence."""
    by: Line = ""
    """The requester; empty if the loop decided it."""

    def row(self) -> Row:
        why = f": {self.reason}" if self.reason else ""
        return Row("warn", "HANDOFF", f"the session hands off to a fresh one{why}")


class FileInProgress(Fact):
    """A file that the ended session was working on."""

    path: Line
    lines: Line = ""
    """Line range, as in ``45-120``; empty if unknown."""
    description: Plain = ""
    """What the work is about; empty if unknown."""
    status: Line = ""
    """The size of the change, and how far along the work is, as in ``+60 −12, 70 % done``."""
    last_line: Line = ""
    """Line of the last edit; empty if unknown."""


class HandoffWritten(Event):
    """The handoff from one session to the next, saved in a file."""

    durable = True
    kind: Literal["handoff_written"] = "handoff_written"
    iteration: int
    number: int
    """The number of its `RolloverBegan`."""
    path: Line
    """Path relative to the attempt's folder."""
    read_at: Line = ""
    """The same file relative to the worktree, where the agent finds it."""
    cause: Cause
    percent: float | None = None
    level: Line = ""
    """The level of `percent`, ``L0`` to ``L3``; empty if unknown, and in older journals."""
    characters: int = 0
    summary: Plain = ""
    """The work in progress, in a sentence or two."""
    done: list[Plain] = []
    files: list[FileInProgress] = []
    item: Plain = ""
    """The plan item in progress; empty if there is none."""
    progress: Line = ""
    """Progress on that item, as in ``70 % done, according to the agent``; empty if unknown."""
    parts_done: list[Plain] = []
    """That item's completed sub-items."""
    focus: Plain = ""
    """That item's first open sub-item."""
    next_step: Plain = ""
    guidance: list[Plain] = []
    """Guidance that the user gave to the ended session."""
    origin: Literal["template", "model"] = "template"
    """The author of the text."""
    edited_by: Line = ""
    """The person who edited it before it was sent; empty if no one did."""
    made_at: Line = ""
    """Path of the original file if the handoff was edited, relative to the worktree."""
    copy_path: Line = ""
    """Path of the copy in the worktree, relative to the worktree; empty if there is no copy."""
    snapshot: int | None = None
    """Number of the snapshot with the files as the session left them; None if none was taken."""

    @property
    def written(self) -> str:
        """Authors, as in ``worded by a model, edited by you``; empty for the unedited template."""
        parts = ["worded by a model"] if self.origin == "model" else []
        return ", ".join([*parts, *([f"edited by {self.edited_by}"] if self.edited_by else [])])

    def row(self) -> Row:
        how = f", {self.written}" if self.written else ""
        facts = (("in progress", self.summary), ("item", self.item), ("next", self.next_step))
        says = [f"{name}: {words}" for name, words in facts if words]
        says += [f"file: {file.path} {file.lines}".rstrip() for file in self.files]
        says += [f"your guidance: {words}" for words in self.guidance]
        return Row("log", "HANDOFF", f"{self.path or 'not saved to a file'}{how}", "\n".join(says))


class WorkCommitted(Event):
    """A session's work was committed to the user's own branch, as configured."""

    kind: Literal["work_committed"] = "work_committed"
    iteration: int
    commit: Line
    message: Line
    files: int = 0

    def row(self) -> Row:
        files = f", {count(self.files, 'file')}" if self.files else ""
        return Row("log", "COMMIT", f"{self.commit[:12]} {self.message}{files}")


class PlanItemBegan(Event):
    """An item of the plan became the first open one, during a session or before it."""

    kind: Literal["plan_item_began"] = "plan_item_began"
    iteration: int
    item: Plain
    """Empty if all items are done."""
    size: ItemSize = "medium"
    low: float = 20.0
    """Minimum expected use of the window, in percentage points; `high` is the maximum."""
    high: float = 40.0
    basis: SizeBasis = "default"
    percent: float | None = None
    """How full the window was, 0-100; None if unknown or between sessions."""
    done: int = 0
    """Number of items done."""
    total: int = 0
    """Number of all items; 0 in older journals."""
    later: list[Plain] = []
    """The open items after it, at most 20."""

    @property
    def words(self) -> str:
        """The item and its size, as in ``write the lexer · medium, 20-40 % of a window``."""
        if not self.item:
            return "all items of the plan are done"
        return f"{self.item} · {self.size}, {self.low:.0f}-{self.high:.0f} % of a window"

    def line(self) -> str:
        return f"item    {self.words}"


class ItemTaken(Fact):
    """A finished plan item, and how much of the window it took."""

    size: ItemSize
    basis: SizeBasis
    points: float
    """Percentage points of the window."""


class EarlierWindowsRead(Event):
    """How full windows got in earlier runs of this repository with the same agent and model."""

    kind: Literal["earlier_windows_read"] = "earlier_windows_read"
    runs: int
    """Number of earlier runs."""
    items: list[ItemTaken] = []
    """Finished plan items of these runs, the latest last."""
    peaks: list[float] = []
    """Highest percentages of the runs' last iterations, the latest last."""

    def row(self) -> Row:
        runs = count(self.runs, "earlier run")
        if self.items:
            text = f"expected sizes use {count(len(self.items), 'finished item')} of {runs}"
        else:
            text = f"windows of {runs} were up to {filled(max(self.peaks, default=0.0))} full"
        return Row("log", "SIZES", text)
