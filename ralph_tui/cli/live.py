"""A run in another process: found by its lock, commanded through its socket.

This module imports no third-party package, so that the commands that use it start fast.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.folders import (
    attempt_folder,
    named_path,
    ralph_folder,
    worktree_root,
)
from ralph_tui.adapters.records.lock import Owner, owner_of, worker
from ralph_tui.adapters.records.run_status import Question, RunStatus
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import has_process, read_status
from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.runtime.sources.find_run import find_ours
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.terms import answer_word, outcome_word

GUIDANCE_WAY = "sent during the session if the agent accepts it, else with the next prompt"
TEXT_LIMIT = 100_000
"""Maximum length of a text for the agent, in characters."""


@dataclass(frozen=True)
class LiveRun:
    """A live run, with a status at most a second old."""

    run: RecordedRun
    owner: Owner
    status: RunStatus

    @property
    def name(self) -> str:
        """The name, such as ``task-001/002``, or ``fleet-001/3a`` for a fleet's loop."""
        return self.run.name

    @property
    def question(self) -> Question | None:
        """The open question, with the fields of `QuestionAsked`, or None."""
        question = self.status["question"]
        return question if isinstance(question, dict) else None

    def request(self, name: str, **fields: object) -> int:
        """Send a command; return the number of the first event that it caused.

        Raises ``RalphError`` with the run's reason, or if the run cannot be reached.
        """
        if self.owner.host != socket.gethostname():
            raise RalphError(
                f"{self.run.name} is running on {self.owner.host}; run the command there"
            )
        if not self.owner.socket:
            raise RalphError(
                f"the run {self.run.name} has no command socket (see its log); use its own terminal"
            )
        return request(
            Path(self.owner.socket),
            {"name": name, **fields},
            PATIENCE_S,
            lambda: owner_of(self.run.lock, self.owner.run_id) is not None,
            loop=self.run.loop or None,
        )


def find_live(name: str | None) -> LiveRun:
    """Find the live run named `name`; by default, the one that holds this worktree's lock.

    Raises ``UsageError`` if no such run is live.
    """
    root = worktree_root(Path.cwd())
    with suppress(OSError):  # `find_ours` reports a path that cannot be read
        if name is not None and ralph_folder(named_path(name)).is_dir():
            root, name = named_path(name), None
    run = find_ours(root, name) if name is not None else _worktree_run(root)
    owner = worker(run.lock)
    status = read_status(run) if owner is not None and run.journal.exists() else None
    if owner is None or (status is not None and not has_process(run, status["run_id"])):
        raise _no_live_error(f"the run {run.name} has ended", run)
    if status is None:
        raise _no_live_error("a run is starting here; try again in a second")
    if status["outcome"] is not None:
        ended = f"the run {run.name} has ended ({outcome_word(status['outcome'])})"
        raise _no_live_error(ended, run)
    return LiveRun(run, owner, status)


def _worktree_run(root: Path) -> RecordedRun:
    owner = worker(ralph_folder(root) / "lock")
    if owner is None:
        raise _no_live_error(f"no active run in {one_line(str(root))}")
    if not all(owner.run.partition("/")):
        raise _no_live_error("a run is starting here; try again in a second")
    return RecordedRun(attempt_folder(root, owner.run) / "events.jsonl")


def _no_live_error(sentence: str, run: RecordedRun | None = None) -> UsageError:
    if run is not None and run.loop:
        return UsageError(f"{sentence}; see 'ralph-tui fleet status'")
    return UsageError(
        f"{sentence}; start one with 'ralph-tui run' or 'ralph-tui resume', or choose another "
        "folder with --run"
    )


def sender_name() -> str:
    """Return the sender's name for this process's commands; a run determines it independently."""
    return name_of(os.getpid())


def text_argument(text: str) -> str:
    """Return a text from the command line; ``-`` reads it from standard input.

    Raises ``UsageError`` if it is empty, or longer than a run accepts.
    """
    if text == "-":
        # Enough bytes for twice the limit in any alphabet, so that a longer text is noticed.
        text = sys.stdin.buffer.read(8 * TEXT_LIMIT).decode("utf-8", "replace")
    text = plain(text).strip()
    if not text:
        raise UsageError("the text is empty; type some text, or - to read standard input")
    if len(text) > TEXT_LIMIT:
        raise UsageError(f"the text is longer than {TEXT_LIMIT:,} characters; put it into a file")
    return text


def confirm(question: str) -> bool:
    """Ask on the terminal; anything but yes means no."""
    print(f"{one_line(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def answer_words(question: Question) -> Iterator[str]:
    """Yield the answers that a question offers, without duplicates."""
    names = dict.fromkeys(one_line(option["answer"]) for option in question["options"])
    yield from map(answer_word, names)
