"""``context.state_file``: the file a run leaves for other tools, and files it leaves alone."""

import json
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.events import FilesChanged, Noticed
from tests.e2e.cli import GATE, ONE_MORE, here, project

NAME = ".claude/ralph-state.json"
VARIABLE = "RALPH_TUI_CONTEXT__STATE_FILE"
ORDER = ["run", "Make it pass", "-c", GATE, "--agent", "command", "--agent-command", ONE_MORE]


def named(name: str) -> dict[str, Any]:
    """The environment that names the state file."""
    return {VARIABLE: name}


def test_a_run_keeps_it_beside_its_work(git_repo: Path) -> None:
    project(git_repo)
    (git_repo / ".claude").mkdir()
    theirs = {"objective": "Theirs", "status": "completed", "linear_issue": "ENG-7"}
    (git_repo / NAME).write_text(json.dumps(theirs))
    done = here(*ORDER, "--headless", "--json", cwd=git_repo, **named(NAME))
    assert done.returncode == 0, done.stderr
    state = json.loads((git_repo / NAME).read_text())
    assert (state["objective"], state["status"], state["iteration"]) == (
        "Make it pass",
        "completed",
        4,
    )
    assert state["linear_issue"] == "ENG-7"
    events = read_journal(resolve_run(git_repo, None).journal).events
    reported = [one.path for e in events if isinstance(e, FilesChanged) for one in e.changes]
    assert "done-0.txt" in reported
    assert not [path for path in reported if ".claude" in path]
    assert not [e.text for e in events if isinstance(e, Noticed) and "state" in e.text]


def test_one_that_cannot_be_written_is_one_warning_and_the_run_goes_on(git_repo: Path) -> None:
    project(git_repo)
    (git_repo / ".claude").write_text("in the way")
    done = here(*ORDER, "--headless", cwd=git_repo, **named(NAME))
    assert done.returncode == 0, done.stderr
    sentence = f"the state file {NAME} cannot be written: "
    assert done.stdout.count(sentence) == 1
    assert (git_repo / ".claude").read_text() == "in the way"


def test_another_name_is_refused_in_one_sentence(git_repo: Path) -> None:
    project(git_repo)
    for name in ("package.json", "../ralph-state.json", ".git/ralph-state.json"):
        done = here(*ORDER, "--headless", cwd=git_repo, **named(name))
        assert done.returncode == 2
        assert "must be a ralph-state.json inside the repository" in done.stderr
        assert done.stderr.count("\n") == 1
