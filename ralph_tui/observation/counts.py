"""Test counts out of a completion command's output: one pass, bounded memory, strict.

Several runs of one runner are added up, and so are different runners (``pytest+unittest``). JUnit
XML is a report about tests that another runner may have counted on the same output already, so it
counts only when no other runner speaks.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ralph_tui.observation.gate import Counts
from ralph_tui.observation.runners import Runner, Tally
from ralph_tui.observation.runners.junit import JUnit
from ralph_tui.observation.runners.pytest import Pytest
from ralph_tui.observation.runners.tap import Tap
from ralph_tui.observation.runners.unittest import Unittest
from ralph_tui.text import strip_controls

RUNNERS: tuple[Callable[[], Runner], ...] = (Pytest, Unittest, Tap)
"""Runners that print what they count; their order is the order of their names."""

REPORTS: tuple[Callable[[], Runner], ...] = (JUnit,)
"""Formats that repeat what a runner counted; the first that speaks, if no runner does."""

LONGEST_LINE = 1 << 16


def count_tests(lines: Iterable[str]) -> Counts | None:
    """The tests that known runners counted in this output; None when none of them reported."""
    runners = [make() for make in RUNNERS]
    reports = [make() for make in REPORTS]
    readers = [*runners, *reports]
    owner: Runner | None = None
    for raw in lines:
        line = _clean(raw)
        if owner is not None and owner.inside:
            owner.feed(line)
            continue
        owner = None
        for reader in readers:
            reader.feed(line)
            if reader.inside:
                owner = reader
                break
    return _sum(runners) or _sum(reports[:1])


def _sum(readers: Iterable[Runner]) -> Counts | None:
    total, names = Tally(), []
    for reader in readers:
        tally = reader.result()
        if tally is not None:
            total.add(tally)
            names.append(reader.name)
    return total.counts("+".join(names)) if names else None


def _clean(raw: str) -> str:
    # Nearly every line is printable as it is, and seeing that is much cheaper than looking.
    line = raw.rstrip("\r\n")
    return line if line.isprintable() else strip_controls(line)


def lines_of(path: Path) -> Iterator[str]:
    """Lines of a file, decoded, without control sequences, each at most about 64 KiB.

    A longer line is cut off there; JUnit XML, which is often one line, goes on in pieces that end
    before a tag. Raises ``OSError`` when the file cannot be read.
    """
    for line in _raw_lines(path):
        yield _clean(line.decode("utf-8", "replace"))


def _raw_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.readline(LONGEST_LINE):
            if piece.endswith(b"\n"):
                yield piece
            elif b"<testsuite" in piece:
                yield from _pieces(file, piece)
            else:
                yield piece
                while piece and not piece.endswith(b"\n"):
                    piece = file.readline(LONGEST_LINE)


def _pieces(file: BinaryIO, piece: bytes) -> Iterator[bytes]:
    """The rest of a long line, cut before tags (or, without one, not within a closing mark)."""
    rest = piece
    while piece and not piece.endswith(b"\n"):
        cut = rest.rfind(b"<")
        if cut <= 0 or len(rest) - cut > LONGEST_LINE:
            cut = max(0, len(rest) - 2)
        yield rest[:cut]
        piece = file.readline(LONGEST_LINE)
        rest = rest[cut:] + piece
    yield rest
