"""A run that lives in another process: found by its lock, commanded through its socket.

Shared by the commands of another terminal; the standard library is all that is loaded.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.folders import named_path, ralph_folder, worktree_root
from ralph_tui.adapters.records.lock import Owner, owner_of, worker
from ralph_tui.adapters.records.run_status import Question, RunStatus
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.runtime.sources.found import find_ours
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.terms import answer_word, outcome_word

TEXT_LIMIT = 100_000
"""Characters of words for the agent."""


@dataclass(frozen=True)
class LiveRun:
    """A living run, and how it stood within the last second."""

    run: RecordedRun
    owner: Owner
    status: RunStatus

    @property
    def name(self) -> str:
        """Task and attempt."""
        return self.run.name

    @property
    def question(self) -> Question | None:
        """The question that is open: the fields of `QuestionAsked`."""
        question = self.status["question"]
        return question if isinstance(question, dict) else None

    def request(self, name: str, **fields: object) -> int:
        """Give it a command; the number of the first event that this caused.

        Raises ``RalphError`` with the run's reason, or when it cannot be reached.
        """
        if self.owner.host != socket.gethostname():
            raise RalphError(
                f"the run {self.run.name} lives on {self.owner.host}; command it from there"
            )
        if not self.owner.socket:
            raise RalphError(
                f"the run {self.run.name} has no command socket (its log says why); "
                "command it from its own terminal"
            )
        return request(
            Path(self.owner.socket),
            {"name": name, **fields},
            PATIENCE_S,
            lambda: owner_of(self.run.lock, self.owner.run_id) is not None,
        )


def find_live(name: str | None) -> LiveRun:
    """The living run a user means; without a name the one that holds this worktree's lock.

    Raises ``UsageError`` when there is none.
    """
    root = worktree_root(Path.cwd())
    with suppress(OSError):  # of a path that cannot be looked at `find_ours` tells
        if name is not None and ralph_folder(named_path(name)).is_dir():
            root, name = named_path(name), None
    run = find_ours(root, name) if name is not None else _holding(root)
    owner = worker(run.lock)
    status = read_status(run) if owner is not None and run.journal.exists() else None
    if owner is None or (status is not None and owner.run_id != status["run_id"]):
        raise _no_live(f"the run {run.name} is over")
    if status is None:
        raise _no_live("a run is just starting here; try again in a second")
    if status["outcome"] is not None:
        raise _no_live(f"the run {run.name} is over ({outcome_word(status['outcome'])})")
    return LiveRun(run, owner, status)


def _holding(root: Path) -> RecordedRun:
    owner = worker(ralph_folder(root) / "lock")
    if owner is None:
        raise _no_live(f"no run is alive in {one_line(str(root))}")
    task, _, attempt = owner.run.partition("/")
    if not task or not attempt:
        raise _no_live("a run is just starting here; try again in a second")
    folder = ralph_folder(root) / "tasks" / task / "attempts" / attempt
    return RecordedRun(folder / "events.jsonl")


def _no_live(sentence: str) -> UsageError:
    return UsageError(
        f"{sentence}; start one with 'ralph-tui run' or 'ralph-tui resume', or name the folder "
        "of another one with --run"
    )


def here() -> str:
    """How a command of this process is signed; a run finds it out by itself."""
    return name_of(os.getpid())


def text_argument(text: str) -> str:
    """Words from the command line; ``-`` reads them from standard input.

    Raises ``UsageError`` for none, and for more than a run takes.
    """
    if text == "-":
        # Twice as many bytes as the longest text may have, for the sentence about it.
        text = sys.stdin.buffer.read(8 * TEXT_LIMIT).decode("utf-8", "replace")
    text = plain(text).strip()
    if not text:
        raise UsageError("the text is empty; say something, or give - to read standard input")
    if len(text) > TEXT_LIMIT:
        raise UsageError(f"the text is longer than {TEXT_LIMIT:,} characters; put it into a file")
    return text


def confirm(question: str) -> bool:
    """Ask on the terminal; anything but a yes is a no."""
    print(f"{one_line(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def answers(question: Question) -> Iterator[str]:
    """The words that decide it, each once."""
    names = dict.fromkeys(one_line(option["answer"]) for option in question["options"])
    yield from map(answer_word, names)
