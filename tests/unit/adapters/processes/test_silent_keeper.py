"""A keeper that does not answer: stopped by its agent, or on a slow machine."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes import child as running
from ralph_tui.adapters.processes import sweep as sweeping
from ralph_tui.adapters.processes.child import PIPE, Child, Exit, launch
from tests.paths import FIXTURES
from tests.processes import state_of
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the keeper's answer timeout and the grace periods of the sweep."""
    monkeypatch.setattr(running, "ASK_S", 0.2)
    rungs = tuple((number, 0.2) for number, _ in sweeping.LADDER[:-1])
    monkeypatch.setattr(sweeping, "LADDER", (*rungs, sweeping.LADDER[-1]))


@pytest.mark.usefixtures("impatient")
def test_a_stopped_keeper_is_given_up_and_all_that_it_kept_is_ended(tmp_path: Path) -> None:
    hostile = FIXTURES / "processes" / "hostile.py"
    command = [sys.executable, str(hostile), str(tmp_path), "stops its keeper"]
    child = launch(command, cwd=tmp_path, env=os.environ, run_id="r")
    left: list[int] = []
    try:
        end = child.wait(PATIENCE_S)
        assert (end.code, end.lost, end.survivors) == (None, "did not answer for 1 s", 0)
        assert state_of(child.keeper_pid) == ""
    finally:
        # A session of its own, an empty environment, an adopted one, one that is stopped.
        left = [int(path.name.removeprefix("ready-")) for path in tmp_path.glob("ready-*")]
        living = [pid for pid in left if state_of(pid) not in ("", "Z")]
        for pid in living:
            os.kill(pid, signal.SIGKILL)
        if state_of(child.keeper_pid):
            os.kill(child.keeper_pid, signal.SIGKILL)
    assert len(left) == 5
    assert living == []


def test_a_keeper_that_answers_late_every_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Late every time: only consecutive unanswered questions count."""
    monkeypatch.setattr(running, "ASK_S", 0.0)
    hears, says = os.pipe()
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        if asked == 20 * running.UNANSWERED:
            os.write(says, b'{"exit": 3}\n')
        elif asked % running.UNANSWERED == 0:
            os.write(says, b"{}\n")

    try:
        assert running._next_line(hears, ask) == {"exit": 3}
        asked = 0
        with pytest.raises(running._KeeperLostError, match="did not answer"):
            running._next_line(hears, lambda: None)
    finally:
        os.close(hears)
        os.close(says)


def test_a_healthy_keeper_answers_whatever_its_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ASK_S", 0.005)
    monkeypatch.setattr(running, "UNANSWERED", 400)
    asked: list[bytes] = []
    order = Child._order

    def counted(self: Child, word: bytes) -> None:
        asked.append(word)
        order(self, word)

    monkeypatch.setattr(Child, "_order", counted)
    child = launch(
        ["/bin/sh", "-c", "kill -STOP $$; read line; exit 9"],
        cwd=tmp_path,
        env=os.environ,
        run_id="r",
        stdin="pipe",
    )
    until(lambda: state_of(child.pid) == "T")
    until(lambda: asked.count(b"answer\n") > 500)
    assert child.poll() is None
    os.kill(child.pid, signal.SIGCONT)
    assert child.stdin is not None
    with child.stdin:
        child.stdin.write(b"\n")
    assert child.wait(PATIENCE_S) == Exit(9)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("blow", "lost"), [("STOP", "did not answer for 1 s"), ("KILL", "was killed")]
)
def test_a_keeper_that_is_lost_before_it_has_told_of_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blow: str, lost: str
) -> None:
    """Like a keeper lost later: the command ended, but not of its own accord."""
    keeper = tmp_path / "keeper.py"
    keeper.write_text(
        "import os, signal\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        f"os.kill(os.getpid(), signal.SIG{blow})\n"
    )
    monkeypatch.setattr(running, "KEEPER", keeper)
    before = len(list(Path("/dev/fd").iterdir()))
    child = launch(["true"], cwd=tmp_path, env=os.environ, run_id="r", stdin="pipe", stdout=PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        assert child.stdout.read() == b""
    assert child.wait(PATIENCE_S) == Exit(None, stopped=True, lost=lost)
    assert state_of(json.loads((tmp_path / "pid").read_text())) == ""
    until(lambda: len(list(Path("/dev/fd").iterdir())) <= before)


def test_a_command_is_stopped_whose_parent_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that asks the keeper is late, like that of a frozen process."""
    monkeypatch.setattr(running, "MIN_SILENCE_S", 0.5)
    monkeypatch.setattr(running, "ASK_S", 2 * PATIENCE_S)
    child = launch(["sleep", "60"], cwd=tmp_path, env=os.environ, run_id="r", silence_s=0.1)
    end = child.wait(PATIENCE_S)
    assert (end.stopped, end.signal, end.survivors, end.lost) == (True, signal.SIGINT, 0, "")


def test_a_parent_that_is_alive_is_heard_of_often_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ASK_S", 0.1)
    lasts = running.MIN_SILENCE_S
    monkeypatch.setattr(running, "MIN_SILENCE_S", 1.0)
    assert lasts == 10.0
    child = launch(["sleep", "3"], cwd=tmp_path, env=os.environ, run_id="r", silence_s=0.1)
    end = child.wait(PATIENCE_S)
    assert (end.code, end.stopped) == (0, False)
