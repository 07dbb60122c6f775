"""Orphans are adopted by the process that hosts a run; only they are ended and collected."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ralph_tui.adapters.processes import adopted
from ralph_tui.adapters.processes.adopted import collect, is_adopted, starting
from ralph_tui.adapters.processes.keeper import read_entry
from ralph_tui.adapters.processes.sweep import kill_adopted, no_orphans, orphans
from tests.processes import Child, leaderless, state_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere none are adopted")


@pytest.fixture
def held() -> Iterator[ExitStack]:
    """Collects what must end with the test, and kills leftover children."""
    with ExitStack() as stack:
        yield stack


def leader(held: ExitStack, *command: str) -> Child[str]:
    child = held.enter_context(
        Child(command, start_new_session=True, stdout=subprocess.PIPE, text=True)
    )
    held.callback(child.kill)
    return child


def orphan() -> int:
    """The pid of an unmarked process in its own session whose parent has ended."""
    script = "setsid env -i sleep 100 >/dev/null & echo $!"
    parent = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    pid = int(parent.stdout)
    until(lambda: os.getsid(pid) == pid)
    return pid


def parent_of(pid: int) -> int | None:
    entry = read_entry(str(pid))
    return None if entry is None else entry.parent


def test_orphans_are_ended_and_collected_and_what_was_started_here_is_not(held: ExitStack) -> None:
    before = leader(held, "sleep", "100")
    with no_orphans():
        with starting() as own:
            mine = leader(held, "sleep", "100")
            own(mine.pid)
        with starting() as own:
            ended = leader(held, "sh", "-c", "exit 7")
            own(ended.pid)
        stranger = orphan()
        assert parent_of(stranger) == os.getpid()
        until(lambda: state_of(ended.pid) == "Z")
        assert [entry.pid for entry in orphans("ANY", "mark")] == [stranger]
    assert state_of(stranger) == ""
    assert ended.wait() == 7
    assert (before.poll(), mine.poll()) == (None, None)


def test_one_that_has_ended_by_itself_is_collected() -> None:
    with no_orphans():
        stranger = orphan()
        os.kill(stranger, 9)
        until(lambda: state_of(stranger) == "Z")
        collect()
        assert state_of(stranger) == ""


def test_without_a_run_none_are_adopted() -> None:
    with no_orphans(), no_orphans():
        pass
    stranger = orphan()
    try:
        until(lambda: parent_of(stranger) != os.getpid())
        entry = read_entry(str(stranger))
        assert entry is not None
        assert not is_adopted(entry)
    finally:
        os.kill(stranger, 9)


def test_own_children_that_have_ended_are_forgotten(
    held: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adopted, "MAX_CHILDREN", 3)
    with no_orphans():
        with starting() as own:
            kept = leader(held, "sleep", "100")
            own(kept.pid)
        for _ in range(20):
            with starting() as own:
                child = subprocess.Popen(["true"], start_new_session=True)
                own(child.pid)
            child.wait()
        assert len(adopted._own) < 10
    assert kept.poll() is None


def test_one_whose_first_thread_has_ended_is_alive_and_is_ended() -> None:
    with no_orphans():
        stranger = leaderless()
        collect()
        entry = read_entry(str(stranger))
        assert entry is not None
        assert (entry.alive, entry.leaderless, is_adopted(entry)) == (True, True, True)
        assert [each.pid for each in orphans("ANY", "mark")] == [stranger]
    assert state_of(stranger) == ""


def test_whoever_ends_without_waiting_leaves_no_orphan(held: ExitStack) -> None:
    with no_orphans():
        with starting() as own:
            mine = leader(held, "sleep", "100")
            own(mine.pid)
        strangers = [orphan(), leaderless()]
        kill_adopted()

        def are_gone() -> bool:
            collect()  # on a busy machine, they may end after the last look
            return not any(map(state_of, strangers))

        until(are_gone)
    assert mine.poll() is None
