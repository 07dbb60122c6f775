"""A fleet of a tracker's issues: from the text of the issues to branches here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cli import GATE, Done, here, run
from tests.e2e.test_fleet import DOES_ALL, plan, root, said, state_of
from tests.e2e.test_outreach import to_tracker
from tests.hosted import git
from tests.trackers import TOKEN, Reply, TrackerService, served

__all__ = ["root"]


@pytest.fixture
def tracker(monkeypatch: pytest.MonkeyPatch) -> Iterator[TrackerService]:
    """Three issues, two of them labelled for the night."""
    monkeypatch.setenv("GITEA_TOKEN", TOKEN)
    service = TrackerService("gitea")
    service.add_labels("night", "day")
    night, day = ([label] for label in service.labels)
    texts = [("Parse dates", "All of them.\r\n\x1b[2J", night), ("Later", "", day),
             ("Only a title", "", night)]  # fmt: skip
    service.issues = [
        {"number": number, "state": "open", "title": title, "body": body, "labels": labels}
        for number, (title, body, labels) in enumerate(texts, 1)
    ]
    with served(service):
        yield service
    assert service.violations == []


def ask(root: Path, *words: str, agent: str = "true") -> Done:
    """Run a fleet with an invalid request, which must fail before anything starts."""
    return here("fleet", "run", *words, "--headless", "--agent-command", agent, cwd=root)


def test_issues_become_branches(root: Path, tracker: TrackerService) -> None:
    keeps = f'{DOES_ALL}; echo "$RALPH_FLEET_LOOP" >which.txt'
    words = ("--from-issues", "day", "-c", GATE, "--agent-command", keeps)
    done = run("fleet", "run", *words, "--headless", *to_tracker(tracker), cwd=root)
    assert done.returncode == 0, said(done)
    assert [one.spec.objective for one in state_of(root).loops.values()] == [
        "Resolve issue 2: Later"
    ]
    assert git(root, "show", "ralph/fleet-001/2:which.txt") == "2"

    file = plan(root, agent=keeps)
    file.write_text(f"{file.read_text()}[[objective]]\nissue = 1\n")
    done = run("fleet", "run", str(file), "--headless", *to_tracker(tracker), cwd=root)
    assert done.returncode == 0, said(done)
    assert [one.spec.objective for one in state_of(root).loops.values()] == [
        "Resolve issue 1: Parse dates\n\nAll of them."
    ]
    assert git(root, "branch", "--list", "ralph/fleet-002/*").split() == ["ralph/fleet-002/1"]
    assert {request.method for request in tracker.requests} == {"GET"}, "nothing was wrong"
    assert TOKEN not in "".join(path.read_text() for path in root.rglob("events.jsonl"))


def test_an_issue_of_a_file_is_read_by_its_number(root: Path, tracker: TrackerService) -> None:
    file = root.parent / "night.toml"
    file.write_text('[fleet]\ncommand = "true"\n[[objective]]\nissue = 7\n')
    missing = ask(root, str(file), *to_tracker(tracker))
    assert "issue 7 cannot be read: " in missing.stderr
    assert (
        "shows no such issue to this token; check the number and the token's rights"
        in missing.stderr
    )
    tracker.issues[1].update(title=" ", body=None)
    file.write_text('[fleet]\ncommand = "true"\n[[objective]]\nissue = 2\n')
    empty = ask(root, str(file), *to_tracker(tracker))
    assert "issue 2 is empty; describe the task" in empty.stderr
    file.write_text('[fleet]\ncommand = "false"\n[[objective]]\nissue = 1\nmax_iterations = 1\n')
    nothing = ask(root, str(file))
    assert "issues need a tracker" in nothing.stderr
    assert [done.stderr.count("\n") for done in (missing, empty, nothing)] == [1, 1, 1]


def test_what_keeps_issues_from_being_read_is_one_sentence(
    root: Path, tracker: TrackerService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusal(label: str = "night") -> str:
        done = ask(root, "--from-issues", label, "-c", "true", *to_tracker(tracker))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), said(done)
        return done.stderr

    assert "has no open issue with the label 'dusk'" in refusal("dusk")
    tracker.issues[2].update(title="", body=None)
    assert "issue 3 is empty; describe the task" in refusal()
    tracker.special = lambda _: Reply(503)
    assert "has a server error (HTTP 503)" in refusal()
    tracker.special = lambda _: Reply(200, raw=b"<html>")
    assert "is not a tracker; check outreach.tracker_url" in refusal()
    monkeypatch.setenv("GITEA_TOKEN", "")
    assert "set the environment variable GITEA_TOKEN" in refusal()
    tracker.url = "http://127.0.0.1:9"
    monkeypatch.setenv("GITEA_TOKEN", TOKEN)
    assert "http://127.0.0.1:9 cannot be reached" in refusal()
    assert not (root / ".aiwg").exists()
