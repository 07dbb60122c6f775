"""The host of a loop: a clock that tests advance, and jobs that finish at once."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ralph_tui.events import Event
from ralph_tui.ports.host import Job

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """Time that moves only when a test advances it."""

    def __init__(self, began: datetime = BEGAN) -> None:
        self.began = began
        self.seconds = 0.0
        """Passed since it began."""

    def now(self) -> datetime:
        return self.began + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class FakeHost:
    """Jobs are done at once; what they came to waits in the inbox like everything else."""

    def __init__(self, began: datetime = BEGAN) -> None:
        self.clock = FakeClock(began)
        self.inbox: deque[object] = deque()
        self.idle: deque[object] = deque()
        """Given out one by one when nothing else is there: commands that come while waiting."""
        self.hangs: Callable[[str], bool] = lambda name: False
        """Which jobs, by name, never end."""
        self.record: Callable[[Event], object] = lambda event: None
        """Receives each event."""

    def start(self, name: str, work: Callable[[], object]) -> Job:
        job = Job(name)
        if self.hangs(name):
            return job
        try:
            job.result = work()
        except Exception as error:  # noqa: BLE001  as the engine does
            job.error = error
        self.inbox.append(job)
        return job

    def receive(self, timeout: float) -> object | None:
        if self.inbox:
            return self.inbox.popleft()
        self.clock.seconds += timeout
        if self.idle:
            item = self.idle.popleft()
            return item() if callable(item) else item
        return None

    def emit(self, event: Event) -> None:
        self.inbox.append(event)
