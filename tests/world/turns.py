"""A run and its observer take turns: the run waits while the observer looks at its last event."""

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

from ralph_tui.events import Event


class _ObserverDone(BaseException):
    """The observer has seen enough; the run ends where it is."""


class Turns:
    """Yields the events of a run one by one to the consumer of `of`."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Event | BaseException | None] = SimpleQueue()
        self._turn = threading.Semaphore(0)
        self._left = False

    def give(self, event: Event) -> None:
        """In the run: give this event to the observer, and wait until it asks for the next."""
        self._given.put(event)
        self._await_turn()

    def of(self, run: Callable[[], None]) -> Iterator[Event]:
        """The events that `run` gives; what it raises is raised here."""
        thread = threading.Thread(target=self._carry_out, args=(run,), daemon=True)
        thread.start()
        try:
            while True:
                self._turn.release()
                match self._given.get():
                    case None:
                        return
                    case BaseException() as error:
                        raise error
                    case event:
                        yield event
        finally:
            self._left = True
            self._turn.release()
            thread.join()

    def _carry_out(self, run: Callable[[], None]) -> None:
        end: BaseException | None = None
        try:
            self._await_turn()
            run()
        except _ObserverDone:
            pass
        except BaseException as error:  # noqa: BLE001  raised where the run is looked at
            end = error
        self._given.put(end)

    def _await_turn(self) -> None:
        self._turn.acquire()
        if self._left:
            raise _ObserverDone
