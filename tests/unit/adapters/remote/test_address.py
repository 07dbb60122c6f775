"""Many runs begin in one runtime folder at once without taking each other's socket."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ralph_tui.adapters.remote.server import listen
from tests.processes import Child, state_of
from tests.waiting import until

STOPS_BEFORE_IT_LISTENS = """
import os, signal, socket, sys
from pathlib import Path
from ralph_tui.adapters.remote.server import listen
class Stopping(socket.socket):
    def listen(self, *backlog):
        os.kill(os.getpid(), signal.SIGSTOP)
        super().listen(*backlog)
socket.socket = Stopping
listener = listen(Path(sys.argv[1]))
print("listens", flush=True)
sys.stdin.readline()
"""


def calls(path: Path) -> bool:
    """True if a server listens there."""
    with closing(socket.socket(socket.AF_UNIX)) as caller:
        try:
            caller.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def test_a_run_that_has_not_come_to_listen_yet_keeps_its_socket(place: Path) -> None:
    path = place / "ralph-tui" / "0123456789ab.sock"
    command = [sys.executable, "-c", STOPS_BEFORE_IT_LISTENS, str(path)]
    with Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as slow:
        until(lambda: state_of(slow.pid) == "T")
        with closing(listen(path.with_name("ba9876543210.sock"))):
            slow.send_signal(signal.SIGCONT)
            assert slow.stdout is not None
            assert slow.stdout.readline() == "listens\n"
            assert calls(path)
        slow.communicate("end\n")


def test_the_socket_of_a_run_that_was_killed_is_taken_away_and_no_other(place: Path) -> None:
    folder = place / "ralph-tui"
    with closing(listen(folder / "alive.sock")):
        with closing(listen(folder / "dead.sock")):
            pass
        begun = folder / "begun.new"
        begun.touch()
        old = folder / "old.new"
        old.touch()
        os.utime(old, (1, 1))
        with closing(listen(folder / "next.sock")):
            assert sorted(path.name for path in folder.iterdir()) == [
                *("alive.sock", "begun.new", "next.sock")
            ]
            assert calls(folder / "alive.sock")


def test_a_leftover_gives_way_without_a_moment_in_which_nothing_is_there(place: Path) -> None:
    path = place / "ralph-tui" / "0123456789ab.sock"
    with closing(listen(path)):
        pass
    before = path.lstat().st_ino
    with closing(listen(path)), closing(listen(path)):
        assert path.lstat().st_ino != before
        assert calls(path)


def test_what_cannot_be_put_in_its_place_leaves_nothing(place: Path) -> None:
    path = place / "ralph-tui" / "0123456789ab.sock"
    path.mkdir(parents=True)
    path.parent.chmod(0o700)
    with pytest.raises(OSError, match="directory"):
        listen(path)
    assert [*path.parent.iterdir()] == [path]
