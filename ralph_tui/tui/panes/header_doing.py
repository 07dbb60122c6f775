"""What a run does at this moment, and for how long it has. Pure."""

import re
from datetime import datetime

from ralph_tui.analysis.verdict import gone_word
from ralph_tui.state import RunState
from ralph_tui.text.terms import ASKED, OUTCOMES, PHASES, WAITS, in_words
from ralph_tui.text.tool_kinds import action_type
from ralph_tui.tui.draw.spans import Line, flat
from ralph_tui.tui.draw.words import countdown, since

ROOM = 1000
SHORTEST = 6
"""Cells of a command or a tool call below which it is left out."""
_INTERPRETER = re.compile(r"^\S*python[\d.]*\s+-m\s+(?=\S)")


def doing(state: RunState, now: datetime, room: int = ROOM, *, lost: bool | str = False) -> Line:
    """What the run does at this moment, and for how long it has; `room`: cells that it has."""
    run = state.run
    if lost:
        return [(gone_word(lost).label, "bad strong")]
    if run.finished is not None:
        return [(OUTCOMES[run.finished.outcome].label, "dim")]
    if (waits := state.needs.wait) is not None:
        left = countdown(waits.until, now)
        term = WAITS[waits.cause]
        return [(f"{term.glyph} {left or 'waiting'}: {term.word}", "warn")]
    asked = state.needs.question
    if asked is not None and (asked.request is not None or not run.session_running):
        return [(f"{ASKED.glyph} waits for an answer", "warn")]
    if run.live and (help_ := state.intelligence.asked) is not None:
        return [(f"{PHASES['thinking'].glyph} asks a model: {in_words(help_.purpose)}", "accent")]
    if (trouble := state.service.trouble) is not None:
        took = _took(trouble.since, now).strip()
        return [(f"{PHASES['limited'].glyph} {took}: {trouble.word}", "warn")]
    term = PHASES[run.phase]
    match run.phase:
        case "agent" | "waiting":
            return _agent(state, now, room)
        case "verifying":
            took = _took(state.gate.running_since, now)
            command = _short(state.gate.command)
            return _at_work(f"{term.glyph} {term.word}", "accent", took, command, room)
    style = {"paused": "owner", "crashed": "bad"}.get(run.phase, "dim")
    return [(term.label, style)]


def _agent(state: RunState, now: datetime, room: int) -> Line:
    """The tool call that runs; between calls, for how long the session has."""
    call = state.agent.running
    # Who works instead of the chosen one is seen in any width.
    who = flat(state.roster.working, 16) if state.roster.stands_in_for else "agent"
    if state.run.phase == "waiting":
        took = _took(state.agent.began_at, now)
        return _at_work(f"{PHASES['waiting'].glyph} {who}", "dim", took, "starts", room)
    head = f"{PHASES['agent'].glyph} {who}"
    if call is None:
        return _at_work(head, "good", _took(state.agent.began_at, now), "", room)
    text = flat(call.text)
    what = text if action_type(call.tool) == "bash" else f"{flat(call.tool, 40)} {text}"
    return _at_work(head, "good", _took(call.ran_from or call.at, now), _short(what), room)


def _at_work(head: str, style: str, took: str, what: str, room: int) -> Line:
    told = f": {what}" if what else ""
    left = room - len(f"{head} {took}: ")
    if left < min(len(what), SHORTEST):
        told = ""  # a few letters of it would say nothing
    return [(f"{head} ", style), (took, "text"), (told, "text")]


def _took(began: datetime | None, now: datetime) -> str:
    return f"{since(began, now):>3}"


def _short(command: str) -> str:
    """A command without what stands before the part that matters: folder, interpreter."""
    text = _INTERPRETER.sub("", flat(command))
    first, blank, rest = text.partition(" ")
    return f"{first.rsplit('/', 1)[-1] if first.startswith('/') else first}{blank}{rest}"
