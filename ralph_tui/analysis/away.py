"""What happened while nobody looked, in a few lines: the open question first, then what came of it.

Where it is not known when a user looked last, it is told since the run began. Who began a run in
the background left it with that.
"""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.analysis.verdict import verdict
from ralph_tui.events import RunStarted
from ralph_tui.state import LogEntry, LogRow, RunState
from ralph_tui.state.seen import Seen
from ralph_tui.text.format import clock, count, day_and_clock, duration, money, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import NEEDS_YOU, Tone

LONG_S = 600
"""Seconds a run takes at least before coming back to it is worth a summary."""
MOST_EPISODES = 8
"""The latest are told; the log has all."""
MOST_CHARACTERS = 300
TOLD = ("episode", "wait", "pause", "guidance")
"""Kinds of entries of the log, in the order in which they are told."""


@dataclass(frozen=True)
class Told:
    """One line, and how it is meant."""

    text: str
    tone: Tone | None = None
    below: bool = False
    """It belongs to the line above."""


def is_long(state: RunState, now: datetime) -> bool:
    """Whether there is anything to come back to, for one who never looked."""
    return bool(state.run.completions) and state.run.worked_s(now) >= LONG_S


def is_news(state: RunState, now: datetime, seen: Seen | None, *, lost: bool) -> bool:
    """Whether there is anything to tell to one who has seen this last."""
    known = _of_this_run(state, seen)
    if known is None and not was_left(state.run.started, None):
        return is_long(state, now)
    known = known or Seen(run="", seq=0, at=state.at)
    ended = not state.run.live and not known.over and not _ended_by_user(state)
    more = len(state.run.completions) > known.iterations or state.needs.denials > known.denied
    told = any(
        row.seq > known.seq and row.level != "owner"
        for entry in state.log.entries
        if entry.kind in (*TOLD, "question")
        for row in entry.rows
    )
    return ended or more or told or (lost and not known.lost)


def _ended_by_user(state: RunState) -> bool:
    """Users know what they stopped or aborted themselves, from whichever terminal."""
    end = state.run.finished
    return end is not None and end.reason.startswith(("stopped by you", "aborted by you"))


def was_left(started: RunStarted | None, seen: Seen | None) -> bool:
    """Whether somebody left a run before its end; of one that nobody looked at, nobody knows."""
    if started is None:
        return False
    if seen is None or seen.run != started.run_id:
        return started.mode == "detached"
    return not (seen.over or seen.lost)


def while_away(
    state: RunState,
    now: datetime,
    seen: Seen | None = None,
    *,
    lost: bool | str = False,
    sign: datetime | None = None,
) -> list[Told]:
    """The summary; `lost`: as of a `Source`; `sign`: when it wrote last."""
    known = _of_this_run(state, seen)
    entries = _since(state, known)
    asked = _question(state, now, lost=bool(lost))
    sign = max(sign or state.at, _last_sign(state, known))
    # What nobody can answer any more comes after why that is so.
    lines = [_stands(state, now, lost=lost), _gone(sign, now), *asked] if lost else asked
    lines = lines or [_stands(state, now, lost=lost)]
    lines.append(Told(_course(state, now, known, until=sign if lost else now)))
    lines += _fixed(state, known)
    episodes = [entry for entry in entries if entry.kind == "episode"]
    if len(episodes) > MOST_EPISODES:
        earlier = count(len(episodes) - MOST_EPISODES, "earlier alarm")
        lines.append(Told(f"{earlier}: see what happened", "dim"))
    for entry in episodes[-MOST_EPISODES:]:
        lines += _episode(entry)
    for kind in TOLD[1:]:
        lines += [line for entry in entries if entry.kind == kind for line in _episode(entry)]
    denied = state.needs.denials - (known.denied if known is not None else 0)
    if denied > 0:
        lines.append(Told(f"{count(denied, 'tool call')} denied", "warn"))
    return [Told(clip(one_line(line.text), MOST_CHARACTERS), line.tone, line.below)
            for line in lines]  # fmt: skip


def _of_this_run(state: RunState, seen: Seen | None) -> Seen | None:
    """What was seen, where it is of this run, and of no more of it than there is."""
    started = state.run.started
    if seen is None or started is None or seen.run != started.run_id or seen.seq > state.seq:
        return None
    return seen


def _since(state: RunState, known: Seen | None) -> list[LogEntry]:
    """The entries in which something is told that was not seen."""
    seq = 0 if known is None else known.seq
    return [entry for entry in state.log.entries if any(row.seq > seq for row in entry.rows)]


def _question(state: RunState, now: datetime, *, lost: bool) -> list[Told]:
    asked = state.needs.question or state.needs.left_open
    if asked is None:
        return []
    since = duration((now - asked.at).total_seconds())
    if lost or state.needs.question is None:
        when = f"asked {_ago(asked.at, now)}"
        said = f"{NEEDS_YOU.glyph} a question was left open, {when}: {asked.text}"
        return [Told(said, "warn")]
    return [Told(f"{NEEDS_YOU.label}, since {since}: {asked.text}", "warn")]


def _last_sign(state: RunState, known: Seen | None) -> datetime:
    """When its process was there last, as far as anybody knows: a wait for an answer records
    nothing, and who looked on meanwhile saw that it was there."""
    return max(state.at, known.at) if known and not (known.lost or known.over) else state.at


def _gone(sign: datetime, now: datetime) -> Told:
    return Told(f"its last sign: {_ago(sign, now)}")


def _ago(at: datetime, now: datetime) -> str:
    """``23:41, 7m ago``."""
    return f"{day_and_clock(at, now)}, {duration((now - at).total_seconds())} ago"


def _stands(state: RunState, now: datetime, *, lost: bool | str) -> Told:
    says = verdict(state, now, lost=lost)
    return Told(f"{says.glyph} {says.text}", says.tone)


def _course(state: RunState, now: datetime, known: Seen | None, *, until: datetime) -> str:
    """``in 3h: 7 iterations, 48 % to 80 %, $1.82``; ``since 23:10: ...``; `until`: it worked."""
    run = state.run
    done = count(len(run.completions) - (known.iterations if known else 0), "iteration")
    since = f"in {duration(run.worked_s(until))}"
    before, spent = run.baseline, run.cost_usd
    if known is not None:
        since = f"since you looked, {day_and_clock(known.at, now)}"
        before, spent = known.completion, max(0.0, run.cost_usd - known.cost_usd)
    parts = [f"{since}: {done}"]
    if before is not None and run.completion is not None:
        after = run.completion
        parts.append(f"{percent(before, after)} to {percent(after, before)}")
    # Of what was spent since then nothing is known where only those worked that do not tell it.
    if run.cost_known and (spent > 0 or not state.roster.untold):
        without = f" {state.roster.untold_words}" if state.roster.untold else ""
        parts.append(f"{money(spent, estimated=run.cost_estimated)}{without}")
    return ", ".join(parts)


def _fixed(state: RunState, known: Seen | None) -> list[Told]:
    """Tests then and now, as measured: a verification that the end cut short is no measurement."""
    gates = [span.gate for span in state.timeline.spans if span.gate is not None]
    counted = (gate.passed for gate in gates if gate.passed is not None)
    first, then = next(counted, None), "at the start"
    if known is not None:
        first, then = known.passed, "then"
    last = state.run.passed if state.run.completions else None
    if first is None or last is None:
        return []
    if last == first:
        return [Told(f"as many tests pass as {then}")]
    more = "more" if last > first else "fewer"
    tone: Tone = "good" if last > first else "warn"
    verb = "passes" if abs(last - first) == 1 else "pass"
    return [Told(f"{count(abs(last - first), f'{more} test')} {verb} than {then}", tone)]


def _episode(entry: LogEntry) -> list[Told]:
    """What it was, and below it what was done, who decided, and what it changed."""
    head = entry.head
    tone: Tone = "warn" if head.level in ("warn", "critical") else "dim"
    still = " (not over)" if entry.open and entry.kind == "episode" else ""
    what = f"{clock(head.at)} {head.glyph} {head.word} {head.text}{still}"
    lines = [Told(what, tone)]
    told = [_said(row) for row in entry.follow if row.level != "log" or not row.word]
    if told:
        lines.append(Told("; ".join(told), below=True))
    return lines


def _said(row: LogRow) -> str:
    return f"{row.word} {row.text}".strip()
