"""Steer the loops of a running fleet, or the fleet itself, from another terminal."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.records.run_status import Question
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli.answering import answer_question
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import GUIDANCE_WAY, confirm, text_argument
from ralph_tui.cli.question_words import question_text
from ralph_tui.fleet.ports import ALL, FLEET
from ralph_tui.fleet.records import FleetFolder, find_fleet, fleets_folder, read_fleet
from ralph_tui.fleet.sources.fleet import send_command
from ralph_tui.fleet.state import end_reason
from ralph_tui.fleet.wording import decide_command
from ralph_tui.text.sanitize import clip, one_line

PAUSE_EFFECTS = {
    "pause": "starts no other loop until you unpause it",
    "unpause": "starts loops again",
}
"""Effect on the queue when the command goes to all loops."""


def pause(args: argparse.Namespace) -> int:
    """Pause loops before their next iteration."""
    return _send_each(args.loop, "pause", "pauses before its next iteration")


def unpause(args: argparse.Namespace) -> int:
    """Let paused loops continue."""
    return _send_each(args.loop, "unpause", "continues")


def guide(args: argparse.Namespace) -> int:
    """Send guidance to the agents of loops."""
    text = text_argument(args.text)
    return _send_each(args.loop, "guide", f"has your guidance queued: {GUIDANCE_WAY}", text=text)


def abort(args: argparse.Namespace) -> int:
    """Abort a loop or the whole fleet."""
    fleet, loop = _find_target(args.loop)
    whole = loop == ALL
    what = fleet.name if whole else f"loop {one_line(loop)}"
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError(
                f"not a terminal; use --yes to confirm: ralph-tui fleet abort {args.loop} --yes"
            )
        if not confirm(f"Abort {what}? Its work is kept as a branch."):
            print("nothing was aborted", file=sys.stderr)
            return ExitCode.FAILED
    send_command(fleet, FLEET if whole else loop, {"name": "abort"})
    unbegun = not whole and _never_began(fleet, loop)
    print(f"{what} is aborted; {'it had not started' if unbegun else 'its work will be collected'}")
    return ExitCode.COMPLETED


def stop(args: argparse.Namespace) -> int:
    """Stop the fleet after the current iterations, or now."""
    fleet = find_live_fleet()
    send_command(fleet, FLEET, {"name": "stop", "mode": "now" if args.now else "after_iteration"})
    when = "now" if args.now else "after the running iterations"
    print(f"{fleet.name} stops {when}; 'ralph-tui fleet resume' continues it")
    return ExitCode.COMPLETED


def _send_each(loop: str, name: str, done: str, **fields: object) -> int:
    """Send a command and print a line for each loop; raise ``RalphError`` if none accepted it."""
    fleet, loop = _find_target(loop)
    accepted, refusals = 0, []
    if loop == ALL and name in PAUSE_EFFECTS:
        try:
            send_command(fleet, FLEET, {"name": name})
        except RefusedError as error:
            refusals.append(str(error))
        else:
            accepted += 1
            print(f"{fleet.name} {PAUSE_EFFECTS[name]}")
    for one in _chosen_loops(fleet, loop):
        try:
            send_command(fleet, one, {"name": name, **fields})
        except RefusedError as error:
            whose = f"loop {one}"
            refusals.append(str(error) if whose in str(error) else f"{whose}: {error}")
            continue
        accepted += 1
        print(f"loop {one} {done}")
    if not accepted:
        raise RalphError(
            "; ".join(refusals[:3]) or "no loop is running; see ralph-tui fleet status"
        )
    for refusal in refusals:
        print(f"ralph-tui: {one_line(refusal)}", file=sys.stderr)
    return ExitCode.COMPLETED


def _find_target(name: str) -> tuple[FleetFolder, str]:
    """Return the running fleet and the loop; ``fleet-001/3a`` also names that fleet's loop 3a."""
    fleet = find_live_fleet()
    return fleet, name.removeprefix(f"{fleet.name}/")


def _never_began(fleet: FleetFolder, loop: str) -> bool:
    """True if no run of the loop ever began; the journal shows this before the fleet answers."""
    known = read_fleet(fleet.journal).state().loops.get(loop)
    return known is not None and not known.run_id


def _chosen_loops(fleet: FleetFolder, loop: str) -> Iterator[str]:
    """Yield the named loop, or all running loops."""
    if loop != ALL:
        yield loop
        return
    state = read_fleet(fleet.journal).state()
    yield from (name for name, one in state.loops.items() if one.status == "running")


def find_live_fleet() -> FleetFolder:
    """Return the running fleet of this repository; raise ``UsageError`` if none runs."""
    root = worktree_root(Path.cwd())
    owner = worker(fleets_folder(root) / "lock")
    if owner is None:
        newest = find_fleet(root)  # reports it if there never was a fleet
        resumable = not end_reason(read_fleet(newest.journal).state())
        ways = "start one with 'ralph-tui fleet run'"
        ways += f", or continue {newest.name} with 'ralph-tui fleet resume'" if resumable else ""
        raise UsageError(f"no fleet is running in {root}; {ways}")
    if not owner.run:
        raise UsageError(
            f"a fleet is starting here (process {owner.pid}) and checks its completion commands "
            "first; try again once it runs"
        )
    return FleetFolder(fleets_folder(root) / owner.run)


@dataclass(frozen=True)
class _Loop:
    """A loop whose question can be answered."""

    fleet: FleetFolder
    loop: str

    @property
    def name(self) -> str:
        """The loop's name in messages to the user."""
        return f"loop {self.loop}"

    def request(self, name: str, **fields: object) -> int:
        return send_command(self.fleet, self.loop, {"name": name, **fields})


def decide(args: argparse.Namespace) -> int:
    """Show or answer a loop's open question.

    Raises ``RalphError`` if no question is open or the run refuses the answer.
    """
    fleet, loop = _find_target(args.loop)
    args.decide = decide_command(loop)
    args.guide = f"ralph-tui fleet guide {loop}"
    question = _question(fleet, loop)
    if question is None:
        raise RalphError(f"loop {loop} has no open question; see ralph-tui fleet status")
    if args.answer is not None or args.iterations or args.budget:
        return answer_question(_Loop(fleet, loop), question, args)
    print(f"loop {loop} asks in iteration {question['iteration']}\n")
    print(question_text(question, args.decide))
    return 0


def _question(fleet: FleetFolder, name: str) -> Question | None:
    state = read_fleet(fleet.journal).state()
    loop = state.loops.get(name)
    if loop is None:
        known = clip(", ".join(state.loops), 300)
        raise UsageError(f"this fleet has no loop {one_line(name)[:40]!r}; loops: {known}")
    if loop.status != "running":
        return None
    mirror = RecordedRun(fleet.mirror(name, loop.attempt) / "events.jsonl")
    question = read_status(mirror)["question"] if mirror.journal.exists() else None
    return question if isinstance(question, dict) else None
