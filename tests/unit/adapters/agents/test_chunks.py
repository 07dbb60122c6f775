"""Reading a process's output through a real pipe: a trickle in sips, all else at once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ralph_tui.adapters.agents.output import ENOUGH_BYTES, MAX_QUICK_PIECES, REST_S, chunks


class Printer:
    """Writes its pieces into a pipe, `gap` seconds of its own clock apart; reads them back."""

    def __init__(self, pieces: list[bytes], gap: float) -> None:
        self.rests: list[int] = []
        """Number of chunks read at each rest."""
        self.read: list[bytes] = []
        self._pieces, self._gap = pieces, gap
        self._now = 0.0

    def run(self) -> None:
        """Run until all is read; while the reader rests, pieces gather."""
        with _pipe() as (reader, writer):
            self._writer = writer
            self._write()
            for chunk in chunks(reader, lambda: 5.0, monotonic=lambda: self._now, rest=self._rest):
                assert chunk is not None
                self.read.append(chunk)
                self._now += self._gap
                self._write()

    def _write(self) -> None:
        if self._pieces:
            os.write(self._writer, self._pieces.pop(0))
        elif self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def _rest(self, seconds: float) -> None:
        self.rests.append(len(self.read))
        self._now += seconds
        for _ in range(round(seconds / self._gap)):
            self._write()


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)


def test_a_trickle_is_read_in_sips_and_nothing_of_it_is_lost() -> None:
    pieces = [f"line {number}\n".encode() for number in range(200)]
    printer = Printer(list(pieces), gap=0.005)
    printer.run()
    assert b"".join(printer.read) == b"".join(pieces)
    assert len(printer.read) < len(pieces) / 3
    assert printer.read[:MAX_QUICK_PIECES] == pieces[:MAX_QUICK_PIECES], "the first come at once"


def test_who_prints_now_and_then_is_read_at_once() -> None:
    pieces = [b"a line\n"] * 30
    printer = Printer(list(pieces), gap=2 * REST_S)
    printer.run()
    assert (printer.read, printer.rests) == (pieces, [])


def test_who_prints_much_is_never_rested_from() -> None:
    pieces = [b"x" * ENOUGH_BYTES] * 30
    printer = Printer(list(pieces), gap=0.001)
    printer.run()
    assert (printer.read, printer.rests) == (pieces, [])


def test_silence_is_told() -> None:
    with _pipe() as (reader, writer):
        came = chunks(reader, lambda: 0.0)
        assert next(came) is None
        os.write(writer, b"word")
        assert next(came) == b"word"
        os.close(writer)
        assert list(came) == []
