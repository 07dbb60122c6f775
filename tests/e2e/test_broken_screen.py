"""A screen ends by no byte that is typed, and where a bug ends it the run goes on."""

import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import project
from tests.e2e.test_last_screen import events
from tests.e2e.test_lost_terminal import WAITS, shown
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

A_DIALOG = 1000
"""Bytes that only a dialog takes to draw."""
NOISE = (b"\xff", b"\x1b[200~a\xff\x80b\x1b[201~", b"\x1b[M \xff\xff", b"\x1b[99999999999u")


def test_noise_leaves_screen_and_run_alone(git_repo: Path) -> None:
    root = project(git_repo)
    with shown(root, WAITS, "heard", "controlling") as (process, window):
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


IN_A_WIDGET = """
from ralph_tui.tui.cockpit.screen import CockpitScreen
def fail(self): raise KeyError("open help")
CockpitScreen.open_help = fail
"""
IN_THE_INPUT = """
from ralph_tui.tui.driver import TerminalInput
feed = TerminalInput.feed
def fail(self, data):
    if data == b"?": raise RuntimeError("reading")
    return feed(self, data)
TerminalInput.feed = fail
"""
IN_THE_APP = """
from ralph_tui.tui.app import RalphApp
async def fail(self, event):
    if getattr(event, "key", "") == "question_mark": raise RecursionError("in the app")
    await on_event(self, event)
on_event, RalphApp.on_event = RalphApp.on_event, fail
"""
BEFORE_IT_STANDS = """
from ralph_tui.tui.cockpit.screen import CockpitScreen
def fail(self): raise ValueError("no screen")
CockpitScreen.compose = fail
"""
MAIN = "import sys; from ralph_tui.__main__ import main; sys.exit(main())"


@pytest.mark.parametrize("bug", [IN_A_WIDGET, IN_THE_INPUT, IN_THE_APP, BEFORE_IT_STANDS])
def test_a_screen_that_breaks_leaves_the_run_going(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = project(git_repo)
    waits = f"cat >/dev/null; while [ ! -e {tmp_path}/go ]; do sleep .1; done"
    agent = f"bash -c '{waits}; touch done-{{0,1,2,3}}.txt'"
    cli = [sys.executable, "-c", f"{bug}\n{MAIN}"]
    with shown(root, agent, "heard", "controlling", cli=cli) as (process, window):
        until(lambda: events(root, "session_started"))
        window.type(b"?")
        until(lambda: b"the run goes on here as plain lines" in window.written)
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE_S) == 0
        assert events(root, "run_finished")[-1]["outcome"] == "completed"
        assert b"Traceback" not in window.written
    trace = next((tmp_path / "state/ralph-tui/screen-errors").iterdir())
    assert f"its traceback is in {trace}".encode() in b"".join(window.written.split(b"\r\n"))
    assert "in fail" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0
