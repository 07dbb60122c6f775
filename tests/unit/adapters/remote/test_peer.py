"""Which processes may command a run: real ones, inside and outside it, passing connections on."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.processes.sweep import COMMAND_MARK, FLEET_MARK, GUARD_MARK, RUN_MARK
from ralph_tui.adapters.remote import peer as peer_module
from ralph_tui.adapters.remote.peer import GONE, STARTED_BY_RUN, Peer, UnwelcomeError
from ralph_tui.adapters.remote.server import ONLY_PEOPLE
from ralph_tui.events import PauseRequested, PermissionsChanged
from tests.paths import ROOT
from tests.unit.adapters.remote.live_run import LiveRun

PRELUDE = """
import contextlib, json, os, socket, sys, time
PATH = sys.argv[1]
def call():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(PATH)
    return connection
def say(connection, name="pause", **fields):
    line = {"version": 1, "command": {"name": name, "by": "the owner", **fields}}
    with contextlib.suppress(BrokenPipeError):  # it may have been refused unheard
        connection.sendall(json.dumps(line).encode() + b"\\n")
    print(connection.makefile().readline(), end="", flush=True)
def go_on_in_child():
    "The present process ends; its child goes on when it has another parent."
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == parent:
        time.sleep(0.005)
"""
OUTSIDE = "go_on_in_child()\nos.setsid()\n"
"""From here on its ancestors do not include the test process that hosts the run."""
PERMIT = "say(call(), 'permissions', mode='skip', allow=['Bash(rm -rf:*)'])"


ON_TERMINAL = """import pty
pid, terminal = pty.fork()
if not pid:
{code}
    os._exit(0)
try:
    while text := os.read(terminal, 1000):
        os.write(1, text)
except OSError:
    pass
"""


def answering(word: str) -> str:
    """A handler that answers a question."""
    return f"say(call(), 'answer', question_id='q', answer={word!r})"


def talk(live_run: LiveRun, code: str, **environ: str) -> list[dict[str, object]]:
    """Answers that a separate program gets, started by the process that hosts the run."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code, str(live_run.path)],
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(live_run: LiveRun, code: str, **environ: str) -> object:
    (answer,) = talk(live_run, code, **environ)
    assert live_run.events(PauseRequested) == []
    assert live_run.events(PermissionsChanged) == []
    return answer.get("refused")


def test_what_the_run_has_started_cannot_command_it(live_run: LiveRun) -> None:
    """An agent that finds the socket must not grant itself anything."""
    assert refused(live_run, "say(call())") == STARTED_BY_RUN


def test_a_connection_is_worth_nothing_when_its_opener_has_ended(live_run: LiveRun) -> None:
    inherited = "c = call()\ngo_on_in_child()\nsay(c)"
    assert refused(live_run, inherited) == GONE


def test_a_connection_that_a_child_has_opened_and_passed_up_is_worth_nothing(
    live_run: LiveRun,
) -> None:
    passed = """
here, there = socket.socketpair()
child = os.fork()
if not child:
    mine = call()
    socket.send_fds(there, [b"x"], [mine.fileno()])
    os._exit(0)
there.close()
_, (descriptor,), _, _ = socket.recv_fds(here, 1, 1)
os.waitpid(child, 0)
say(socket.socket(fileno=descriptor))
"""
    assert refused(live_run, passed) == GONE


def test_it_is_looked_again_at_every_command(live_run: LiveRun) -> None:
    code = OUTSIDE + "c = call()\nsay(c)\ngo_on_in_child()\nsay(c, 'unpause')"
    first, second = talk(live_run, code)
    assert "accepted" in first
    assert second["refused"] == GONE


def test_who_spoke_is_found_out_and_not_believed(live_run: LiveRun) -> None:
    code = OUTSIDE + "print(os.getpid())\nsay(call())"
    pid, answer = talk(live_run, code)
    assert "accepted" in answer
    (paused,) = live_run.events(PauseRequested)
    assert paused.by == f"a script (process {pid})"


EXECUTED = """
import socket, sys
connection = socket.socket(fileno=int(sys.argv[1]))
connection.sendall(b'{"version":1,"command":{"name":"pause"}}\\n')
print(connection.makefile().readline(), end="")
"""


def test_another_program_in_the_same_process_is_the_same_giver(live_run: LiveRun) -> None:
    code = OUTSIDE + (
        "c = call()\nos.set_inheritable(c.fileno(), True)\nprint(os.getpid(), flush=True)\n"
        f"code = {EXECUTED!r}\n"
        "os.execv(sys.executable, [sys.executable, '-c', code, str(c.fileno())])"
    )
    pid, answer = talk(live_run, code)
    assert "accepted" in answer
    assert live_run.events(PauseRequested)[0].by == f"a script (process {pid})"


@pytest.mark.parametrize("mark", [RUN_MARK, FLEET_MARK, COMMAND_MARK, GUARD_MARK])
def test_the_mark_of_any_run_tells_what_has_got_away_from_its_keeper(
    live_run: LiveRun, mark: str
) -> None:
    assert refused(live_run, OUTSIDE + "say(call())", **{mark: "another"}) == STARTED_BY_RUN


AGENT = """
import subprocess
from pathlib import Path
sys.path.insert(0, {root!r})
from ralph_tui.adapters.processes.child import launch
from ralph_tui.adapters.processes.sweep import no_orphans
"""
KEPT = """
out = sys.stdout.buffer
launch({command!r}, cwd=Path("/"), env=os.environ, run_id="another", stdout=out).wait()
"""
ADOPTED = """
with no_orphans():
    process = subprocess.Popen({command!r}, start_new_session=True, stdout=subprocess.PIPE)
    print(process.stdout.read().decode(), end="")
"""
"""Like a process that a run adopts after its keeper was killed."""


@pytest.mark.parametrize("how", [KEPT, ADOPTED])
@pytest.mark.parametrize("says", [PERMIT, ON_TERMINAL.format(code="    " + PERMIT)])
def test_what_another_run_has_started_is_known_without_mark_and_parents(
    live_run: LiveRun, how: str, says: str, tmp_path: Path
) -> None:
    """Also on its own terminal without a user."""
    said = tmp_path / "said"
    code = f"{OUTSIDE}{says}\nopen({str(said)!r}, 'w').close()"
    call = shlex.join(["env", "-i", sys.executable, "-c", PRELUDE + code, str(live_run.path)])
    # A keeper would end leftover processes, so the command waits for its child's message.
    words = ["/bin/sh", "-c", f"{call}; until [ -e {shlex.quote(str(said))} ]; do sleep 0.05; done"]
    agent = AGENT.format(root=str(ROOT)) + how.format(command=words)
    (answer,) = talk(live_run, OUTSIDE + agent)
    assert answer["refused"] == STARTED_BY_RUN
    assert live_run.events(PermissionsChanged) == []


def test_another_process_of_the_same_number_is_another_process() -> None:
    with pytest.raises(UnwelcomeError, match="gone"):
        Peer(os.getpid(), "1").identify()


def test_a_script_cannot_widen_what_the_agent_may_do(live_run: LiveRun) -> None:
    assert refused(live_run, OUTSIDE + PERMIT) == ONLY_PEOPLE
    for word in ("once", "session"):
        assert refused(live_run, OUTSIDE + answering(word)) == ONLY_PEOPLE


def test_a_script_can_refuse_what_the_agent_asks(live_run: LiveRun) -> None:
    assert refused(live_run, OUTSIDE + answering("refuse")) == "that question is already closed"


def test_what_ends_while_it_is_looked_at_is_nobody(
    live_run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sender that ends during the check is refused."""
    monkeypatch.setattr(peer_module, "is_intact", lambda _: False)
    assert refused(live_run, OUTSIDE + "say(call())") == GONE


def at_terminal(live_run: LiveRun, code: str) -> tuple[str, str]:
    """Message and terminal name of a program outside the run, on its own terminal."""
    # All its ancestors end first: a process outside the run opens the terminal.
    lines = ["print(os.ttyname(0))", *code.splitlines()]
    opener = OUTSIDE + ON_TERMINAL.format(code="\n".join(f"    {line}" for line in lines))
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + opener, str(live_run.path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    name, _, answer = done.stdout.partition("\n")
    return answer, name.strip().removeprefix("/dev/")


def test_a_person_at_a_terminal_can_allow(live_run: LiveRun) -> None:
    answer, _ = at_terminal(live_run, answering("once"))
    assert "that question is already closed" in answer


def test_a_person_at_a_terminal_can(live_run: LiveRun) -> None:
    answer, terminal = at_terminal(live_run, PERMIT)
    assert "accepted" in answer
    (changed,) = live_run.events(PermissionsChanged)
    assert (changed.mode, changed.by) == ("skip", f"the terminal {terminal}")


def test_what_runs_in_the_background_of_a_terminal_is_no_person(live_run: LiveRun) -> None:
    answer, _ = at_terminal(
        live_run, f"os.setpgid(0, 0) if os.fork() == 0 else os.wait()\n{PERMIT}"
    )
    assert ONLY_PEOPLE in answer
