"""Typed noise does not end a screen, and a bug that ends a screen leaves its run going."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.cli import project
from tests.e2e.test_last_screen import events
from tests.e2e.test_lost_terminal import ORDER, Window
from tests.forks import SCREEN, Forked
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

A_DIALOG = 1000
"""Only a dialog takes so many bytes to draw."""
NOISE = (b"\xff", b"\x1b[200~a\xff\x80b\x1b[201~", b"\x1b[M \xff\xff", b"\x1b[99999999999u")


@contextmanager
def shown(root: Path, state: Path, bug: str) -> Iterator[tuple[Forked, Window]]:
    """A run on a screen with this bug, whose agent waits for a file `go`."""
    window = Window()
    waits = f"while [ ! -e {state}/go ]; do sleep .1; done"
    agent = f"{waits}; for n in 0 1 2 3; do touch done-$n.txt; done"
    environ = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(state)}
    program = replace(SCREEN, module="tests.doubles.broken_screen")
    streams = (window.terminal, window.terminal, window.terminal)
    process = Forked(program, [bug, *ORDER, agent], root, environ, streams, own_terminal=True)
    os.close(window.terminal)
    try:
        yield process, window
    finally:
        process.kill()
        process.wait()
        window.close()


def test_noise_leaves_screen_and_run_alone(git_repo: Path, tmp_path: Path) -> None:
    root = project(git_repo)
    with shown(root, tmp_path, "none") as (process, window):
        until(lambda: events(root, "session_started"))
        for noise in NOISE:
            window.type(noise)
        before = len(window.written)
        window.type(b"?")
        until(lambda: len(window.written) - before > A_DIALOG)
        assert not events(root, "run_finished")
        assert b"Traceback" not in window.written
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 130
    (finished,) = events(root, "run_finished")
    assert "SIGTERM" in finished["reason"]


@pytest.mark.parametrize("bug", ["widget", "input", "compose"])
def test_a_screen_that_breaks_leaves_the_run_going(
    git_repo: Path, tmp_path: Path, bug: str
) -> None:
    root = project(git_repo)
    with shown(root, tmp_path, bug) as (process, window):
        until(lambda: events(root, "session_started"))
        window.type(b"?")
        until(lambda: b"the run continues here as plain lines" in window.written)
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE_S) == 0
        assert events(root, "run_finished")[-1]["outcome"] == "completed"
        assert b"Traceback" not in window.written
    trace = next((tmp_path / "ralph-tui/screen-errors").iterdir())
    assert f"its traceback is in {trace}".encode() in b"".join(window.written.split(b"\r\n"))
    assert "in fail" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0
