"""``fleet status`` and ``fleet attach``: show a fleet as lines or on its screen."""

import argparse
import json
import os
import re
import sys
import textwrap
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.adapters.clones.receiving import BELOW
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.refused import empty
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import JournalError, RalphError, UsageError
from ralph_tui.cli.exit_codes import OUTCOME_CODES, ExitCode
from ralph_tui.cli.fronts.presentation import on_terminal
from ralph_tui.cli.live import sender_name
from ralph_tui.cli.options import terminal_width
from ralph_tui.cli.status_words import command_row
from ralph_tui.config.files import screen_settings
from ralph_tui.fleet.decisions.results import is_settled
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import host_words
from ralph_tui.fleet.records import FleetFolder, find_fleet, find_fleets, read_fleet, unknown_fleet
from ralph_tui.fleet.sources.fleet import Fleet, follow_fleet
from ralph_tui.fleet.state import FleetState, Lost, end_reason, why_lost
from ralph_tui.fleet.wording import (
    COST_UNKNOWN,
    answer_hint,
    conflict_sentences,
    cost_words,
    fleet_line,
    fleet_sentence,
    kept_sentence,
    loop_sentence,
    lost_words,
    result_sentence,
    spent_words,
    state_word,
)
from ralph_tui.runtime.sources.follower import follow_to_end
from ralph_tui.text.format import money, percent
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import BEATEN, CHOSEN

PLACES = {"chosen": CHOSEN.word, "beaten": BEATEN.word}


def status(args: argparse.Namespace) -> int:
    """Print the status of a fleet. Raises ``UsageError`` if there is no fleet."""
    root = worktree_root(Path.cwd())
    folder = find_fleet(root, args.fleet)
    recording = read_fleet(folder.journal)
    state, alive = recording.state(), folder.owner() is not None
    lost = why_lost(state, recording.journal.problem, alive=alive)
    if args.json:
        shown = _as_json(folder, state, alive=alive, lost=lost)
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_status_lines(root, folder, state, lost)))
        if recording.remark and not alive:
            print(recording.remark)
    return ExitCode.COMPLETED


def attach(args: argparse.Namespace) -> int:
    """Show a fleet on its screen, or as lines if there is no terminal.

    Raises ``UsageError`` if there is no such fleet or loop.
    """
    root = worktree_root(Path.cwd())
    folder, loop = find_shown(root, args.loop)
    if on_terminal() and not args.json:
        return show_fleet(root, folder, loop)
    return watch(folder, loop or None, as_json=args.json)


def watch(folder: FleetFolder, loop: str | None = None, *, as_json: bool = False) -> int:
    """Print the events of a fleet, or of one of its loops, until it ends; return its exit code.

    ctrl+c stops watching; the fleet continues.
    """

    def on_event(event: FleetEvent) -> None:
        wanted = loop is None or getattr(event, "loop", loop) == loop
        if wanted and (text := fleet_line(event, as_json=as_json)):
            print(text, flush=True)

    def is_running(state: FleetState) -> bool:
        one = state.loops.get(loop or "")
        over = state.finished is not None or (one is not None and is_settled(state, one))
        return not over and folder.owner() is not None

    journal = follow_fleet(folder.journal, on_event)
    what = f"{folder.name}/{loop}" if loop else folder.name
    ended = loop is not None and not is_running(read_fleet(folder.journal).state())
    if folder.owner() is not None and not ended:
        print(f"{what}: showing its lines until it ends; ctrl+c leaves it running", file=sys.stderr)
    try:
        state = follow_to_end(journal, FleetState(), is_running)
    except KeyboardInterrupt:
        again = f"ralph-tui fleet attach{f' {what}' if loop else ''}"
        print(f"\n{what} is still running; watch it again: {again}")
        return ExitCode.COMPLETED
    finally:
        journal.close()
    one = state.loops.get(loop or "")
    if one is not None and one.over and (state.finished is not None or is_settled(state, one)):
        return OUTCOME_CODES[one.outcome] if one.outcome is not None else ExitCode.FAILED
    if state.finished is not None:
        return OUTCOME_CODES[state.finished.outcome]
    print(lost_words("died"))
    return ExitCode.FAILED


def _status_lines(root: Path, folder: FleetFolder, state: FleetState, lost: Lost) -> list[str]:
    now = datetime.now(UTC)
    spent = _spent_text(state)
    title = f" {one_line(state.plan.name)}" if state.plan.name else ""
    lines = [f"{folder.name}{title}  {fleet_sentence(state, now, lost=lost)}{spent}"]
    width = max((len(name) for name in state.loops), default=1)
    words = {name: state_word(loop, lost=lost) for name, loop in state.loops.items()}
    wide = max(map(len, words.values()), default=1)
    gone = _find_deleted(root, state)
    below: list[tuple[int, str]] = []
    """Line numbers, counted from 1, each with a text to print below that line."""
    for name, loop in state.loops.items():
        sentence = loop_sentence(loop, state, now, lost=lost)
        where = loop.host if len(state.hosts) > 1 else ""
        lines.append(
            f"  {name:<{width}}  {words[name]:<{wide}}  {_format_row(loop, where)}".rstrip()
        )
        result = result_sentence(loop, lost=lost)
        if loop.branch in gone:
            result += "; the branch has since been deleted"
        answer = answer_hint(loop, lost=lost)
        texts = [sentence, answer, result, kept_sentence(loop), *conflict_sentences(loop)]
        below += [(len(lines), text) for text in texts if text and text != words[name]]
    columns = terminal_width()
    shown = []
    for number, line in enumerate(lines, 1):
        shown += [clip(line, columns)] if columns and number > 1 else _wrap(line, "", columns)
        for row, text in below:
            if row == number:
                shown += _wrap(text, " " * (width + 4), columns)
    return shown


def _wrap(text: str, indent: str, columns: int) -> list[str]:
    """Wrap to the terminal's width; do not wrap if `columns` is 0."""
    if not columns:
        return [f"{indent}{text}"]
    return textwrap.wrap(
        text, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _find_deleted(root: Path, state: FleetState) -> set[str]:
    """Return the collected branches that no longer exist; empty if git fails."""
    collected = {loop.branch for loop in state.loops.values() if loop.commit and loop.branch}
    if not collected:
        return set()
    listing = ("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/{BELOW}")
    try:
        return collected - set(open_repository(root).git(*listing).lines)
    except RalphError:
        return set()


def _spent_text(state: FleetState) -> str:
    if not state.spent_usd and state.plan.budget_usd is None:
        return ""
    if state.finished is not None and state.budget_percent:
        return ""  # the reason already mentions it
    return f" · {spent_words(state)}"


def _format_row(loop: LoopState, where: str) -> str:
    """Format iteration, completion, cost, place, host and objective in columns."""
    of = f"/{loop.max_iterations}" if loop.max_iterations else ""
    cells = [
        f"{loop.iteration}{of}" if loop.iteration else "",
        percent(100 * loop.completions[-1]) if loop.completions else "",
        money(loop.spent_usd) if loop.cost_reported else "",
        PLACES.get(loop.place, "") if not loop.not_needed else "",
    ]
    widths = (5, 6, 6, 10)
    row = "  ".join(f"{cell:<{wide}}" for cell, wide in zip(cells, widths, strict=True))
    return "  ".join([row, *([f"on {host_words(where)}"] if where else []), _objective(loop)])


def _objective(loop: LoopState) -> str:
    return clip(one_line(loop.spec.objective), 32)


def _as_json(folder: FleetFolder, state: FleetState, *, alive: bool, lost: Lost) -> dict[str, Any]:
    started, finished, now = state.started, state.finished, datetime.now(UTC)
    return {
        "fleet": folder.name,
        "name": state.plan.name,
        "alive": alive,
        "sentence": fleet_sentence(state, now, lost=lost),
        "outcome": finished.outcome if finished else None,
        "reason": finished.reason if finished else "",
        "commit": started.commit if started else "",
        "spent_usd": state.spent_usd if cost_words(state) != COST_UNKNOWN else None,
        "budget_usd": state.plan.budget_usd,
        "journal": str(folder.journal),
        "hosts": [
            {
                "name": host.name,
                "slots": host.slots,
                "machine": host.machine,
                "joined": alive and host.here,
            }
            for host in state.hosts.values()
        ],
        "loops": [
            _loop_json(folder, loop, loop_sentence(loop, state, now, lost=lost))
            for loop in state.loops.values()
        ],
    }


def _loop_json(folder: FleetFolder, loop: LoopState, sentence: str) -> dict[str, Any]:
    return {
        "id": loop.spec.id,
        "objective": loop.spec.objective,
        "status": loop.status,
        "phase": loop.phase,
        "pause_requested": loop.pause_requested,
        "outcome": loop.outcome,
        "sentence": sentence,
        "attempt": loop.attempt,
        "host": loop.host,
        "iteration": loop.iteration,
        "max_iterations": loop.max_iterations,
        "completions": [100 * each for each in loop.completions],  # percent, as in `status --json`
        "question": loop.question,
        "cost_usd": loop.spent_usd if loop.cost_reported else None,
        "tokens": loop.tokens,
        "branch": loop.branch if loop.commit else "",
        "commit": loop.commit,
        "kept": loop.kept,
        "not_collected": loop.not_collected,
        "files": loop.files,
        "changed_lines": loop.changed_lines,
        "conflicts": loop.conflicts,
        "place": loop.place,
        "verified": loop.verified,
        "tree": loop.folder if loop.keeps_tree else "",
        "record": str(folder.mirror(loop.spec.id, loop.attempt)) if loop.attempt else "",
    }


if TYPE_CHECKING:
    from ralph_tui.cli.fronts.stage import Front, Stage


def find_shown(root: Path, name: str | None) -> tuple[FleetFolder, str]:
    """Return the fleet and the loop that a name refers to; the loop is empty for a whole fleet.

    ``3a`` is a loop of the newest fleet; ``fleet-001`` and ``fleet-001/3a`` name a fleet. Raises
    ``UsageError`` if there is no such fleet or loop; the message lists the existing loops.
    """
    fleet, slash, loop = (name or "").partition("/")
    fleets = {folder.name: folder for folder in find_fleets(root)}
    if fleet in fleets:
        folder = fleets[fleet]
    else:
        folder = find_fleet(root, fleet if slash else None)
        loop = loop if slash else fleet
    if loop:
        known = read_fleet(folder.journal).state().loops
        if loop not in known and not slash and re.fullmatch(r"fleet-\d+", loop):
            raise unknown_fleet(loop, fleets)
        if loop not in known:
            named = clip(", ".join(known), 300)
            raise UsageError(f"{folder.name} has no loop '{one_line(loop)[:40]}'; loops: {named}")
    return folder, loop


def show_fleet(root: Path, folder: FleetFolder, loop: str = "") -> int:
    """Show a fleet until the user leaves its screen, then print how to come back.

    `loop` is opened at once; empty for none. Leaving the screen never stops the fleet. Return the
    exit code of the outcome if the fleet has ended, and 1 if its process is gone. Raises
    ``JournalError`` if that process left an empty journal.
    """
    if folder.owner() is None and not folder.journal.stat().st_size:
        raise empty(folder.journal)
    from ralph_tui.cli.fronts.stage import Stage  # noqa: PLC0415 - only with a terminal
    from ralph_tui.tui.first_frame import ListFrame  # noqa: PLC0415 - as above

    def load(stage: "Stage") -> "Front":
        # Loaded after the first frame is shown.
        from ralph_tui.fleet.cli.front import FleetFront  # noqa: PLC0415

        return FleetFront(Fleet(folder, sender_name()), stage, loop=loop)

    settings = screen_settings(root, os.environ)
    opening = partial(ListFrame, "fleet", "loops", "fleet", "reading the fleet…")
    code = Stage(load, settings, left=ExitCode.COMPLETED, opening=opening).show()
    with suppress(OSError, JournalError):  # the terminal may be gone
        recording = read_fleet(folder.journal)
        state, alive = recording.state(), folder.owner() is not None
        lost = why_lost(state, recording.journal.problem, alive=alive)
        code = choose_code(state, code, lost=lost)
        print(left_text(folder, state, lost))
    return code


def choose_code(state: FleetState, code: int, *, lost: Lost) -> int:
    """Return the exit code for a screen that ended with `code`; the outcome's takes precedence."""
    if code == ExitCode.COMPLETED and state.finished is not None:
        return OUTCOME_CODES[state.finished.outcome]
    return ExitCode.FAILED if code == ExitCode.COMPLETED and lost else code


def left_text(folder: FleetFolder, state: FleetState, lost: Lost = "") -> str:
    """Describe the status of a fleet after its screen was left, and how to return to it."""
    rows = [f"{folder.name}: {fleet_sentence(state, datetime.now(UTC), lost=lost)}"]
    if folder.owner() is None:
        gone = _find_deleted(worktree_root(folder.path), state)
        for purpose, places in (
            ("the winner's" if len(state.chosen) == 1 else "the winners'", ("chosen",)),
            ("the others'", ("beaten",)),
            ("its branches", ("",)),
        ):
            loops = [one for one in state.loops.values() if one.commit and one.place in places]
            branches = [one.branch for one in loops if one.branch and one.branch not in gone]
            rows += [command_row(purpose, clip(", ".join(branches), 300))] if branches else []
        resumable = lost != "unheard" and not end_reason(state)
        again = f"ralph-tui fleet resume {folder.name}"
        rows += [command_row("continue it", again)] if resumable else []
        return "\n".join(
            [*rows, command_row("its screen", f"ralph-tui fleet attach {folder.name}")]
        )
    return "\n".join(
        [
            *rows,
            command_row("the screen", "ralph-tui fleet attach"),
            command_row("stop it", "ralph-tui fleet stop"),
        ]
    )
