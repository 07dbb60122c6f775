"""Whole runs with agents that do to the repository what agents do."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import events_of, here

IDENTITY = (
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
)
ONE_THEN_TWO = "cat >/dev/null; if [ -e one.txt ]; then echo 2 >two.txt; else echo 1 >one.txt; fi; "
"""An agent that needs two sessions, whatever else it does."""


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def events_with(root: Path, does: str) -> list[dict[str, Any]]:
    """A run of two iterations; the agent also runs `script` in each."""
    done = here(
        *("run", "x", "-c", "test -e two.txt", "--headless", "--json", "--max-iterations", "3"),
        *("--agent", "command", "--agent-command", IDENTITY + ONE_THEN_TWO + does),
        cwd=root,
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    events = events_of(done.stdout)
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "completed")
    assert len(of(events, "iteration_finished")) == 2
    return events


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def warnings(events: list[dict[str, Any]]) -> list[str]:
    """Warnings about git and the files, each one sentence."""
    texts = [e["text"] for e in of(events, "noticed") if e["source"] in ("workspace", "watch")]
    assert all("\n" not in text for text in texts)
    return texts


def settled(events: list[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    """File changes of each iteration."""
    return [
        [(change["path"], change["status"]) for change in event["changes"]]
        for event in of(events, "files_changed")
        if not event["live"]
    ]


EACH_A_FILE = [[("one.txt", "added")], [("two.txt", "added")]]

HARMLESS = {
    "commits, amends, rebases, stashes": (
        "git add -A; git commit -qm x; git commit -q --amend -m y; echo more >>README.md;"
        " git stash -q; git stash pop -q; git checkout -q README.md; git reset -q --soft HEAD~1;"
        " git commit -qm z; git rebase -q --root --exec true; git reset -q --hard"
    ),
    "moves HEAD": (
        "n=$(git rev-list --count --all); git checkout -q -b side$n; git add -A;"
        " git commit -q --allow-empty -m $n; git checkout -q --detach; git branch -q -D side$n"
    ),
    "leaves locks behind": "touch .git/index.lock .git/HEAD.lock",
    "deletes and prunes": (
        "git for-each-ref --format='delete %(refname)' refs/ralph | git update-ref --stdin;"
        " git reflog expire --expire=now --all; git gc -q --prune=now"
    ),
}


@pytest.mark.parametrize("does", HARMLESS.values(), ids=HARMLESS.keys())
def test_an_agent_may_use_git(git_repo: Path, does: str) -> None:
    events = events_with(git_repo, does)
    reported = warnings(events)
    if "--prune" in does:
        # The base of the comparison is gone; the run reports that and continues.
        assert all("are unknown" in text or "cannot be listed" in text for text in reported)
    else:
        assert reported == []
        assert settled(events) == EACH_A_FILE
    last = of(events, "snapshot_taken")[-1]
    names = git(git_repo, "ls-tree", "-r", "--name-only", last["commit"]).split()
    assert names == ["README.md", "one.txt", "two.txt"]
    if "touch" in does:
        assert (git_repo / ".git" / "index.lock").exists(), "the locks of others are theirs"


def test_an_agent_that_makes_the_repository_anew(git_repo: Path) -> None:
    events = events_with(git_repo, "rm -rf .git; git init -q; git add -A; git commit -qm new")
    reported = warnings(events)
    assert reported
    assert all("are unknown" in text or "cannot be listed" in text for text in reported)
    last = of(events, "snapshot_taken")[-1]
    assert git(git_repo, "show", f"{last['commit']}:two.txt") == "2\n"
    assert git(git_repo, "log", "--format=%s") == "new\n"


def test_a_deleted_repository_is_not_mistaken_for_the_one_around_it(git_repo: Path) -> None:
    inner = git_repo / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    events = events_with(inner, "rm -rf .git")
    text = " ".join(warnings(events))
    assert f"no snapshot taken: the git repository of {inner} is gone" in text
    assert not (inner / ".git").exists(), "it is the user's to bring back"
    assert git(git_repo, "for-each-ref", "refs/ralph") == ""
    assert not (git_repo / ".git" / "ralph-tui").exists()


def test_the_last_second_of_a_record_survives_git_clean(git_repo: Path) -> None:
    """The run ends before anybody had a look whether the journal still has its name."""
    events = events_with(git_repo, "git add -A; git commit -qm x; git clean -ffdxq")
    journal = next((git_repo / ".aiwg").rglob("events.jsonl"))
    assert [json.loads(line) for line in journal.read_text().splitlines()] == events
    replayed = here("replay", "--json", cwd=git_repo)
    assert events_of(replayed.stdout) == events


TAKE_PLACE = "until rm -rf .aiwg && echo mine 2>/dev/null >.aiwg; do :; done; sleep 0.2"
"""Our own files may come back between the two."""


def test_an_agent_that_puts_a_file_in_the_records_place(git_repo: Path) -> None:
    done = here(
        *("run", "x", "-c", "false", "--json", "--max-iterations", "3"),
        *("--agent", "command", "--agent-command", TAKE_PLACE),
        cwd=git_repo,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    last = events_of(done.stdout)[-1]
    assert (last["kind"], last["outcome"]) == ("run_finished", "failed")
    assert "\n" not in last["reason"]
    assert (git_repo / ".aiwg").read_text() == "mine\n"


def test_a_run_in_a_submodule(git_repo: Path, tmp_path: Path) -> None:
    """A git dir elsewhere that names the worktree in ``core.worktree``."""
    around = tmp_path / "around"
    around.mkdir()
    git(around, "init", "-q")
    allow = ("-c", "protocol.file.allow=always")
    git(around, *allow, "submodule", "--quiet", "add", str(git_repo), "sub")
    before = git(around, "status", "--porcelain")
    events = events_with(around / "sub", "git add -A; git commit -qm x")
    assert settled(events) == EACH_A_FILE
    assert git(around, "for-each-ref") == ""
    assert git(around, "status", "--porcelain") != before, "the agent's own commits are seen"
    assert git(around / "sub", "for-each-ref", "refs/ralph") != ""


def test_a_submodule_that_is_updated_meanwhile(git_repo: Path, tmp_path: Path) -> None:
    around = tmp_path / "around"
    around.mkdir()
    git(around, "init", "-q")
    allow = "-c protocol.file.allow=always"
    git(around, *allow.split(), "submodule", "--quiet", "add", str(git_repo), "sub")
    git(around, "submodule", "--quiet", "deinit", "--force", "sub")
    events = events_with(
        around, f"git {allow} submodule --quiet update --init; echo dirty >>sub/README.md"
    )
    assert warnings(events) == []
    assert settled(events) == EACH_A_FILE
    assert of(events, "snapshot_taken")[-1]["missing"] == ["sub/"]
    assert (around / "sub" / "README.md").read_text() == "# sample\ndirty\ndirty\n"
