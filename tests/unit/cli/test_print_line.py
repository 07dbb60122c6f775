"""Lines reach a slow reader whole; a stalled reader blocks nothing after a signal."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from ralph_tui.cli.fronts import output, signals
from ralph_tui.cli.fronts.output import print_line


def test_a_long_line_reaches_a_slow_reader_whole() -> None:
    unread, full = os.pipe()
    line = "an ä and more " * 20_000
    with ThreadPoolExecutor() as pool, os.fdopen(full, "w", encoding="utf-8") as stream:
        printing = pool.submit(print_line, line, stream)
        read = b""
        while not read.endswith(b"\n"):
            read += os.read(unread, 100_000)
        printing.result()
    os.close(unread)
    assert read.decode() == f"{line}\n"


def test_after_a_signal_a_line_that_nobody_reads_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unread, full = os.pipe()
    monkeypatch.setattr(signals, "RECEIVED", [signal.SIGTERM])
    monkeypatch.setattr(output, "WRITE_SECONDS", 0)
    with os.fdopen(full, "w") as stream:
        for _ in range(3):
            print_line("x" * 100_000, stream)
    os.close(unread)


def test_a_reader_that_is_gone_is_an_error() -> None:
    unread, full = os.pipe()
    os.close(unread)
    with os.fdopen(full, "w") as stream, pytest.raises(BrokenPipeError):
        print_line("x", stream)
