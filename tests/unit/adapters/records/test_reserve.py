"""The journal reserves room, so that a full disk can still record a run's end."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import LEAST, RESERVE_SIZE, Reserve
from tests.small_disk import run_on_small_disk

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux can hold room")

FULL = """
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.base.errors import JournalFullError
from ralph_tui.events import Noticed
from ralph_tui.runtime.clock import SystemClock

journal = Journal(Path("events.jsonl"), SystemClock(None))
fill()
written = 0
try:
    while True:
        journal.append(Noticed(source="test", text="x" * 100))
        written = os.stat("events.jsonl").st_size
except JournalFullError:
    pass
print(written)
make_room()
journal.close()
print(os.stat("events.jsonl").st_blocks * 512 - written < 4096)
"""


def test_a_full_disk_still_takes_some_events(tmp_path: Path) -> None:
    written, given_back = run_on_small_disk(FULL, tmp_path).split()
    assert int(written) > LEAST
    assert given_back == "True"


def test_what_is_held_makes_no_file_longer(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 10)
        file.flush()
        reserve = Reserve()
        reserve.hold(file.fileno(), 10)
        assert os.fstat(file.fileno()).st_size == 10
        held = os.fstat(file.fileno()).st_blocks
        reserve.hold(file.fileno(), RESERVE_SIZE - LEAST + 10)
        assert os.fstat(file.fileno()).st_blocks == held, "there was room enough"


def test_a_file_that_can_hold_nothing_is_no_error() -> None:
    reading, writing = os.pipe()
    try:
        Reserve().hold(writing, 0)
    finally:
        os.close(reading)
        os.close(writing)
