"""A command under its keeper: start, streams, orders, ends."""

import contextlib
import fcntl
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.child import PIPE, STDOUT, Child, Exit, launch
from ralph_tui.base.errors import ProcessError
from tests.paths import FIXTURES
from tests.rows import each_row
from tests.waiting import PATIENCE_S, until


def shell(script: str, cwd: Path, **options: object) -> Child:
    given: dict[str, object] = {"env": os.environ, "run_id": "run-1", **options}
    return launch(["/bin/sh", "-c", script], cwd=cwd, **given)  # type: ignore[arg-type]


def output_of(script: str, cwd: Path, **options: object) -> tuple[str, Exit]:
    child = shell(script, cwd, stdout=PIPE, stderr=STDOUT, **options)
    assert child.stdout is not None
    with child.stdout:
        text = child.stdout.read().decode()
    return text, child.wait(PATIENCE_S)


@each_row(
    ("script", "code", "number"),
    [("exit 0", 0, None), ("exit 3", 3, None), ("kill -9 $$", 137, 9), ("kill -TERM $$", 143, 15)],
)
def test_exit_is_told_as_a_shell_would(
    tmp_path: Path, script: str, code: int, number: int | None
) -> None:
    assert shell(script, tmp_path).wait(PATIENCE_S) == Exit(code, number)


def test_its_end_is_told_to_who_asked_before_and_to_who_asks_afterwards(tmp_path: Path) -> None:
    reported: list[Exit | None] = []
    child = shell("read line; exit 3", tmp_path, stdin="pipe")
    child.at_end(lambda: reported.append(child.poll()))
    assert reported == []
    assert child.stdin is not None
    child.stdin.close()
    until(lambda: reported == [Exit(3)])
    child.at_end(lambda: reported.append(None))
    assert reported == [Exit(3), None]


def test_the_command_runs_where_and_with_what_it_was_told(tmp_path: Path) -> None:
    env = {**os.environ, "FRUIT": "plum", "RALPH_RUN_ID": "an outer run"}
    text, _ = output_of('pwd; echo "$FRUIT"; echo "$RALPH_RUN_ID"', tmp_path, env=env)
    assert text.splitlines() == [str(tmp_path.resolve()), "plum", "run-1"]


def test_the_command_hears_every_signal_the_keeper_ignores(tmp_path: Path) -> None:
    program = (
        "import signal as s;"
        "print([s.getsignal(n) is s.SIG_IGN for n in (s.SIGHUP, s.SIGTERM, s.SIGQUIT)],"
        "s.getsignal(s.SIGINT) is s.default_int_handler)"
    )
    text, _ = output_of(f'{sys.executable} -c "{program}"', tmp_path)
    assert text.strip() == "[False, False, False] True"


def test_input_and_both_outputs_reach_the_caller(tmp_path: Path) -> None:
    child = shell("cat; echo problem >&2", tmp_path, stdin="pipe", stdout=PIPE, stderr=PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stdin:
        child.stdin.write(b"hello")
    with child.stdout, child.stderr:
        assert child.stdout.read() == b"hello"
        assert child.stderr.read() == b"problem\n"
    assert child.wait(PATIENCE_S).code == 0


def test_output_can_go_to_a_file_and_input_is_empty_unless_asked_for(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        end = shell("cat; echo done", tmp_path, stdout=out).wait(PATIENCE_S)
    assert end.code == 0
    assert (tmp_path / "out").read_text() == "done\n"


def test_the_command_inherits_nothing_but_its_streams(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as lock:
        program = (
            "import os,stat;print([n for n in range(3, 256) if os.path.exists(f'/dev/fd/{n}')])"
        )
        script = f'{sys.executable} -S -c "{program}"'
        text, _ = output_of(script, tmp_path, lock_fd=lock.fileno())
    assert text.strip() == "[]"


def test_the_lock_is_held_while_anything_lives_and_free_after(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = shell("exec sleep 100", tmp_path, lock_fd=lock.fileno())
    with path.open("rb") as probe:
        with pytest.raises(BlockingIOError):
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        child.stop()
        child.wait(PATIENCE_S)
        fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)


def pipes_of(pid: int) -> set[str]:
    links = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed while it was being listed
            links.add(str(entry.readlink()))
    return {link for link in links if link.startswith("pipe:")}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_keepers_do_not_hold_each_others_pipes(tmp_path: Path) -> None:
    first = shell("cat", tmp_path, stdin="pipe", stdout=PIPE)
    second = shell("exec sleep 100", tmp_path, stdin="pipe", stdout=PIPE)
    assert not pipes_of(first.keeper_pid) & pipes_of(second.keeper_pid)
    assert not pipes_of(first.pid) & pipes_of(second.pid)
    assert not pipes_of(first.pid) & pipes_of(first.keeper_pid)
    assert first.stdin is not None
    assert first.stdout is not None
    first.stdin.close()
    assert first.stdout.read() == b""
    assert first.wait(PATIENCE_S) == Exit(0)
    assert second.poll() is None
    second.stop()
    assert second.wait(PATIENCE_S).stopped
    for stream in (first.stdout, second.stdin, second.stdout):
        assert stream is not None
        stream.close()


def test_an_obedient_command_ends_by_the_first_signal(tmp_path: Path) -> None:
    # A shell passes no INT on: both must get it, as from a terminal.
    program = "import time; print('on', flush=True); time.sleep(100)"
    child = shell(f'{sys.executable} -c "{program}"; echo never', tmp_path, stdout=PIPE)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"on\n"
        child.stop()
        assert child.stdout.read() == b""
    assert child.wait(PATIENCE_S) == Exit(130, 2, stopped=True)


def test_stop_waits_for_nobody(tmp_path: Path) -> None:
    child = shell("trap '' INT; echo on; while :; do sleep 0.01; done", tmp_path, stdout=PIPE)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"on\n"
        child.stop()
        with pytest.raises(TimeoutError):
            child.wait(0)  # the next signal comes only seconds later
        child.hurry()
        assert child.wait(PATIENCE_S).stopped


def test_stop_lets_a_command_finish_in_its_own_way(tmp_path: Path) -> None:
    script = "trap 'echo tidy; exit 5' INT; echo on; while :; do sleep 0.01; done"
    child = shell(script, tmp_path, stdout=PIPE)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"on\n"
        child.stop()
        assert child.stdout.read() == b"tidy\n"
    assert child.wait(PATIENCE_S) == Exit(5, stopped=True)


LISTENER = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: print("heard", flush=True))
print("on", flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
"""


def test_interrupt_reaches_the_command_and_is_no_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LISTENER]
    child = launch(command, cwd=tmp_path, env=os.environ, run_id="r", stdin="pipe", stdout=PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"on\n"
        child.interrupt()
        assert child.stdout.readline() == b"heard\n"
        with child.stdin:
            child.stdin.write(b"more\n")
        assert child.stdout.read() == b"more\n"
    assert child.wait(PATIENCE_S) == Exit(0)


def test_orders_to_a_command_that_has_ended_do_nothing(tmp_path: Path) -> None:
    child = shell("exit 4", tmp_path)
    end = child.wait(PATIENCE_S)
    child.stop()
    child.interrupt()
    assert child.wait(0) is end
    assert not end.stopped


def test_wait_gives_up_in_time(tmp_path: Path) -> None:
    child = shell("exec sleep 100", tmp_path)
    with pytest.raises(TimeoutError):
        child.wait(0.01)
    child.stop()
    child.wait(PATIENCE_S)


def test_what_a_command_leaves_behind_is_stopped_and_counted(tmp_path: Path) -> None:
    hostile = FIXTURES / "processes" / "hostile.py"
    command = [sys.executable, str(hostile), str(tmp_path), "leaves"]
    end = launch(command, cwd=tmp_path, env=os.environ, run_id="r").wait(PATIENCE_S)
    assert end == Exit(7, leftovers=2)
    with (tmp_path / "life").open("rb") as life:
        fcntl.flock(life, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_keeper_does_not_hear_the_terminal(tmp_path: Path) -> None:
    child = shell("read line; exit 9", tmp_path, stdin="pipe")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        os.kill(child.keeper_pid, number)
    assert os.getsid(child.keeper_pid) == child.keeper_pid
    assert os.getsid(child.pid) == child.pid
    assert child.stdin is not None
    with child.stdin:
        child.stdin.write(b"\n")
    assert child.wait(PATIENCE_S) == Exit(9)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        ProcessError, match=r"Cannot start 'no-such-thing': no such program on PATH"
    ):
        launch(["no-such-thing"], cwd=tmp_path, env=os.environ, run_id="r", stdout=PIPE)


def test_a_file_that_may_not_be_executed(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(ProcessError, match=r"is not executable"):
        launch([str(program)], cwd=tmp_path, env=os.environ, run_id="r")
    program.write_text("neither binary nor script")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(ProcessError, match=r"it is not a program"):
        launch([str(program)], cwd=tmp_path, env=os.environ, run_id="r")


def test_a_folder_that_is_not_there_and_words_that_cannot_be_passed(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match=r"the folder '.*/gone' does not exist"):
        shell("true", tmp_path / "gone")
    with pytest.raises(ProcessError, match=r"null character"):
        launch(["/bin/echo", "a\0b"], cwd=tmp_path, env=os.environ, run_id="r")
    with pytest.raises(ProcessError, match=r"too long"):
        launch(["/bin/echo", "x" * 10_000_000], cwd=tmp_path, env=os.environ, run_id="r")


def test_failed_starts_leave_no_descriptor_open(tmp_path: Path) -> None:
    def open_now() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    before = open_now()
    for program in ("no-such-thing", "a\0b"):
        with pytest.raises(ProcessError):
            launch([program], cwd=tmp_path, env=os.environ, run_id="r", stdin="pipe", stdout=PIPE)
    for _ in range(3):
        shell("true", tmp_path).wait(PATIENCE_S)
    until(lambda: open_now() == before)
