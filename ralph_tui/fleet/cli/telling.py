"""What the loops of a living fleet are told, and the fleet itself, from another terminal."""

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
from ralph_tui.cli.live import confirm, text_argument
from ralph_tui.cli.question_words import question_text
from ralph_tui.fleet.ports import ALL, FLEET
from ralph_tui.fleet.records import FleetFolder, find_fleet, fleets_folder, read_fleet
from ralph_tui.fleet.sources.whole import tell
from ralph_tui.text.sanitize import clip, one_line

HOLDS = {"pause": "begins no other loop until it is unpaused", "unpause": "begins loops again"}
"""What becomes of the queue where all are told."""


def pause(args: argparse.Namespace) -> int:
    """Before the next iteration."""
    return _tell(args.loop, "pause", "pauses before its next iteration")


def unpause(args: argparse.Namespace) -> int:
    """Go on."""
    return _tell(args.loop, "unpause", "goes on")


def guide(args: argparse.Namespace) -> int:
    """Words for the agent."""
    text = text_argument(args.text)
    return _tell(args.loop, "guide", "is told", text=text)


def abort(args: argparse.Namespace) -> int:
    """Give up a loop, or the fleet."""
    fleet = find_live_fleet()
    whole = args.loop == ALL
    what = fleet.name if whole else f"loop {one_line(args.loop)}"
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError(f"nobody can be asked here: say fleet abort {args.loop} --yes")
        if not confirm(f"Give up {what}? The work is kept as a branch."):
            print("nothing was aborted", file=sys.stderr)
            return ExitCode.FAILED
    tell(fleet, FLEET if whole else args.loop, {"name": "abort"})
    unbegun = not whole and _never_began(fleet, args.loop)
    print(f"{what} is aborted; {'it never began' if unbegun else 'its work is collected'}")
    return ExitCode.COMPLETED


def stop(args: argparse.Namespace) -> int:
    """End the fleet."""
    fleet = find_live_fleet()
    tell(fleet, FLEET, {"name": "stop", "mode": "now" if args.now else "after_iteration"})
    when = "now" if args.now else "when the iterations of its loops have ended"
    print(f"{fleet.name} stops {when}; 'ralph-tui fleet resume' goes on with it")
    return ExitCode.COMPLETED


def _tell(loop: str, name: str, done: str, **fields: object) -> int:
    """One line for each loop that was told; raises ``RalphError`` where none heard it."""
    fleet = find_live_fleet()
    heard, refusals = 0, []
    if loop == ALL and name in HOLDS:
        try:
            tell(fleet, FLEET, {"name": name})
        except RefusedError as error:
            refusals.append(str(error))
        else:
            heard += 1
            print(f"{fleet.name} {HOLDS[name]}")
    for one in _meant(fleet, loop):
        try:
            tell(fleet, one, {"name": name, **fields})
        except RefusedError as error:
            whose = f"loop {one}"
            refusals.append(str(error) if whose in str(error) else f"{whose}: {error}")
            continue
        heard += 1
        print(f"loop {one} {done}")
    if not heard:
        raise RalphError("; ".join(refusals[:3]) or "no loop runs now: see ralph-tui fleet status")
    for refusal in refusals:
        print(f"ralph-tui: {one_line(refusal)}", file=sys.stderr)
    return ExitCode.COMPLETED


def _never_began(fleet: FleetFolder, loop: str) -> bool:
    """Whether no run of it has ever begun; its journal tells before the fleet has answered."""
    known = read_fleet(fleet.journal).state().loops.get(loop)
    return known is not None and not known.run_id


def _meant(fleet: FleetFolder, loop: str) -> Iterator[str]:
    """The loop, or all that run."""
    if loop != ALL:
        yield loop
        return
    state = read_fleet(fleet.journal).state()
    yield from (name for name, one in state.loops.items() if one.status == "running")


def find_live_fleet() -> FleetFolder:
    """The fleet that runs in this repository; raises ``UsageError`` where none does."""
    root = worktree_root(Path.cwd())
    owner = worker(fleets_folder(root) / "lock")
    if owner is None:
        find_fleet(root)  # says so where there never was one
        raise UsageError(
            f"no fleet runs in {root}; start one with 'ralph-tui fleet run', or go on with the "
            "last one with 'ralph-tui fleet resume'"
        )
    if not owner.run:
        raise UsageError(
            f"a fleet is starting here (process {owner.pid}) and checks its completion commands "
            "first; try again once it runs"
        )
    return FleetFolder(fleets_folder(root) / owner.run)


@dataclass(frozen=True)
class _Loop:
    """A loop that can be told an answer."""

    fleet: FleetFolder
    loop: str

    @property
    def name(self) -> str:
        """What its user calls it."""
        return f"loop {self.loop}"

    def request(self, name: str, **fields: object) -> int:
        """Give it a command."""
        return tell(self.fleet, self.loop, {"name": name, **fields})


def decide(args: argparse.Namespace) -> int:
    """Show it, or answer it. Raises ``RalphError`` where there is none, or the run refuses."""
    fleet = find_live_fleet()
    args.decide = f"ralph-tui fleet decide {args.loop}"
    args.guide = f"ralph-tui fleet guide {args.loop}"
    question = _question(fleet, args.loop)
    if question is None:
        raise RalphError(f"no question of loop {args.loop} is open; see ralph-tui fleet status")
    if args.answer is not None or args.iterations or args.budget:
        return answer_question(_Loop(fleet, args.loop), question, args)
    print(f"loop {args.loop} asks in iteration {question['iteration']}\n")
    print(question_text(question, args.decide))
    return 0


def _question(fleet: FleetFolder, name: str) -> Question | None:
    state = read_fleet(fleet.journal).state()
    loop = state.loops.get(name)
    if loop is None:
        known = clip(", ".join(state.loops), 300)
        raise UsageError(f"this fleet has no loop {one_line(name)[:40]!r}: it has {known}")
    if loop.status != "running":
        return None
    mirror = RecordedRun(fleet.mirror(name, loop.attempt) / "events.jsonl")
    question = read_status(mirror)["question"] if mirror.journal.exists() else None
    return question if isinstance(question, dict) else None
