"""Prompts on the command line: show, lay out, edit once, and add permanently."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.remote.client import request
from tests.e2e.cli import GATE, ONE_MORE, here, project
from tests.e2e.test_remote import refused, running, said
from tests.waiting import until

AGENT = ("--agent", "command", "--agent-command")
LAYOUT = (
    "# My layout\n\n$objective\n\nMind the style guide.\n\n"
    "This is $iteration of $max_iterations.\n\n$state\n\n$contract\n"
)


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A path as short as sockets need it."""
    folder = tempfile.mkdtemp(prefix="rt-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    yield
    shutil.rmtree(folder)


def test_prompts_are_shown_as_sent_and_as_they_would_be_now(git_repo: Path) -> None:
    project(git_repo)
    (git_repo / "my.tpl").write_text(LAYOUT)
    layout = ("--set", "intelligence.prompt_template=my.tpl")
    done = here("run", "Make it work", "-c", GATE, *AGENT, ONE_MORE, "--headless",
               "--max-iterations", "2", *layout, cwd=git_repo)  # fmt: skip
    assert "limit reached" in done.stdout, done.stderr
    first = here("prompt", "show", "--iteration", "1", cwd=git_repo)
    assert first.stdout.startswith("# My layout\n\n# Objective\n\nMake it work\n\nMind the style")
    assert "task-001/001, iteration 1, as it was sent, about " in first.stderr
    assert "done-0.txt" in first.stdout
    last = here("prompt", "show", "task-001", cwd=git_repo).stdout
    assert last == here("prompt", "show", "--iteration", "2", cwd=git_repo).stdout
    assert "done-0.txt" not in last
    now = here("prompt", "show", cwd=git_repo)
    assert "the prompt that task-001/001 would send if it is resumed, in iteration 3" in now.stderr
    assert now.stdout.startswith("# My layout")
    assert "2 passed, 2 failed" in now.stdout
    assert "cut off" not in now.stderr
    # Changes of a killed session are measured when the run continues.
    journal = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl"
    whole = journal.read_text()
    lines = whole.splitlines(keepends=True)
    end = next(
        n for n, line in enumerate(lines) if '"prompt_prepared"' in line and '"iteration":2' in line
    )
    journal.write_text("".join(lines[: end + 1]))
    cut = here("prompt", "show", cwd=git_repo)
    journal.write_text(whole)
    assert "it reports that iteration 2 was cut off, and what that changed" in cut.stderr
    assert "no prompt in iteration 7" in refused(
        "prompt", "show", "--iteration", "7", cwd=git_repo, code=2
    )
    # Of a fleet's loop the journal alone comes here.
    loop = git_repo / ".aiwg/ralph/fleets/fleet-001/loops/1/attempts/001"
    loop.mkdir(parents=True)
    shutil.copy(git_repo / ".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl", loop)
    asked = ("prompt", "show", str(loop), "--iteration", "1")
    assert "stay in its clone" in refused(*asked, cwd=git_repo, code=1)
    shutil.rmtree(loop.parents[3])
    # The agent gets what holds for all iterations before its prompt, and the record has it.
    folder = git_repo / ".aiwg/ralph/tasks/task-001/attempts/001/results"
    assert "How this works" in (folder / "iter-000/system-context.md").read_text()
    assert (folder / "iter-001/next-prompt.md").read_text() == last
    # The prompt shown now is the one sent later, for the iterations that a resume offers.
    assert "This is 3 of 7." in now.stdout
    here("resume", "--headless", "--max-iterations", "7", cwd=git_repo)
    assert here("prompt", "show", "--iteration", "3", cwd=git_repo).stdout == now.stdout
    shown = here("prompt", "show", cwd=git_repo)
    assert "would send if it had not completed" in shown.stderr
    assert "promised completion" not in shown.stdout


def test_a_template_is_checked_and_its_variables_are_printed(git_repo: Path) -> None:
    (git_repo / "bad.tpl").write_text("$objective\n\n$sttae\n")
    assert "line 3: unknown variable $sttae (did you mean $state?)" in refused(
        "prompt", "check", "bad.tpl", cwd=git_repo, code=2
    )
    (git_repo / "my.tpl").write_text("$state\n")
    done = here("prompt", "check", "my.tpl", cwd=git_repo)
    assert "my.tpl is valid; it uses $state" in done.stdout
    assert "$max_iterations" in done.stdout
    assert "it has no $objective" in done.stderr
    assert "the built-in layout:\n\n$objective\n\n$criteria" in said(
        "prompt", "check", cwd=git_repo
    )
    # A run that would use it does not begin.
    assert "bad.tpl, line 3" in refused(
        "run", "x", "-c", "true", *AGENT, "true", "--headless",
        "--set", "intelligence.prompt_template=bad.tpl", cwd=git_repo, code=2,
    )  # fmt: skip
    assert not (git_repo / ".aiwg/ralph/tasks").exists()


def test_a_standing_instruction_and_the_one_edit_from_elsewhere(git_repo: Path) -> None:
    count = "cat >/dev/null; while [ ! -e go ]; do sleep 0.1; done; rm go"
    arguments = (*AGENT, count, "--max-iterations", "3", "--detached")
    with running(git_repo, *arguments) as there:
        there.reaches("session_started")
        assert "in every prompt from now on" in said(
            "guide", "--always", "small commits", cwd=git_repo
        )
        until(lambda: "always      small commits" in said("status", cwd=git_repo))
        owner = worker(git_repo / ".aiwg/ralph/lock")
        assert owner is not None
        request(Path(owner.socket), {"name": "edit_prompt"}, 5)
        (git_repo / "go").touch()
        asked = there.reaches("question_asked")
        assert asked["topic"] == "prompt"
        assert "# Standing instruction" in asked["proposal"]
        until(lambda: (there.status().get("question") or {}).get("topic") == "prompt")
        assert "The prompt of iteration 2 is ready" in said("decide", cwd=git_repo)
        assert "answered send" in said("decide", "send", "Only look at a.py.", cwd=git_repo)
        second = there.reaches("prompt_prepared", 2)
        assert second["edited_by"]
        assert said_file(there.journal.parent / second["path"]) == "Only look at a.py.\n"
        there.reaches("session_started", 2)
        assert "removed; prompts no longer contain it" in said(
            "guide", "--always", "", cwd=git_repo
        )
        (git_repo / "go").touch()
        third = there.reaches("prompt_prepared", 3)
        assert "small commits" not in said_file(there.journal.parent / third["path"])
        assert "there is no standing instruction" in refused("guide", "--always", "", cwd=git_repo)


def said_file(path: Path) -> str:
    return path.read_text("utf-8")
