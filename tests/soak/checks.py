"""Invariants of a run while no process works on it, however it was killed."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from ralph_tui import events as ev
from ralph_tui.adapters.processes.keeper import process_table
from ralph_tui.adapters.records.journal import Recording, read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import RalphError
from ralph_tui.cli.status_words import status_text
from tests.soak.figures import Figures
from tests.soak.place import differences, git, protected_files, tree_of

NOT_TAKEN = "no snapshot taken"
"""The run's message about a missing snapshot."""
LIMIT_S = 6.0
"""Seconds within which everything of a killed run must be gone."""


class RunChecker:
    """Compares a run's folder with its earlier state."""

    def __init__(self, folder: Path, figures: Figures) -> None:
        self.folder = folder
        self.figures = figures
        self.where = folder.parent.name
        """Prefix of each problem."""
        self.mine = protected_files(folder)
        """Must not change."""
        self._known = b""
        """Whole journal lines read so far."""

    def problem(self, text: str, files: int = 0) -> None:
        """Something is wrong; `files` are lost."""
        self.figures.files_lost += files
        self.figures.problems.append(f"{self.where}: {text}")

    def wait_until_gone(self, began: float, left: Callable[[], set[int]]) -> None:
        """Wait until none of these processes is left; `began` is the moment of the kill."""
        while left():
            seconds = time.monotonic() - began
            if seconds > LIMIT_S:
                self.problem(f"alive after {seconds:.1f} s: {left()}")
                return
            time.sleep(0.02)
        took = time.monotonic() - began
        self.figures.orphan_seconds = max(self.figures.orphan_seconds, took)

    def compare(self, before: bytes, now: bytes) -> None:
        """Two states of the journal: each whole line that was there is there."""
        known = max(self._known, before[: before.rfind(b"\n") + 1], key=len)
        if not now.startswith(known):
            lost = sum(line not in now for line in known.splitlines())
            self.figures.events_lost += lost
            self.problem(f"{lost} events are lost")
        self._known = now[: now.rfind(b"\n") + 1]
        self.figures.events_before += known.count(b"\n")

    def at(self, run: RecordedRun, *, over: bool) -> None:
        """Check the journal, the status, the user's files and the snapshots of an idle run."""
        recording = read_journal(run.journal)
        self.figures.torn += recording.torn
        if recording.problem:
            self.problem(recording.problem)
        if not over:
            text = status_text(read_status(run))
            if ": its process is gone" not in text:
                self.problem(f"status says {text}")
        now = protected_files(self.folder)
        if changed := [name for name, was in self.mine.items() if now[name] != was]:
            self.problem(f"changed: {', '.join(changed)}", files=len(changed))
        if locks := locks_of(self.folder / ".git"):
            self.problem(f"locks of git are left: {locks}")
        for number in missing_snapshots(recording.events):
            self.problem(f"iteration {number} has no snapshot, and nobody was told")
        for path in lost_handoffs(recording.events, run.folder):
            self.problem(f"{path} was left, and no prompt tells it")
        for text in repeated_texts(recording.events):
            self.problem(f"recorded twice: {text}")
        if aside := sorted((self.folder / ".aiwg/knowledge").glob("*.damaged.*")):
            self.problem(f"knowledge files were damaged: {aside}", files=len(aside))
        taken = _snapshots(recording)
        self.figures.snapshots += len(taken)
        for event in taken:
            tree = git(self.folder, "rev-parse", f"{event.ref}^{{tree}}").decode().strip()
            if tree != event.tree:
                self.problem(f"{event.ref} holds another tree", files=1)
        try:
            git(self.folder, "fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        except AssertionError as error:
            self.problem(str(error), files=1)

    def at_restore(self, before: str) -> None:
        """Check that the tree `before`, which a restore may have overwritten, is saved."""
        if not before or tree_of(self.folder) == before:
            return
        refs = git(self.folder, "for-each-ref", "--format=%(tree)", "refs/ralph/").decode()
        if before not in refs:
            self.problem("a restore overwrote files that no snapshot has", files=1)

    def check_restore(self, run: RecordedRun) -> None:
        """Bring the last snapshot back over a worktree that was tampered with, and compare."""
        recording = read_journal(run.journal)
        tree, run_id = _snapshots(recording)[-1].tree, first_event(recording).run_id
        _tamper(self.folder)
        try:
            GitWorkspace(open_repository(self.folder), run_id).restore(tree)
        except RalphError as error:
            self.problem(f"not restored: {error}")
        wrong = differences(self.folder, tree)
        self.figures.restores += 1
        if wrong:
            self.problem(f"restored, and different: {wrong}", files=len(wrong))
        if protected_files(self.folder) != self.mine:
            self.problem("the restore changed what is the owner's", files=1)


def first_event(recording: Recording) -> ev.RunStarted:
    start = recording.events[0]
    assert isinstance(start, ev.RunStarted)
    return start


def _snapshots(recording: Recording) -> list[ev.SnapshotTaken]:
    return [event for event in recording.events if isinstance(event, ev.SnapshotTaken)]


def missing_snapshots(events: Iterable[ev.Event]) -> list[int]:
    """Iterations that ended without a snapshot of what their session did, in silence."""
    found, reported = [], True
    for event in events:
        match event:
            case ev.IterationStarted() | ev.SessionFinished():
                reported = False
            case ev.SnapshotTaken():
                reported = True
            case ev.Noticed(level="error", text=text) if text.startswith(NOT_TAKEN):
                reported = True
            case ev.IterationFinished() if not reported:
                found.append(event.iteration)
            case _:
                pass
    return found


def lost_handoffs(events: Iterable[ev.Event], folder: Path) -> list[str]:
    """Handoffs that the prompt after them does not tell."""
    found, left = [], ""
    for event in events:
        match event:
            case ev.HandoffWritten():
                left = event.read_at
            case ev.PromptPrepared() if left:
                if left not in (folder / event.path).read_text():
                    found.append(left)
                left = ""
            case _:
                pass
    return found


def repeated_texts(events: Iterable[ev.Event]) -> list[str]:
    """Return what a run says about its memory and repeats after a resume."""
    said = [text for event in events if (text := _of_memory(event)) is not None]
    return [text for text, times in Counter(said).items() if times > 1]


def _of_memory(event: ev.Event) -> str | None:
    match event:
        case ev.LearningStaged():
            return f"staged {event.learning.learning_id}"
        case ev.LearningCredited():
            return f"credited {event.learning_id} with iteration {event.iteration}"
        case ev.LearningPromoted():
            return f"promoted {event.staged_id}"
        case ev.PlanMade():
            return "the plan"
        case ev.ReflectionWritten():
            return f"reflection: {event.model_dump_json(exclude={'seq', 'at'})}"
    return None


def locks_of(git_dir: Path) -> list[str]:
    """Locks that the user's git would meet; ralph-tui clears its own at its next command."""
    names = [str(path.relative_to(git_dir)) for path in git_dir.rglob("*.lock")]
    return [name for name in names if not name.startswith(("ralph-tui/", "refs/ralph/"))]


def live_processes() -> set[tuple[int, str]]:
    """All processes, each by pid and start."""
    return {(entry.pid, entry.started) for entry in process_table().values() if entry.alive}


def _tamper(folder: Path) -> None:
    """Change, delete, add, link and unlink."""
    (folder / "abacus" / "lexer.py").write_text("broken\n")
    (folder / "abacus" / "parser.py").unlink()
    (folder / "tool.sh").chmod(0o644)
    (folder / "notes.txt").unlink()
    (folder / "a folder" / "ünï cödé.txt").unlink()
    (folder / "link").unlink()
    (folder / "link").write_text("no link\n")
    (folder / "data.bin").unlink()
    (folder / "data.bin").symlink_to("elsewhere")
    (folder / "new.txt").write_text("new\n")
