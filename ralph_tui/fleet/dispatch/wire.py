"""What goes over a host's connection: batches of JSON, in order, both ways."""

import threading
from collections.abc import Callable, Sequence

from pydantic import TypeAdapter, ValidationError

from ralph_tui.fleet.ports import Held, Observation, Order, Recorded, Stands

BATCH_S = 0.08
"""How long what a run records may wait for more of it."""

HELLO, WELCOME, HOLDS = "fleet-hello", "fleet-welcome", "fleet-holds"
DISMISSED, ENDED = "fleet-dismissed", "fleet-ended"
ORDERED, OBSERVED, LEAVING = "fleet-ordered", "fleet-observed", "fleet-leaving"
"""Names of messages."""

_PATIENT = (Recorded, Stands)
"""What may wait; all else goes at once, behind what was said before."""

_order: TypeAdapter[Order] = TypeAdapter(Order)
_observation: TypeAdapter[Observation] = TypeAdapter(Observation)
_held = TypeAdapter(tuple[Held, ...])


def encode(value: Order | Observation) -> str:
    """As one line of JSON."""
    return value.model_dump_json()


def order(line: str) -> Order:
    """Raises ``ValueError`` for what is none."""
    return _order.validate_json(line)


def observation(line: str) -> Observation:
    """Raises ``ValueError`` for what is none."""
    return _observation.validate_json(line)


def encode_held(held: Sequence[Held]) -> str:
    """What a host holds, as JSON."""
    return _held.dump_json(tuple(held)).decode()


def held(text: str) -> tuple[Held, ...]:
    """Raises ``ValueError`` for what is none."""
    return _held.validate_json(text)


def problem(error: ValueError) -> str:
    """What is wrong with a message, shortly."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


class Outbox:
    """Observations on their way out: filled by any thread, emptied by one."""

    def __init__(self, wake: Callable[[float], None]) -> None:
        """`wake` is called, from any thread, with the seconds after which `take` is due."""
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._due = False
        """All of it was said to be due at once."""

    def put(self, what: Observation) -> None:
        """Add one; what waits is due soon, or at once."""
        line, patient = encode(what), isinstance(what, _PATIENT)
        with self._lock:
            first = not self._lines
            self._lines.append(line)
            tell = first or (not patient and not self._due)
            self._due = self._due or not patient
        if tell:
            self._wake(BATCH_S if patient else 0)

    def take(self) -> list[str]:
        """All that waits, as lines of JSON, in order."""
        with self._lock:
            lines, self._lines, self._due = self._lines, [], False
        return lines
