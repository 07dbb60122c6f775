"""What happened while nobody looked, in a few lines: the open question first, then what came of it.

When a user looked last is not recorded: it is told since the run began.
"""

from dataclasses import dataclass
from datetime import datetime

from ralph_tui.analysis.verdict import verdict
from ralph_tui.state import LogEntry, LogRow, RunState
from ralph_tui.text.format import clock, count, duration, money, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import NEEDS_YOU, Tone

LONG_S = 600
"""Seconds a run takes at least before coming back to it is worth a summary."""
MOST_EPISODES = 8
"""The latest are told; the log has all."""
MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Told:
    """One line, and how it is meant."""

    text: str
    tone: Tone | None = None
    below: bool = False
    """It belongs to the line above."""


def is_long(state: RunState, now: datetime) -> bool:
    """Whether there is anything to come back to."""
    return bool(state.run.completions) and state.run.worked_s(now) >= LONG_S


def while_away(state: RunState, now: datetime, *, lost: bool = False) -> list[Told]:
    """The summary; `lost`: the run's process is gone, without an end."""
    entries = state.log.entries
    lines = _question(state, now) or [_stands(state, now, lost=lost)]
    lines.append(Told(_course(state, now)))
    lines += _fixed(state)
    episodes = [entry for entry in entries if entry.kind == "episode"]
    if len(episodes) > MOST_EPISODES:
        earlier = count(len(episodes) - MOST_EPISODES, "earlier episode")
        lines.append(Told(f"{earlier}: see what happened", "dim"))
    for entry in episodes[-MOST_EPISODES:]:
        lines += _episode(entry)
    for kind in ("wait", "pause", "guidance"):
        lines += [line for entry in entries if entry.kind == kind for line in _episode(entry)]
    denied = sum(entry.times for entry in entries if entry.kind == "denied")
    if denied:
        lines.append(Told(f"{count(denied, 'tool call')} denied by the permissions", "warn"))
    return [Told(clip(one_line(line.text), MOST_CHARACTERS), line.tone, line.below)
            for line in lines]  # fmt: skip


def _question(state: RunState, now: datetime) -> list[Told]:
    asked = state.needs.question or state.needs.left_open
    if asked is None:
        return []
    since = duration((now - asked.at).total_seconds())
    if state.needs.question is None:
        return [Told(f"{NEEDS_YOU.glyph} a question was left open: {asked.text}", "warn")]
    return [Told(f"{NEEDS_YOU.label}, since {since}: {asked.text}", "warn")]


def _stands(state: RunState, now: datetime, *, lost: bool) -> Told:
    says = verdict(state, now, lost=lost)
    return Told(f"{says.glyph} {says.text}", says.tone)


def _course(state: RunState, now: datetime) -> str:
    """``in 3h: 7 iterations, 48 % to 80 %, $1.82``."""
    run = state.run
    done = count(len(run.completions), "iteration")
    parts = [f"in {duration(run.worked_s(now))}: {done}"]
    if run.baseline is not None and run.completion is not None:
        before, after = run.baseline, run.completion
        parts.append(f"{percent(before, after)} to {percent(after, before)}")
    if run.cost_known:
        parts.append(money(run.cost_usd, estimated=run.cost_estimated))
    return ", ".join(parts)


def _fixed(state: RunState) -> list[Told]:
    """Tests at the start and now, as counted."""
    gates = [span.gate for span in state.timeline.spans if span.gate is not None]
    counted = [gate for gate in gates if gate.passed is not None]
    if len(counted) < 2:
        return []
    first, last = counted[0].passed or 0, counted[-1].passed or 0
    if last == first:
        return [Told("as many tests pass as at the start")]
    more = "more" if last > first else "fewer"
    tone: Tone = "good" if last > first else "warn"
    verb = "passes" if abs(last - first) == 1 else "pass"
    return [Told(f"{count(abs(last - first), f'{more} test')} {verb} than at the start", tone)]


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
