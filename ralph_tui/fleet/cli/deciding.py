"""``fleet decide``: the open question of a loop, and an answer to it."""

import argparse
from dataclasses import dataclass

from ralph_tui.adapters.records.run_status import Question
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.cli.answering import answer_question
from ralph_tui.cli.question_words import question_text
from ralph_tui.errors import RalphError, UsageError
from ralph_tui.fleet.cli.living import find_live_fleet
from ralph_tui.fleet.host.notes import tell
from ralph_tui.fleet.records.folders import FleetFolder
from ralph_tui.fleet.records.reading import read_fleet
from ralph_tui.text.sanitize import clip, one_line


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
