"""The knowledge of a repository, ``.aiwg/knowledge``, as one run uses it, or its owner.

Every change is read, decided and written under the lock, so that runs and their owner change it at
once without a loss. Knowledge is written before staging: see `ledger`.
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
from ralph_tui.layers.memory.retrieval import Candidate
from ralph_tui.ports.knowledge import Credit, Promotion
from ralph_tui.text.sanitize import one_line

OWNER = ""
"""The run that is none: what the command line does is done for the owner."""


def knowledge_folder(root: Path) -> Path:
    """Where the knowledge of a worktree is."""
    return root / ".aiwg" / "knowledge"


class KnowledgeStore:
    """See `ports.Knowledge`, which it implements; its calls may come from several threads."""

    def __init__(
        self,
        folder: Path,
        run: str = OWNER,
        *,
        scores: Scores = no_scores,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience_s: float = PATIENCE_S,
    ) -> None:
        """`run`: the run's id; `patience_s`: how long another writer is waited for."""
        self.folder = folder
        self.run = run
        self._now = now
        self._scores = scores
        self._patience_s = patience_s
        self._notices: deque[str] = deque()
        self._learnings = KnowledgeFile(
            folder / "ralph-learnings.json", "learnings", backup=True, tell=self._notices.append
        )
        self._staged = KnowledgeFile(
            folder / "staging.json", "staged", backup=False, tell=self._notices.append
        )
        self._lookup: tuple[tuple[Stamp | None, Stamp | None], Lookup] | None = None
        self._one_at_a_time = Lock()

    def candidates(self, objective: str, task_type: str) -> Sequence[Candidate]:
        """What may fit; the files are read again only when they have changed."""
        with self._one_at_a_time:
            self._look()
            lookup = self._of_now()
            return lookup.candidates(self._scores(objective, lookup.texts()), task_type)

    def stage(self, learnings: Sequence[Learning]) -> None:
        """Keep what this run has learned, once each."""
        if learnings:
            self.update(lambda ledger: ledger.stage(learnings))

    def credit(self, given: Sequence[Credit]) -> None:
        """Count uses and successes, each once."""
        if given:
            self.update(lambda ledger: ledger.credit(given))

    def rest(self, looked_up: Collection[str]) -> None:
        """Count this run for what was dropped, once each; written only where that is news."""
        with self._one_at_a_time:
            self._look()
            ledger = self._ledger()
            ledger.rest(looked_up)
            if not self._is_changed(ledger):
                return
        self.update(lambda ledger: ledger.rest(looked_up))

    def promote(self) -> Sequence[Promotion]:
        """Make knowledge of what is proven; gives back every promotion this run has made."""
        with self._one_at_a_time:
            self._look()
            ledger = self._ledger()
            ledger.promote()
            if not self._is_changed(ledger):
                return ledger.promotions()
        return self.update(Ledger.promote).promotions()

    def change(self, learning_id: str, change: Change, text: str = "") -> Learning | None:
        """Carry out an owner's wish; the learning as it stands now, None when it is deleted."""

        def changed(ledger: Ledger) -> None:
            if not ledger.change(learning_id, change, text):
                raise KnowledgeError(
                    f"there is no learning {one_line(learning_id)[:80]!r}: "
                    "'ralph-tui memory list' names them"
                )

        after = self.update(changed)
        return None if change == "delete" else after.find(learning_id)

    def take_notices(self) -> Sequence[str]:
        """What the owner is to be told of the files since the last call, a sentence each."""
        told = []
        while self._notices:  # without the lock: the engine's thread asks while a job may wait
            told.append(self._notices.popleft())
        return list(dict.fromkeys(told))

    def ledger(self) -> Ledger:
        """Both lists as they are now; ``KnowledgeError``."""
        with self._one_at_a_time:
            self._look()
            return self._ledger()

    def update(self, change: Callable[[Ledger], object]) -> Ledger:
        """Read, change and write both lists under the lock; what there is afterwards.

        Raises ``KnowledgeError``; nothing is written when `change` raises.
        """
        with self._one_at_a_time, self._locked():
            ledger = self._ledger()
            change(ledger)
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
        """Hold the lock over files that are sound and read."""
        with locked(self.folder / "lock", self._patience_s):
            mended = self._learnings.mend()
            self._staged.mend()
            if mended:
                ledger = self._ledger()
                ledger.knowledge_lost(by_hand=mended == "edited")
                self._write(ledger)
            yield

    def _look(self) -> None:
        """Read what has changed; only what is not sound needs the lock."""
        sound = self._learnings.look()
        if not (self._staged.look() and sound):
            with self._locked():
                pass

    def _ledger(self) -> Ledger:
        at = moment(self._now())
        return Ledger(self._learnings.entries, self._staged.entries, self.run, at)

    def _is_changed(self, ledger: Ledger) -> bool:
        same = ledger.learnings is self._learnings.entries and ledger.staged is self._staged.entries
        return not same

    def _of_now(self) -> Lookup:
        stamps = self._learnings.stamp, self._staged.stamp
        if self._lookup is None or self._lookup[0] != stamps:
            before = self._lookup[1] if self._lookup is not None else None
            lookup = Lookup(self._learnings.entries, self._staged.entries, self.run, before)
            self._lookup = stamps, lookup
        return self._lookup[1]
