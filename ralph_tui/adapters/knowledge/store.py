"""The knowledge of a repository, ``.aiwg/knowledge``, as used by one run or by the user.

Every change is read, decided and written under the lock, so that simultaneous changes by runs and
the user are not lost. Knowledge is written before staging: see `ledger`.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from ralph_tui.adapters.knowledge.files import KnowledgeFile, Stamp, moment
from ralph_tui.adapters.knowledge.ledger import Ledger
from ralph_tui.adapters.knowledge.locking import locked
from ralph_tui.adapters.knowledge.lookup import Lookup, Scores, no_scores
from ralph_tui.base.errors import KnowledgeError
from ralph_tui.base.file_lock import PATIENCE_S
from ralph_tui.events.memory import Change, Learning
from ralph_tui.layers.memory.knowledge import DEFAULTS
from ralph_tui.layers.memory.retrieval import Candidate
from ralph_tui.layers.settings import MemorySettings
from ralph_tui.ports.knowledge import Credit, Promotion
from ralph_tui.text.sanitize import one_line

OWNER = ""
"""Used in place of a run's id when the user makes changes on the command line."""


def knowledge_folder(root: Path) -> Path:
    """Return the folder of a worktree's knowledge."""
    return root / ".aiwg" / "knowledge"


class KnowledgeStore:
    """Implementation of `ports.Knowledge`; several threads may call it."""

    def __init__(
        self,
        folder: Path,
        run: str = OWNER,
        *,
        settings: MemorySettings = DEFAULTS,
        scores: Scores = no_scores,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience_s: float = PATIENCE_S,
    ) -> None:
        """`run` is the run's id; `patience_s` is how long to wait for another writer."""
        self.folder = folder
        self.run = run
        self._settings = settings
        self._now = now
        self._scores = scores
        self._patience_s = patience_s
        self._notices: deque[str] = deque()
        self._learnings = KnowledgeFile(
            folder / "ralph-learnings.json",
            "learnings",
            backup=settings.backup,
            warn=self._notices.append,
        )
        self._staged = KnowledgeFile(
            folder / "staging.json", "staged", backup=False, warn=self._notices.append
        )
        self._archive = KnowledgeFile(
            folder / "archive.json", "learnings", backup=False, warn=self._notices.append
        )
        self._lookup: tuple[tuple[Stamp | None, Stamp | None], Lookup] | None = None
        self._one_at_a_time = Lock()

    def candidates(self, objective: str, task_type: str) -> Sequence[Candidate]:
        """Return the candidates for an objective; files are reread only if they have changed."""
        with self._one_at_a_time:
            self._refresh()
            lookup = self._current_lookup()
            state = f"{self._learnings.checksum} {self._staged.checksum} {self.run}"
            return lookup.candidates(self._scores(objective, state, lookup.texts), task_type)

    def stage(self, learnings: Sequence[Learning]) -> None:
        if learnings:
            self.update(lambda ledger: ledger.stage(learnings))

    def credit(self, given: Sequence[Credit]) -> None:
        if given:
            self.update(lambda ledger: ledger.credit(given))

    def rest(self, looked_up: Collection[str]) -> None:
        """Like `Knowledge.rest`; writes only if something changes."""
        with self._one_at_a_time:
            self._refresh()
            ledger = self._ledger()
            ledger.rest(looked_up)
            if not self._is_changed(ledger):
                return
        self.update(lambda ledger: ledger.rest(looked_up))

    def promote(self) -> Sequence[Promotion]:
        with self._one_at_a_time:
            self._refresh()
            ledger = self._ledger()
            ledger.promote()
            if not self._is_changed(ledger):
                return ledger.promotions()
        return self.update(Ledger.promote).promotions()

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        def changed(ledger: Ledger) -> None:
            if not ledger.change(learning_id, change, text):
                raise KnowledgeError(
                    f"no learning {one_line(learning_id)[:80]!r}; "
                    "'ralph-tui memory list' shows all ids"
                )

        after = self.update(changed)
        return None if change == "delete" else after.find(learning_id)

    def take_notices(self) -> Sequence[str]:
        notices = []
        # Without the lock, because the engine's thread calls this while a job may be waiting.
        while self._notices:
            notices.append(self._notices.popleft())
        return list(dict.fromkeys(notices))

    def ledger(self) -> Ledger:
        """Return both lists as they are now; raise ``KnowledgeError`` if that is impossible."""
        with self._one_at_a_time:
            self._refresh()
            return self._ledger()

    def update(self, change: Callable[[Ledger], object]) -> Ledger:
        """Read, change and write both lists under the lock; return the changed lists.

        Raises ``KnowledgeError``; if `change` raises, nothing is written.
        """
        with self._one_at_a_time, self._locked():
            ledger = self._ledger()
            change(ledger)
            if archived := ledger.archive():
                self._archive.repair()
                at = datetime.fromisoformat(ledger.at)
                self._archive.write([*self._archive.entries, *archived], at)
            self._write(ledger)
            return ledger

    def _write(self, ledger: Ledger) -> None:
        at = datetime.fromisoformat(ledger.at)
        if ledger.learnings is not self._learnings.entries:
            self._learnings.write(ledger.learnings, at)
        if ledger.staged is not self._staged.entries:
            self._staged.write(ledger.staged, at)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, with both files read and sound."""
        with locked(self.folder / "lock", self._patience_s):
            mended = self._learnings.repair()
            self._staged.repair()
            if mended:
                ledger = self._ledger()
                ledger.restage_lost(by_hand=mended == "edited")
                self._write(ledger)
            yield

    def _refresh(self) -> None:
        """Read files that have changed; the lock is needed only for files that are not sound."""
        sound = self._learnings.refresh()
        if not (self._staged.refresh() and sound):
            with self._locked():
                pass

    def _ledger(self) -> Ledger:
        at = moment(self._now())
        return Ledger(self._learnings.entries, self._staged.entries, self.run, at, self._settings)

    def _is_changed(self, ledger: Ledger) -> bool:
        same = ledger.learnings is self._learnings.entries and ledger.staged is self._staged.entries
        return not same

    def _current_lookup(self) -> Lookup:
        stamps = self._learnings.stamp, self._staged.stamp
        if self._lookup is None or self._lookup[0] != stamps:
            before = self._lookup[1] if self._lookup is not None else None
            lookup = Lookup(self._learnings.entries, self._staged.entries, self.run, before)
            self._lookup = stamps, lookup
        return self._lookup[1]
