"""Python's collection of garbage, put off while a key is being answered.

A dialog that opens makes so many things that a collection fell into almost every opening; the key
waited for it 4 to 80 ms. Rule: it is only put off. Where it is off for another reason, as while a
command loads, it stays off.
"""

import gc

from textual.message_pump import MessagePump
from textual.timer import Timer

ANSWERED_S = 0.3
"""What a key brings is painted by then."""
MOST = 100_000
"""Things made since the last collection; with so many it is put off no longer: keys may go on."""


class Collection:
    """Told of each key; `go_on` gives back what it has put off."""

    def __init__(self, owner: MessagePump) -> None:
        """`owner`: whose timer ends it."""
        self._owner = owner
        self._putting_off: Timer | None = None

    def put_off(self) -> None:
        """A key came."""
        if self._putting_off is not None:
            if gc.get_count()[0] < MOST:
                self._putting_off.reset()
        elif gc.isenabled():
            gc.disable()
            self._putting_off = self._owner.set_timer(ANSWERED_S, self.go_on)

    def go_on(self) -> None:
        """The key is answered, or the screen is gone."""
        if self._putting_off is not None:
            self._putting_off = None
            gc.enable()
