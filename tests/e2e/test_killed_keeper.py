"""An agent that kills its keeper and leaves its session, its environment and its parents behind."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.remote.peer import STARTED_BY_RUN
from tests.e2e.cli import GATE, here, project, start
from tests.e2e.test_last_screen import events
from tests.processes import state_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans are not adopted")

ESCAPE = """
import json, os, pathlib, signal, socket, sys, time
folder, *parent = sys.argv[1:]
if not parent:
    if os.fork() == 0:
        os.setsid()
        parent = str(os.getpid())
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, *sys.argv, parent], {})
        os._exit(0)
    os.wait()
    time.sleep(300)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
nothing = os.open(os.devnull, os.O_RDWR)
for standard in (0, 1, 2):
    os.dup2(nothing, standard)
while os.getppid() == int(parent[0]):
    time.sleep(0.01)
keeper = os.getppid()
os.kill(keeper, signal.SIGKILL)
while os.getppid() == keeper:
    time.sleep(0.001)
path = json.loads(pathlib.Path(".aiwg/ralph/lock").read_text())["socket"]
answers = []
for command in ({"name": "permissions", "mode": "skip", "allow": []}, {"name": "stop"}):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    line = {"version": 1, "command": command}
    try:
        connection.sendall(json.dumps(line).encode() + b"\\n")
    except BrokenPipeError:
        pass
    answers.append(json.loads(connection.makefile().readline()).get("refused"))
told = pathlib.Path(folder, "told")
told.with_name("new").write_text(json.dumps([os.getpid(), answers]))
told.with_name("new").rename(told)
time.sleep(300)
"""

ALL_DONE = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"
CROSS = """
import glob, json, os, pty, socket, sys, time
sys.stdin.read()
def locks():
    return [lock for pattern in sys.argv[2:] for lock in glob.glob(pattern, recursive=True)]
def ready():
    return len(locks()) >= int(sys.argv[1]) and all(json.load(open(l))["socket"] for l in locks())
while not ready():
    time.sleep(0.05)
def say(lock, **command):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(json.load(open(lock))["socket"])
    connection.sendall(json.dumps({"version": 1, "command": command}).encode() + b"\\n")
    print(json.loads(connection.makefile().readline()).get("refused"), flush=True)
def speak():
    for lock in locks():
        say(lock, name="extend", iterations=50)
        say(lock, name="permissions", mode="skip", allow=[])
speak()
pid, terminal = pty.fork()
if not pid:
    speak()
    os._exit(0)
try:
    while text := os.read(terminal, 1000):
        os.write(1, text)
except OSError:
    pass
"""
"""An agent that commands the runs of so many locks, then once more on a terminal of its own."""


def test_the_agent_of_another_run_commands_nothing(
    git_repo: Path, first_repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "cross.py").write_text(CROSS)
    waiting = ("--agent", "command", "--agent-command", "cat >/dev/null; exec sleep 500")
    with start("run", "Wait", "-c", "false", *waiting, cwd=git_repo) as process:
        try:
            until(lambda: events(git_repo, "session_started"))
            lock = git_repo / ".aiwg/ralph/lock"
            other = Path(shutil.copytree(first_repo, tmp_path / "other"))
            cross = f"{sys.executable} {tmp_path / 'cross.py'} 1 {lock}"
            limit = ("--max-iterations", "1", "--headless")
            agent = ("--agent", "command", "--agent-command", cross)
            here("run", "Cross", "-c", "false", *agent, *limit, cwd=other)
            spoke = "\n".join(event["text"] for event in events(other, "agent_spoke"))
            assert spoke.split("\n") == [STARTED_BY_RUN] * 4
        finally:
            process.kill()


def test_it_is_ended_soon_and_commands_nothing(git_repo: Path, tmp_path: Path) -> None:
    (tmp_path / "escape.py").write_text(ESCAPE)
    pid_file, goes_on = tmp_path / "told", tmp_path / "goes on"
    escape = f"[ -e {pid_file} ] || exec {sys.executable} {tmp_path / 'escape.py'} {tmp_path}"
    waits = f"until [ -e '{goes_on}' ]; do sleep 0.1; done"
    root = project(git_repo)
    order = ("run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command")
    with start(*order, f"{escape}; {waits}; {ALL_DONE}", "--json", cwd=root) as process:
        try:
            until(pid_file.exists)
            pid, answers = json.loads(pid_file.read_text())
            until(lambda: len(events(root, "session_started")) == 2)
            # Neither living nor dead, while the run is alive.
            assert state_of(pid) == ""
            goes_on.touch()
            process.communicate()
        finally:
            process.kill()
            if pid_file.exists() and state_of(pid := json.loads(pid_file.read_text())[0]):
                os.kill(pid, signal.SIGKILL)
    assert answers == [STARTED_BY_RUN, STARTED_BY_RUN]
    assert process.returncode == 0
    ends = [event["outcome"] for event in events(root, "session_finished")]
    assert ends == ["crashed", "success"]
