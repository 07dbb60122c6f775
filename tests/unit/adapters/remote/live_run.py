"""A real engine with a real socket for the tests of the command socket."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.commands import Stop
from ralph_tui.events import Event, QuestionAsked, RunFinished, RunStarted
from ralph_tui.events.waiting import Option
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine
from tests.waiting import PATIENCE_S

START = RunStarted(
    run_id="r", root="/r", objective="o", agent="fake", max_iterations=3, session_timeout_s=1
)
E = TypeVar("E", bound=Event)
QUESTION = QuestionAsked(
    iteration=1,
    question_id="q1",
    topic="pause",
    text="What now?",
    options=[
        Option(key="y", answer="continue", verb="continue"),
        Option(key="x", answer="abort", verb="abort"),
    ],
)
PAUSE = b'{"version":1,"command":{"name":"pause"}}\n'


@dataclass
class LiveRun:
    """A run that asks a question and obeys, with its socket."""

    engine: Engine
    path: Path
    run_id: str = ""

    def events(self, kind: type[E]) -> list[E]:
        """Recorded events of this type."""
        return [e for e in read_journal(self.engine.journal.path).events if isinstance(e, kind)]

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        """A client that can send arbitrary bytes."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(str(self.path))
            yield client

    def say(self, line: bytes) -> dict[str, object]:
        """Send bytes; return the answer."""
        with self.connected() as client:
            client.sendall(line)
            client.shutdown(socket.SHUT_WR)
            return answer_of(client)


def answer_of(client: socket.socket) -> dict[str, object]:
    with client.makefile("rb") as stream:
        answer = json.loads(stream.readline())
    assert isinstance(answer, dict)
    assert answer["version"] == 1
    return answer


@contextmanager
def working_engine(folder: Path) -> Iterator[Engine]:
    """Record a start and a question, then obey until stopped."""
    clock = SystemClock()
    engine = Engine(Journal(folder / "events.jsonl", clock), clock, status=folder / "status.json")
    scheduler = Scheduler(engine, engine.state)

    def run() -> None:
        engine.record(START)
        engine.record(QUESTION)
        try:
            scheduler.wait_until(lambda: False, idle=True)
        except Ended as end:
            engine.record(
                RunFinished(outcome=end.outcome, reason=end.reason, iterations=1, completion=0)
            )

    engine.start_thread(run, scheduler.stop_work)
    try:
        yield engine
    finally:
        engine.send(Stop())
        assert engine.join(PATIENCE_S)
        assert engine.state.run.crash is None
