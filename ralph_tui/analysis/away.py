"""A short summary of what happened while the user was away, the open question first.

If the user's last visit is unknown, the summary covers the whole run. A run started in the
background counts as unattended from its start.
"""

from datetime import datetime
from typing import NamedTuple

from ralph_tui.analysis.verdict import verdict
from ralph_tui.events import RunStarted
from ralph_tui.state import LogEntry, LogRow, RunState
from ralph_tui.state.last_seen import LastSeen
from ralph_tui.text.format import clock, count, day_and_clock, duration, money, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import NEEDS_YOU, Tone

LONG_S = 600
"""Minimum working time, in seconds, for a run to get a summary."""
MAX_EPISODES = 8
"""Maximum number of alarms shown: the latest ones. The log has the others."""
MAX_CHARACTERS = 300
SHOWN_LEVELS = ("episode", "wait", "pause", "guidance")
"""Kinds of log entries, in the order in which they are shown."""


class ToneLine(NamedTuple):
    """A line and its tone."""

    text: str
    tone: Tone | None = None
    below: bool = False
    """True for a detail of the line above."""


def is_long(state: RunState, now: datetime) -> bool:
    """Return True if a user who has never seen the run needs a summary."""
    return bool(state.run.completions) and state.run.worked_s(now) >= LONG_S


def is_news(state: RunState, now: datetime, seen: LastSeen | None, *, lost: bool) -> bool:
    """Return True if there is news for a user who last saw `seen`."""
    known = _of_this_run(state, seen)
    if known is None and not was_left_early(state.run.started, None):
        return is_long(state, now)
    known = known or LastSeen(run="", seq=0, at=state.at)
    ended = not state.run.live and not known.over and not _ended_by_user(state)
    more = len(state.run.completions) > known.iterations or state.needs.denials > known.denied
    unseen = any(
        row.seq > known.seq and row.level != "owner"
        for entry in state.log.entries
        if entry.kind in (*SHOWN_LEVELS, "question")
        for row in entry.rows
    )
    return ended or more or unseen or (lost and not known.lost)


def _ended_by_user(state: RunState) -> bool:
    """True if the user ended the run, from any terminal: its end is then not news."""
    end = state.run.finished
    return end is not None and end.reason.startswith(("stopped by you", "aborted by you"))


def was_left_early(started: RunStarted | None, seen: LastSeen | None) -> bool:
    """Return True if the user left the run before its end.

    A run that the user has never seen counts as left if it was started detached.
    """
    if started is None:
        return False
    if seen is None or seen.run != started.run_id:
        return started.mode == "detached"
    return not (seen.over or seen.lost)


def while_away(
    state: RunState,
    now: datetime,
    seen: LastSeen | None = None,
    *,
    lost: bool | str = False,
    sign: datetime | None = None,
) -> list[ToneLine]:
    """Return the summary of what happened since the user last looked.

    `lost`: see `Source`; `sign`: the time of the process's last write.
    """
    known = _of_this_run(state, seen)
    entries = _since(state, known)
    asked = _question(state, now, lost=bool(lost))
    sign = max(sign or state.at, _last_sign(state, known))
    # A lost run's question cannot be answered, so the reason comes first.
    lines = [_state_line(state, now, lost=lost), _lost_line(sign, now), *asked] if lost else asked
    lines = lines or [_state_line(state, now, lost=lost)]
    lines.append(ToneLine(_course(state, now, known, until=sign if lost else now)))
    lines += _fixed(state, known)
    episodes = [entry for entry in entries if entry.kind == "episode"]
    if len(episodes) > MAX_EPISODES:
        earlier = count(len(episodes) - MAX_EPISODES, "earlier alarm")
        lines.append(ToneLine(f"{earlier}: see what happened", "dim"))
    for entry in episodes[-MAX_EPISODES:]:
        lines += _episode(entry)
    for kind in SHOWN_LEVELS[1:]:
        lines += [line for entry in entries if entry.kind == kind for line in _episode(entry)]
    denied = state.needs.denials - (known.denied if known is not None else 0)
    if denied > 0:
        lines.append(ToneLine(f"{count(denied, 'tool call')} denied", "warn"))
    return [ToneLine(clip(one_line(line.text), MAX_CHARACTERS), line.tone, line.below)
            for line in lines]  # fmt: skip


def _of_this_run(state: RunState, seen: LastSeen | None) -> LastSeen | None:
    """Return `seen` if it belongs to this run and is not ahead of its state."""
    started = state.run.started
    if seen is None or started is None or seen.run != started.run_id or seen.seq > state.seq:
        return None
    return seen


def _since(state: RunState, known: LastSeen | None) -> list[LogEntry]:
    """Return the entries with rows that the user has not seen."""
    seq = 0 if known is None else known.seq
    return [entry for entry in state.log.entries if any(row.seq > seq for row in entry.rows)]


def _question(state: RunState, now: datetime, *, lost: bool) -> list[ToneLine]:
    asked = state.needs.question or state.needs.left_open
    if asked is None:
        return []
    since = duration((now - asked.at).total_seconds())
    if lost or state.needs.question is None:
        when = f"asked {_ago(asked.at, now)}"
        said = f"{NEEDS_YOU.glyph} a question was left open, {when}: {asked.text}"
        return [ToneLine(said, "warn")]
    return [ToneLine(f"{NEEDS_YOU.label}, since {since}: {asked.text}", "warn")]


def _last_sign(state: RunState, known: LastSeen | None) -> datetime:
    """Return the latest time at which the process is known to have been alive.

    A wait for an answer records nothing, but a user who looked during it saw the process alive.
    """
    return max(state.at, known.at) if known and not (known.lost or known.over) else state.at


def _lost_line(sign: datetime, now: datetime) -> ToneLine:
    return ToneLine(f"last activity: {_ago(sign, now)}")


def _ago(at: datetime, now: datetime) -> str:
    """Format a past time, as ``23:41, 7m ago``."""
    return f"{day_and_clock(at, now)}, {duration((now - at).total_seconds())} ago"


def _state_line(state: RunState, now: datetime, *, lost: bool | str) -> ToneLine:
    says = verdict(state, now, lost=lost)
    return ToneLine(f"{says.glyph} {says.text}", says.tone)


def _course(state: RunState, now: datetime, known: LastSeen | None, *, until: datetime) -> str:
    """Describe the progress, as ``in 3h: 7 iterations, 48 % to 80 %, $1.82``.

    If the user has seen the run before, the text starts with ``since you last looked, 23:10``.
    `until`: the time up to which the run worked.
    """
    run = state.run
    done = count(len(run.completions) - (known.iterations if known else 0), "iteration")
    since = f"in {duration(run.worked_s(until))}"
    before, spent = run.baseline, run.cost_usd
    if known is not None:
        since = f"since you last looked, {day_and_clock(known.at, now)}"
        before, spent = known.completion, max(0.0, run.cost_usd - known.cost_usd)
    parts = [f"{since}: {done}"]
    if before is not None and run.completion is not None:
        after = run.completion
        parts.append(f"{percent(before, after)} to {percent(after, before)}")
    # Without new costs, spending is unknown if some agents do not report theirs.
    if run.cost_known and (spent > 0 or not state.roster.unreported):
        without = f" {state.roster.unreported_text}" if state.roster.unreported else ""
        parts.append(f"{money(spent, estimated=run.cost_estimated)}{without}")
    return ", ".join(parts)


def _fixed(state: RunState, known: LastSeen | None) -> list[ToneLine]:
    """Compare the number of passing tests with an earlier measurement.

    A verification cut short by the end of the run is not a measurement.
    """
    gates = [span.gate for span in state.timeline.spans if span.gate is not None]
    counted = (gate.passed for gate in gates if gate.passed is not None)
    first, then = next(counted, None), "at the start"
    if known is not None:
        first, then = known.passed, "before"
    last = state.run.passed if state.run.completions else None
    if first is None or last is None:
        return []
    if last == first:
        return [ToneLine(f"the same number of tests pass as {then}")]
    more = "more" if last > first else "fewer"
    tone: Tone = "good" if last > first else "warn"
    verb = "passes" if abs(last - first) == 1 else "pass"
    return [ToneLine(f"{count(abs(last - first), f'{more} test')} {verb} than {then}", tone)]


def _episode(entry: LogEntry) -> list[ToneLine]:
    """Return an entry followed by its action, decision and effect."""
    head = entry.head
    tone: Tone = "warn" if head.level in ("warn", "critical") else "dim"
    still = " (still open)" if entry.open and entry.kind == "episode" else ""
    what = f"{clock(head.at)} {head.glyph} {head.word} {head.text}{still}"
    lines = [ToneLine(what, tone)]
    unseen = [_row_text(row) for row in entry.follow if row.level != "log" or not row.word]
    if unseen:
        lines.append(ToneLine("; ".join(unseen), below=True))
    return lines


def _row_text(row: LogRow) -> str:
    return f"{row.word} {row.text}".strip()
