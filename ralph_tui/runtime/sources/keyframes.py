"""Copies of a `RunState`, so that a replay can jump back without folding everything again.

Immutable objects (events, rows of the log) are shared. Mutable objects are copied once each, even
if referenced twice. The parts of a fold handle events themselves, so a copy keeps its own parts and
fills in their fields.
"""

import gc
import threading
from collections import deque
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType
from typing import Any

from ralph_tui.runtime.sources.event_record import Record
from ralph_tui.state import AgentRow, RunState
from ralph_tui.state.fold import Fold, Part

FRAME = 1024
"""Events between two keyframes of a replay; a jump folds at most this many."""


class Keyframes:
    """States stored once per interval of events, so that a replay can jump to any moment.

    A thread folds the record once. Stored states never change; callers receive copies.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._frames: dict[int, RunState] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._fold, name="ralph-keyframes", daemon=True)

    def start(self) -> None:
        """Begin to make keyframes if the record is longer than one interval."""
        if len(self._record) > FRAME and not self._stop.is_set():
            self._thread.start()

    def stop(self) -> None:
        """Stop making keyframes."""
        self._stop.set()

    @property
    def is_working(self) -> bool:
        """True while more keyframes are being made."""
        return self._thread.is_alive()

    def before(self, position: int) -> int:
        """Return the event number of the nearest keyframe at or before a position; 0 if none."""
        frame = position - position % FRAME
        while frame and frame not in self._frames:
            frame -= FRAME
        return frame

    def copy(self, frame: int) -> RunState:
        """Return an independent state at a keyframe; a fresh one for 0."""
        return copied(self._frames[frame]) if frame else RunState()

    def keep(self, applied: int, state: RunState) -> None:
        """Store a copy of a state if a keyframe is due at this event."""
        if applied % FRAME == 0 and applied and applied not in self._frames:
            self._frames[applied] = copied(state)

    def _fold(self) -> None:
        state, applied = RunState(), 0
        while not self._stop.is_set():
            events = self._record.events(applied, applied + FRAME)
            if len(events) < FRAME:
                gc.freeze()  # keyframes stay in memory: scanning them for garbage causes delays
                return
            state.apply_all(events)
            applied += FRAME
            self.keep(applied, state)


def copied(state: RunState) -> RunState:
    """Return an independent copy of a state."""
    twin = RunState()
    twin.seq, twin.at = state.seq, state.at
    memo: dict[int, Any] = {}
    holders: list[tuple[Fold | Part, Fold | Part]] = []
    for fold, new in zip(state.folds(), twin.folds(), strict=True):
        holders += [(fold, new), *zip(fold.parts, new.parts, strict=True)]
    memo.update((id(holder), other) for holder, other in holders)
    for holder, other in holders:
        vars(other).update({name: _copied(value, memo) for name, value in vars(holder).items()})
    return twin


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [_copied(item, memo) for item in value]
    if kind is tuple:
        return tuple(_copied(item, memo) for item in value)
    if kind is deque:
        return deque([_copied(item, memo) for item in value], maxlen=value.maxlen)
    if kind is dict:
        return {key: _copied(item, memo) for key, item in value.items()}
    if kind is set:
        return set(value)
    if kind is AgentRow and not value.running:
        return value  # there are thousands of them, and a finished one does not change
    twin = memo.get(id(value))
    names = _names(kind)
    if twin is None and not names:
        return value
    if twin is None:
        twin = memo[id(value)] = object.__new__(kind)
        for name in names:
            item = getattr(value, name)
            setattr(twin, name, item if type(item) in _PLAIN else _copied(item, memo))
    return twin


_PLAIN = {str, int, float, bool, NoneType, datetime}
_KNOWN: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """Return the field names of a mutable dataclass; none for other types, which are shared."""
    names = _KNOWN.get(kind)
    if names is None:
        frozen = not is_dataclass(kind) or kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        names = _KNOWN[kind] = () if frozen else tuple(f.name for f in fields(kind))
    return names
