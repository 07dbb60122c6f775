"""Format a status as a paragraph, or as one line.

Foreign text was sanitized when it was recorded. Text from a status file is sanitized again here,
because the agent can write that file.
"""

import shlex
from datetime import UTC, datetime

from ralph_tui.adapters.records.run_status import Intervened, RunStatus
from ralph_tui.adapters.records.status import worked_s
from ralph_tui.analysis.resume_words import limit_options, resume_command
from ralph_tui.cli.context_words import context_mark, context_row
from ralph_tui.ports.runs import NO_OBJECTIVE
from ralph_tui.text import terms
from ralph_tui.text.format import (
    count,
    duration,
    ending,
    help_words,
    money,
    name_files,
    percent,
    points_gained,
    token_count,
    unreported_cost_words,
)
from ralph_tui.text.sanitize import clip, one_line

PURPOSE_CELLS = 19
"""Columns for the purpose of a command; the command itself is not cut, so that it can be copied."""
LINE_LIMIT = 60
"""Maximum width of `status_line` in a status bar, in columns."""


def status_line(status: RunStatus) -> str:
    """Format one line of at most 60 columns for a status bar: progress and verdict."""
    done = "—" if status["completion"] is None else percent(status["completion"])
    done += f" {terms.ROLLED_BACK.glyph}" if status["stale"] else ""
    full = context_mark(status["context"]) if _is_live(status) else ""
    queued = status["guidance_queued"] if _is_live(status) else 0
    more = [*([full] if full else []), *([f"guidance: {queued}"] if queued else [])]
    rest = f" · {' · '.join(more)}" if more else ""
    glyph, sentence = recorded_verdict(status)
    line = f"{glyph} {done} {status['iteration']}/{status['max_iterations']} {sentence}"
    return clip(f"{clip(one_line(line), LINE_LIMIT - len(rest))}{one_line(rest)}", LINE_LIMIT)


def status_text(status: RunStatus) -> str:
    """Format the verdict, and a row for each fact."""
    rows = [
        ("run", f"{status['run']}  {_objective_text(status)}"),
        ("from", _source_text(status)),
        ("now", _now_text(status)),
        ("agent", status["stands_in"] or ""),
        ("agent", f"failed: {failure}" if (failure := status["agent_failure"]) else ""),
        *_question_rows(status),
        ("guidance", _guidance_text(status)),
        ("always", clip(one_line(status["standing_instruction"] or ""), 200)),
        ("iteration", f"{status['iteration']} of {status['max_iterations']}"),
        ("completion", _completion_text(status)),
        ("overseer", _overseer_text(status)),
        ("health", _health_text(status)),
        ("strategy", _strategy_text(status)),
        ("knowledge", _knowledge_text(status)),
        ("cost", _cost_text(status)),
        ("context", context_row(status["context"]) if _is_live(status) else ""),
        ("model help", _model_help_text(status)),
        ("time", _time_text(status)),
        ("last", _activity_text(status) or _checkpoint_text(status)),
        ("next", _next_text(status)),
        ("journal", status.get("problem", "")),
    ]
    head = one_line(" ".join(recorded_verdict(status)))
    return "\n".join([head, *(f"{name:<11} {one_line(text)}" for name, text in rows if text)])


def recorded_verdict(status: RunStatus) -> tuple[str, str]:
    """Return glyph and sentence as the run recorded them, or those for a run that died."""
    state, reason = _find_term(status), status["reason"]
    if status["outcome"] is None and not status["alive"]:
        return state.glyph, f"{state.word}: {reason}" if reason else state.word
    sentence = status["verdict"]
    if not sentence:  # written by another version
        return state.glyph, ending(state.word, reason)
    return str(status["verdict_glyph"] or state.glyph), str(sentence)


def _source_text(status: RunStatus) -> str:
    """Name the tool that recorded the run, and list the recomputed facts."""
    by = status["imported"]
    return f"{by}; pace, alarms and overseer actions are recomputed" if by else ""


def _now_text(status: RunStatus) -> str:
    """Say what a live run is doing, and whether it waits for you or is about to pause."""
    if not _is_live(status):
        return ""
    question = status["question"]
    if question and (question.get("request") or status["phase"] not in ("agent", "waiting")):
        return f"{terms.NEEDS_YOU.glyph} waits for your answer"
    if status["refused"]:
        return f"{terms.PHASES['limited'].glyph} {status['refused']}"
    wait = status["waiting"]
    if wait and wait["cause"] in terms.WAITS:
        return terms.WAITS[wait["cause"]].label
    is_pausing = "paus" in str(status["verdict"])
    pausing = ", pausing before the next iteration" if status["pause_requested"] else ""
    return f"{_find_term(status).label}{'' if is_pausing else pausing}"


def _find_term(status: RunStatus) -> terms.Term:
    """Return the term for the run's state; an unknown state of a newer version keeps its name."""
    state = status["outcome"] or status["phase"]
    return terms.STATES.get(state, terms.Term(terms.PHASES["agent"].glyph, terms.in_words(state)))


def _is_live(status: RunStatus) -> bool:
    return bool(status["alive"]) and status["outcome"] is None


def _guidance_text(status: RunStatus) -> str:
    if status["guidance_unsent"]:
        return str(status["guidance_unsent"])
    queued = status["guidance_queued"]
    return f"{queued} queued for the next prompt" if queued and _is_live(status) else ""


def _overseer_text(status: RunStatus) -> str:
    """Describe the last intervention and its effect, unless the user ordered it."""
    last = status["intervention"]
    if not last or last["about"] == "owner":
        return ""
    head = f"{last['level']} in iteration {last['iteration']}: {terms.subject_words(last['about'])}"
    decision = f", {last['decision']}" if last["decision"] else ""
    points = "" if last["points"] is None else f": {points_gained(last['points'])}"
    return f"{head}{decision}{points}"


def _health_text(status: RunStatus) -> str:
    """Describe the overseer's work; empty for a run without findings."""
    totals = status["totals"]
    if not totals or not totals["detections"] + sum(totals[name] for name in _INTERVENTIONS):
        return ""
    now = ", ".join(terms.subject_words(one["name"]) for one in status["detections"])
    made = [count(totals[name], noun) for name, noun in _INTERVENTIONS.items() if totals[name]]
    found = f"{count(totals['detections'], 'detection')} in {count(totals['checks'], 'check')}"
    return f"{status['health']}{f': {now}' if now else ''}; {', '.join([found, *made])}"


_INTERVENTIONS: dict[Intervened, str] = {
    "logs": "note",
    "warnings": "warning",
    "redirects": "redirect",
    "pauses": "pause",
    "aborts": "abort",
}


def _knowledge_text(status: RunStatus) -> str:
    """Count the matching learnings of earlier runs, and how many of them are in the prompt."""
    known = status["knowledge"] or []
    sent = sum(one["in_prompt"] for one in known)
    return (
        f"{count(len(known), 'matching learning')} from earlier runs, {sent} in the prompt"
        if known
        else ""
    )


def _strategy_text(status: RunStatus) -> str:
    """Describe a changed approach and its reason; empty if the run continues as before."""
    planned = status["strategy"]
    if not planned or planned["approach"] == "persist":
        return ""
    name = str(planned["approach"])
    approach = terms.APPROACHES.get(name, terms.in_words(name))
    return f"{approach}: {clip(one_line(str(planned['reasoning'])), 200)}"


def _question_rows(status: RunStatus) -> list[tuple[str, str]]:
    """Return the open question and how to answer it; after the end, report it as left open."""
    question = status["question"]
    left = status["left_open"] or (question["text"] if question else "")
    if left and not status["alive"]:
        return [("question", f"open when the run ended: {clip(one_line(left), 200)}")]
    if not question or not status["alive"]:
        return []
    words = dict.fromkeys(
        terms.answer_word(one_line(each["answer"])) for each in question["options"]
    )
    asked_as = status.get("asked_as")
    named = f" --run {shlex.quote(asked_as)}" if asked_as else ""
    return [
        ("question", clip(one_line(question["text"]), 200)),
        ("answers", ", ".join(words)),
        ("decide", f"ralph-tui decide{named}"),
    ]


def _next_text(status: RunStatus) -> str:
    """Return the command that continues a finished run; empty while the run is active."""
    outcome = status["outcome"]
    named = shlex.quote(str(status.get("asked_as") or status["run"]))
    return next_step(status, named) if outcome else ""


def next_step(status: RunStatus, run: str) -> str:
    """Return the command that continues a finished run; `run` names the run.

    Empty if the run completed, or cannot be resumed.
    """
    no_resume = status["watched"] or status["imported"] or status.get("of_fleet")
    kept = status.get("kept")
    if status["outcome"] == "completed" or no_resume or kept == 0:
        return ""
    done, most = len(status["completions"]), status["max_iterations"]
    limited = status["outcome"] == "limit_reached"
    more = limit_options(
        done,
        most,
        status["budget_usd"],
        limited=limited,
        tokens=status["tokens"],
        budget_tokens=status["budget_tokens"],
    )
    return str(status["again"] or "") or resume_command(run, kept, more)


def command_row(purpose: str, command: str) -> str:
    """Format a row: a purpose, then the command as typed."""
    return f"  {f'{purpose}:':<{PURPOSE_CELLS - 1}} {command}"


def _completion_text(status: RunStatus) -> str:
    if status["completion"] is None:
        return "not measured yet" if _is_live(status) else "never measured"
    tests = "" if status["total"] is None else f", {status['passed']}/{status['total']}"
    source = f"{status['origin'] or 'from ' + str(status['source'])}{tests}"
    now, best = status["completion"], status["best"]
    at = status["best_iteration"]
    where = f"after iteration {at}" if at else "at the start"
    stale = ", before the files were restored" if status["stale"] else ""
    return f"{percent(now, best)} ({source}{stale}), best {percent(best, now)} {where}"


def _objective_text(status: RunStatus) -> str:
    return clip(one_line(status["objective"] or ""), 100) or NO_OBJECTIVE


def _cost_text(status: RunStatus) -> str:
    cost = status["cost_usd"]
    dollars = (
        "unknown" if cost is None else money(cost, estimated=status["cost_estimated"], exact=True)
    )
    used = token_count(status["tokens"], partial=bool(status["tokens_partial"]))
    note = unreported_cost_words(status["budget_usd"]) if cost is None and _is_live(status) else ""
    return f"{dollars}, {f'{used} tokens' if status['tokens'] else 'tokens unknown'}{note}"


def _model_help_text(status: RunStatus) -> str:
    """Describe the model calls outside the agent's sessions; the cost above includes them."""
    used = status["model_help"]
    return (
        help_words(used["calls"], used["failed"], used["seconds"], used["cost_usd"]) if used else ""
    )


def _time_text(status: RunStatus) -> str:
    started = _parse_time(status["started"])
    if started is None:
        return ""
    return f"{duration(worked_s(status))} since {started.astimezone():%Y-%m-%d %H:%M}"


def _checkpoint_text(status: RunStatus) -> str:
    """Describe the last checkpoint of a run that died, from which a resume continues."""
    last = status["checkpoint"]
    if not last or status["alive"] or status["outcome"]:
        return ""
    at = _parse_time(last["at"])
    when = f"{at.astimezone():%H:%M}, " if at else ""
    held = f"snapshot {last['snapshot']}" if last["snapshot"] else "no snapshot"
    where = f"iteration {last['iteration']}" if last["iteration"] else "the baseline"
    files = name_files(last["files"], last["modified"])
    return f"checkpoint in {where}, {when}{held}, {files}"


def _activity_text(status: RunStatus) -> str:
    if not status["alive"]:
        return ""
    now = datetime.now(UTC)
    times = {
        "output": status["last_output"],
        "file": status["last_change"],
        "completion command": status["last_gate"],
    }
    ages = [
        f"{name} {duration((now - moment).total_seconds())} ago"
        for name, at in times.items()
        if (moment := _parse_time(at)) is not None
    ]
    return ", ".join(ages)


def _parse_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
