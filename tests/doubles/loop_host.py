"""A host whose loops are played: each records numbered lines, and nothing else happens."""

import json
import os
import threading
import time
from dataclasses import dataclass, field

from ralph_tui.fleet.ports import (
    Adopt,
    Began,
    Collect,
    CommandAnswered,
    End,
    Ended,
    LoopSummary,
    Observe,
    Order,
    Recorded,
    SendCommand,
)
from ralph_tui.ports.clones import Collected, Place


@dataclass
class _FakeLoop:
    attempt: int
    lines: list[str] = field(default_factory=list)
    alive: bool = True
    reported_until: int = 0
    """The last line that was observed."""


class PlayedHost:
    """A `LoopHost` in memory.

    A loop records its lines as fast as ``per_second`` of its settings says, until it has
    ``count`` of them; 0 lines a second: none.
    """

    def __init__(self, observe: Observe) -> None:
        self.observe = observe
        self.loops: dict[str, _FakeLoop] = {}
        self.closed = threading.Event()
        self.lost = threading.Event()
        self.obeyed: list[Order] = []
        self.home = ""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def holds(self) -> tuple[LoopSummary, ...]:
        with self._lock:
            return tuple(
                LoopSummary(loop=name, attempt=loop.attempt, alive=loop.alive, seq=len(loop.lines))
                for name, loop in self.loops.items()
            )

    def on_fleet_lost(self) -> None:
        self.lost.set()

    def on_fleet_found(self, fleet_id: str) -> None:
        self.lost.clear()

    def close(self) -> None:
        self.closed.set()
        for thread in self._threads:
            thread.join()
        for name, loop in self.loops.items():
            self._end(name, loop, "interrupted")

    def obey(self, order: Order) -> None:
        self.obeyed.append(order)
        if isinstance(order, Place):
            self._place(order)
        elif isinstance(order, Adopt) and order.loop in self.loops:
            self._follow(order.loop, order.seen)
        elif isinstance(order, SendCommand):
            self.observe(CommandAnswered(id=order.id, accepted=1))
        elif isinstance(order, End):
            self._end(order.loop, self.loops[order.loop], "aborted")
        elif isinstance(order, Collect):
            bundle = os.urandom(int(order.loop))  # its name says how much there is to collect
            self.observe(
                Collected(
                    loop=order.loop,
                    attempt=order.attempt,
                    branch="work",
                    commit="abc",
                    bundle=bundle,
                )
            )

    def _place(self, order: Place) -> None:
        name = order.loop.id
        with self._lock:
            if name in self.loops:
                return
            loop = self.loops[name] = _FakeLoop(order.attempt)
        self.observe(
            Began(loop=name, attempt=order.attempt, run_id=str(os.getpid()), run="1", folder="/")
        )
        options = order.loop.settings
        rate, count = float(options.get("per_second", "0")), int(options.get("count", "0"))
        if rate:
            thread = threading.Thread(target=self._record, args=(name, loop, rate, count))
            self._threads.append(thread)
            thread.start()

    def _record(self, name: str, loop: _FakeLoop, rate: float, count: int) -> None:
        number, began = 0, time.monotonic()
        while (count == 0 or number < count) and not self.closed.is_set():
            due = int((time.monotonic() - began) * rate)
            now = time.time()
            fresh = [
                _line(n, now, now - (time.monotonic() - began - n / rate))
                for n in range(number + 1, min(due, count or due) + 1)
            ]
            number += len(fresh)
            with self._lock:
                loop.lines += fresh
            self._follow(name, loop.reported_until)
            self.closed.wait(max(1 / rate, 0.01))

    def _follow(self, name: str, seen: int) -> None:
        with self._lock:
            loop = self.loops[name]
            fresh = tuple(loop.lines[seen:])
            loop.reported_until = len(loop.lines)
            if fresh:
                self.observe(Recorded(loop=name, attempt=loop.attempt, seq=seen + 1, lines=fresh))

    def _end(self, name: str, loop: _FakeLoop, outcome: str) -> None:
        with self._lock:
            ended, loop.alive = loop.alive, False
        if ended:
            self.observe(
                Ended.model_validate(
                    {"loop": name, "attempt": loop.attempt, "outcome": outcome, "seq": 1}
                )
            )


def _line(number: int, at: float, due: float) -> str:
    """As long as many an event. `due` is when it was to be recorded: both in seconds since 1970."""
    return json.dumps({"seq": number, "at": at, "due": due}).ljust(300)
