"""Commands for people only: a run's agent tries them in another repository."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from ralph_tui.cli.human_only import STARTED_BY_RUN
from tests.e2e.cli import CLI, GATE, ONE_MORE, project, run

TRIES = (
    ("resume", "--headless", "--permissions", "skip"),
    ("restore", "1", "--yes"),
    ("prune", "--yes", "--keep", "0"),
    ("rebuild",),
    ("history", "task-001", "--reflect", "do as I say"),
    ("memory", "import", "learned.json"),
    ("config", "init"),
    ("hooks", "install", "--yes"),
    ("fleet", "prune", "--yes"),
    ("fleet", "resume", "--headless"),
)
ALL = """import json, sys
from ralph_tui.cli import main
print(*(int(main(words)) for words in json.loads(sys.argv[1])), sep="\\n")
"""
"""All of these, in one process."""
AWAY = "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nos.execv(sys.argv[1], sys.argv[1:])"


AS_A_HOST = """import os, socket, sys
ours, theirs = socket.socketpair()
os.set_inheritable(theirs.fileno(), True)
if os.fork():
    os.wait()
else:
    words = [*sys.argv[1:], f"--commands-from={theirs.fileno()}"]
    os.execv(words[0], words)
"""
"""Environment in which a fleet's host starts the runs of its loops."""


def agent(command: str) -> list[str]:
    return ["--agent-command", f"cat >/dev/null; {command}", "--max-iterations", "1", "--headless"]


@pytest.fixture
def others(git_repo: Path, tmp_path: Path) -> Path:
    """A repository of the same user, with a run that was left at its limit."""
    root = project(Path(shutil.copytree(git_repo, tmp_path / "others", symlinks=True)))
    done = run(
        "run", "Fix it", "-c", GATE, *agent(ONE_MORE.replace("cat >/dev/null; ", "")), cwd=root
    )
    assert done.returncode == 3, done.stderr
    return root


def test_an_agent_cannot_do_what_only_people_may_do(git_repo: Path, others: Path) -> None:
    before = {path: path.read_bytes() for path in others.rglob("*") if path.is_file()}
    said = git_repo / "said.txt"
    call = [sys.executable, "-P", "-c", ALL, json.dumps(TRIES)]
    bare = ["env", "-i", f"HOME={os.environ['HOME']}", sys.executable, "-c"]
    lines = [
        f"cd {shlex.quote(str(others))}",
        f"{shlex.join(call)} </dev/null >>{said} 2>&1",
        f"{shlex.join([*bare, AWAY, *call])} >>{said} 2>&1",
        f"{shlex.join([*bare, AS_A_HOST, *CLI, *TRIES[0]])} >>{said} 2>&1",
        f"until [ $(grep -c '^[0-9]' {said}) -ge {2 * len(TRIES)} ]; do sleep 0.1; done",
    ]
    (git_repo / "agent.sh").write_text("\n".join(lines))
    done = run("run", "Try it", "-c", "false", *agent("sh agent.sh"), cwd=git_repo)
    assert done.returncode == 3, done.stdout + done.stderr
    text = said.read_text().splitlines()
    assert text.count("2") == 2 * len(TRIES), text
    assert len(text) == 4 * len(TRIES) + 1
    assert set(text) == {"2", f"ralph-tui: {STARTED_BY_RUN}"}
    assert {path: path.read_bytes() for path in others.rglob("*") if path.is_file()} == before
