"""Build a handoff from the evidence of the run. Pure. "Done" means ticked in the plan since the
last measurement; "changed" means the difference between two snapshots. The state of the work is
quoted in the agent's own words.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import NamedTuple

from ralph_tui.events import HandoffWritten, RolloverBegan
from ralph_tui.events import context as facts
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.context.handoff import LONGEST_WORDS, Call, Handoff, Measured, Reference
from ralph_tui.layers.context.state_file import FileInProgress
from ralph_tui.layers.context.work import ItemProgress, item_progress, words_about
from ralph_tui.layers.intelligence.answers import HandoffAnswer
from ralph_tui.layers.sensor.novelty import next_item, ticked_items
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.steps.prompt_material import measured
from ralph_tui.state import AgentRow, RunState
from ralph_tui.state.actions import NO_ANSWER
from ralph_tui.text.git_diff import parts_of, places_of
from ralph_tui.text.sanitize import one_line, plain, shorten, spelled_name
from ralph_tui.text.tool_kinds import action_type

MAX_CALLS = 8
MAX_MESSAGE = 20
CUT_OFF = "interrupted"
"""Result of a tool call that was running when its session ended."""
MODEL = "a model"
AGENT = "the agent"
AGENT_BEFORE = "the agent, before its last tool calls"
"""Used if the agent made tool calls after its last message."""
LAST_EDITS = 3
"""How many of the most recently edited files count as in progress."""
MAX_FILES = 40
"""Maximum number of files named in a handoff."""


@dataclass(frozen=True)
class TreeDiff:
    """Differences between two trees."""

    changes: tuple[FileChange, ...] = ()
    diff: str = ""
    """Unified diff, bounded in size and without secrets."""

    def places(self) -> dict[str, str]:
        """Return the changed places of each file, as far as the diff shows them."""
        return {one_line(spelled_name(path)): places_of(part) for path, part in parts_of(self.diff)}


@dataclass(frozen=True)
class Material:
    """Facts looked up for a handoff, in addition to the state."""

    session: TreeDiff = TreeDiff()
    """Changes made by the ended session."""
    iteration: tuple[FileChange, ...] = ()
    """Changes made in its iteration, over all its sessions."""
    plan: Progress | None = None
    plan_name: str = ""
    references: tuple[Reference, ...] = ()


def build_handoff(
    objective: str, command: str, began: RolloverBegan, state: RunState, found: Material
) -> Handoff:
    """Return a handoff with everything known about the ended session."""
    rows = session_rows(state)
    report = state.agent.report
    summary = report.summary if report and report.summary else last_message(rows)
    acted = summary and not (report and report.summary) and rows[0].kind == "tool"
    item, progress = open_item(state, found.plan), progress_on_item(state, found.plan)
    texts = [report.summary] if report else []
    texts += [row.text for row in rows if row.kind == "text" and not row.nested]
    files = files_in_progress(found, rows, About(texts, item, progress.short, bool(progress.done)))
    named = {file.path for file in files}
    others = [c for c in (found.iteration or found.session.changes) if c.path not in named]
    return Handoff(
        objective=objective,
        iteration=began.iteration,
        number=began.number,
        cause=began.cause,
        percent=began.percent,
        level=began.level,
        done=ticked(state, found.plan),
        changed=tuple(_file(change) for change in others[:MAX_FILES]),
        item=item,
        progress=progress.words,
        parts_done=tuple(map(shorten, progress.done)),
        focus=shorten(progress.focus),
        summary=summary,
        summary_by=AGENT_BEFORE if acted else AGENT,
        files=files,
        calls=tuple(last_calls(rows)),
        next_step=report.next if report else "",
        tests=tests_of(command, state),
        questions=tuple(report.blockers) if report else (),
        said=tuple(state.context.guidance),
        references=found.references,
    )


def written_event(
    handoff: Handoff, began: RolloverBegan, snapshot: int | None, state: RunState
) -> HandoffWritten:
    """Return the event to record for a handoff, with no path yet."""
    return HandoffWritten(
        iteration=began.iteration,
        number=began.number,
        path="",
        cause=began.cause,
        percent=began.percent,
        level=began.level,
        summary=_in_progress(handoff),
        done=list(handoff.done),
        files=[facts.FileInProgress.model_validate(f._asdict()) for f in handoff.files],
        item=handoff.item,
        progress=handoff.progress,
        parts_done=list(handoff.parts_done),
        focus=handoff.focus,
        next_step=handoff.next_step,
        origin="model" if handoff.summary_by == MODEL else "template",
        guidance=list(state.context.guidance),
        snapshot=snapshot,
    )


def _in_progress(handoff: Handoff) -> str:
    """Describe the work in progress in a sentence or two, else the last tool call."""
    running = next((call for call in handoff.calls if call.running), None)
    words = [shorten(handoff.summary, LONGEST_WORDS)]
    if running is not None:
        words.append(f"Still running when it was ended: {running.tool} {running.what}".rstrip())
    elif handoff.calls and (not handoff.summary or handoff.summary_by == AGENT_BEFORE):
        then = "After that, its last tool call" if handoff.summary else "Its last tool call"
        words.append(f"{then}: {handoff.calls[0].tool} {handoff.calls[0].what}".rstrip())
    return " ".join(word for word in words if word)


def session_rows(state: RunState) -> list[AgentRow]:
    """Return the last session's messages and tool calls, newest first."""
    return list(takewhile(lambda row: row.seq > state.agent.began, reversed(state.agent.rows)))


def reword_handoff(handoff: Handoff, answer: HandoffAnswer) -> Handoff:
    """Return the handoff in a model's words; measured facts stay unchanged."""
    return handoff._replace(
        summary=answer.summary,
        summary_by=MODEL,
        next_step=answer.next_step,
        next_by=MODEL,
        questions=(*handoff.questions, *answer.open_questions),
    )


def last_messages(rows: Sequence[AgentRow]) -> list[str]:
    """Return the agent's own last messages, latest first."""
    return [row.text for row in rows if row.kind == "text" and not row.nested][:MAX_MESSAGE]


def last_message(rows: Sequence[AgentRow]) -> str:
    """Return the agent's own last message; only its end if it is long."""
    text = next((row.text for row in rows if row.kind == "text" and not row.nested), "").strip()
    if len(text) <= LONGEST_WORDS:
        return text
    _, _, tail = text[1 - LONGEST_WORDS :].partition(" ")
    return f"…{tail}"


def last_calls(rows: Sequence[AgentRow]) -> Iterator[Call]:
    """Yield the agent's last tool calls, latest first, without those of subagents."""
    calls = [row for row in rows if row.kind == "tool" and not row.nested]
    for row in calls[:MAX_CALLS]:
        running = row.running or row.result in (NO_ANSWER, CUT_OFF)
        result = "" if running else row.result
        yield Call(row.tool, row.text, result, failed=not row.ok and not running, running=running)


class About(NamedTuple):
    """Sources for the description of the work in a file."""

    texts: Sequence[str]
    """The agent's own words, newest first."""
    item: str
    """The plan's first open item."""
    progress: str
    """How far along that item is."""
    begun: bool
    """True if some of its sub-items are ticked."""

    def of(self, path: str, *, belongs: bool) -> tuple[str, str]:
        """Return a description of the work in a file, and its progress.

        The agent's words about the file take precedence; the open item is used if the file
        `belongs` to it.
        """
        if words := words_about(path, self.texts):
            return shorten(words), ""
        return (self.item, self.progress) if belongs else ("", "")


def files_in_progress(
    found: Material, rows: Sequence[AgentRow], about: About
) -> tuple[FileInProgress, ...]:
    """Return the files the session edited last, after its last edit of the plan if it made one.

    If no edit is reported, because the agent has no such tools, return the files it changed most.
    They belong to the open item unless the session also changed the plan.
    """
    changed = {c.path: c for c in found.session.changes if c.path != found.plan_name}
    places = found.session.places()
    known = (*changed, found.plan_name)
    edits = [
        row
        for row in rows
        if row.kind == "tool"
        and action_type(row.tool) in ("edit", "write")
        and any(_is_about(row, path) for path in known)
    ]
    recent: Iterable[AgentRow] = edits
    if about.begun:  # ticking a part of the item does not end the work on it
        recent = dropwhile(lambda row: _is_about(row, found.plan_name), edits)
    since = takewhile(lambda row: not _is_about(row, found.plan_name), recent)
    paths = [path for row in since for path in changed if _is_about(row, path)]
    if not edits:
        paths = sorted(changed, key=lambda path: -(changed[path].added + changed[path].removed))
    there = [path for path in dict.fromkeys(paths) if changed[path].status != "deleted"]
    planned = any(change.path == found.plan_name for change in found.session.changes)
    belongs = bool(edits) or not planned
    return tuple(
        _file(
            changed[path],
            places.get(path, ""),
            about.of(path, belongs=belongs),
            last_line_in(path, edits, places.get(path, "")),
        )
        for path in there[:LAST_EDITS]
    )


def last_line_in(path: str, edits: Sequence[AgentRow], places: str) -> str:
    """Return the line of the last edit of a file; empty if unknown. `edits`: newest first.

    If the tool did not report it and only one place in the file changed, return that place's end.
    """
    last = next((row for row in edits if row.ok and _is_about(row, path)), None)
    if last is None:
        return ""
    if last.last_line is not None:
        return str(last.last_line)
    return "" if "," in places else places.rpartition("-")[2]


def _is_about(row: AgentRow, path: str) -> bool:
    return bool(path) and (row.text == path or row.text.endswith(f"/{path}"))


def _file(
    change: FileChange, lines: str = "", about: tuple[str, str] = ("", ""), last_line: str = ""
) -> FileInProgress:
    description, progress = about
    counts = f"+{change.added} −{change.removed}"
    known = {"added": f"new, +{change.added}", "deleted": "deleted"}
    status = ", ".join(word for word in (known.get(change.status, counts), progress) if word)
    return FileInProgress(change.path, lines, description, status, last_line)


def ticked(state: RunState, plan: Progress | None) -> tuple[str, ...]:
    """Return plan items that are ticked now and were open at the last measurement."""
    readings = state.gate.readings
    if plan is None or not readings:
        return ()
    before = set(readings[-1].open_items)
    return tuple(shorten(text) for name, text in ticked_items(plan).items() if name in before)


def open_item(state: RunState, plan: Progress | None) -> str:
    """Return the plan's first open item, or an empty string."""
    if plan is not None:
        return next_item(plan)
    return state.context.item.item if state.context.item else ""


def progress_on_item(state: RunState, plan: Progress | None) -> ItemProgress:
    """Return the progress on the open item, by its ticked sub-items or the agent's report.

    A report does not count if items have been ticked since: it may be about an earlier item.
    """
    report = state.agent.report
    parts = plan.open_parts() if plan is not None else ()
    known = report is not None and open_item(state, plan) and not ticked(state, plan)
    return item_progress(parts, report.item_progress if report and known else None)


def tests_of(command: str, state: RunState) -> Measured:
    """Return the last result of the completion command that still applies to the files."""
    _, gate = measured(state)
    if gate is None or gate.error:
        return Measured(command)
    where = f"after iteration {gate.iteration}" if gate.iteration else "before iteration 1"
    if gate.broken:  # a broken build reports modules, not tests
        return Measured(command, where, gate.ok)
    failing = tuple(plain(name) for name in gate.failing)
    return Measured(command, where, gate.ok, gate.passed, gate.failed + gate.errors, failing)
