"""Streams of any length take bounded time, and the omitted part is reported."""

import time

import pytest

from ralph_tui.adapters.agents.output import BoundedLines
from ralph_tui.adapters.processes import bounded_work


def work(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_beyond_its_time_only_news_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_work, "RESERVE_S", 0.05)
    monkeypatch.setattr(bounded_work, "SHARE", 0.0)
    lines = BoundedLines(100, lambda line: line.startswith(b"{"))
    assert lines.feed(b"one\n{two\n") == [b"one", b"{two"]
    with lines.working():
        work(0.06)
    assert lines.gap() == ""
    assert lines.feed(b"three\n{four\n\n") == [b"{four"]
    assert (lines.left_out, lines.left_out_bytes) == (2, len(b"three\n\n"))
    assert lines.gap() == "", "its end is not known yet"
    assert lines.close() == []
    assert lines.gap() == "[ralph-tui: 2 lines of output, 7 bytes, are left out here]"
    assert lines.gap() == ""


def test_time_that_has_passed_makes_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_work, "RESERVE_S", 0.05)
    monkeypatch.setattr(bounded_work, "AGAIN_S", 0.01)
    lines = BoundedLines(100)
    with lines.working():
        work(0.1)
    assert lines.feed(b"one\n") == []
    while not (found := lines.feed(b"two\n")):
        with lines.working():
            pass
    assert found == [b"two"]
    assert lines.gap().startswith("[ralph-tui: ")
    assert lines.left_out >= 1


def test_empty_lines_beyond_its_time_cost_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_work, "RESERVE_S", 0.0)
    monkeypatch.setattr(bounded_work, "SHARE", 0.0)
    asked: list[bytes] = []

    def is_news(line: bytes) -> bool:
        asked.append(line)
        return True

    lines = BoundedLines(100, is_news)
    with lines.working():
        pass
    assert lines.feed(b"\n" * 1000 + b"{news\n" + b"\n" * 1000) == [b"{news"]
    assert asked == [b"{news"]
    assert (lines.left_out, lines.left_out_bytes) == (2000, 2000)
