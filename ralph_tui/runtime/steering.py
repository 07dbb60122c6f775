"""Commands from the cockpit of a run in this process, before, during and after the run.

They wait until the engine exists. After the end only restores are possible. The run then holds no
lock, so each restore takes the worktree's lock. It is refused if another process has resumed the
run, which the screen shows as soon as that is recorded.
"""

import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.lock import owner_of
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Command, Restore, Stop, over
from ralph_tui.events import Event
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.runtime.sources.live import Live
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import outcome_word

if TYPE_CHECKING:
    from ralph_tui.runtime.assembly import AssembledRun

LOOK_S = 1.0
"""How often to check whether another terminal has resumed the run, in seconds."""


class Steering:
    """Passes commands to the engine, and carries out restores after the end."""

    def __init__(self, inbox: deque[Event], deliver: Callable[[Event], None]) -> None:
        """`inbox` is read by the screen's source; events recorded after the end go to `deliver`."""
        self.live = Live(inbox, self.send)
        self._deliver = deliver
        self._run: AssembledRun | None = None
        self._waiting: list[Command] = []
        self._lock = threading.Lock()
        self._restores: SimpleQueue[Restore | None] = SimpleQueue()

    @property
    def over(self) -> bool:
        """True until a run is attached, and once it has ended."""
        return self._run is None or over(self._run.engine.state) is not None

    def attach(self, run: "AssembledRun") -> None:
        """Attach the run, and pass on the commands received so far."""
        with self._lock:
            self._run = run
            for command in self._waiting:
                self._request(run, command)

    def send(self, command: Command) -> None:
        """Pass a command to the engine, or keep it until there is one; callable from any thread."""
        with self._lock:
            if self._run is None:
                self._waiting.append(command)
            elif isinstance(command, Restore) and self.over:
                self._restores.put(command)
            else:
                self._request(self._run, command)

    def stop(self, by: str) -> None:
        """Stop the run gracefully."""
        self.send(Stop(by=by))

    def _request(self, run: "AssembledRun", command: Command) -> None:
        def reply(answer: Accepted | Refused) -> None:
            if isinstance(answer, Refused):
                self.live.refused.append((command, answer.reason))

        run.engine.request(command, reply)

    def leave(self) -> None:
        """End `serve` once the requested restores are done."""
        self._restores.put(None)

    def serve(self, run: "AssembledRun") -> None:
        """Carry out restores after the end, until the screen is left."""
        past, shown = RecordedRun(run.attempt.journal), run.engine.state.seq
        started = run.engine.state.run.started
        known = _size(past)
        while True:
            try:
                wish = self._restores.get(timeout=LOOK_S)
            except Empty:
                if _size(past) != known:
                    self._report_successor(past, started.run_id if started else "")
                continue
            if wish is None:
                return
            # Loads git, which few screens need.
            from ralph_tui.runtime.restoring import restore_ended  # noqa: PLC0415

            try:
                recorded = restore_ended(past, wish.snapshot, wish.by, shown)
            except (RalphError, OSError) as error:
                self.live.refused.append((wish, one_line(str(error))))
            else:
                shown, known = shown + len(recorded), _size(past)
                for event in recorded:
                    self._deliver(event)

    def _report_successor(self, past: RecordedRun, run_id: str) -> None:
        """Report that the journal has more events than this screen shows."""
        shows = f"ralph-tui attach {past.name} shows it"
        if owner_of(past.lock, run_id) is not None:
            self.live.note = self.live.overtaken = f"it continues in another terminal: {shows}"
            return
        try:
            outcome = str(read_status(past)["outcome"] or "died")
        except (RalphError, OSError):
            outcome = "died"
        said = f"another terminal continued it; it is {outcome_word(outcome)} now: {shows}"
        # A run that is not completed can be continued, from here as well.
        self.live.note, self.live.overtaken = said, said if outcome == "completed" else ""


def _size(run: RecordedRun) -> int:
    """Return the size of the journal in bytes; -1 if it cannot be read."""
    try:
        return run.journal.stat().st_size
    except OSError:
        return -1
