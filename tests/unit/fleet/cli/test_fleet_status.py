"""``fleet status`` is a table that fits the terminal."""

import json
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.base.errors import JournalError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.cli.showing import show_fleet
from ralph_tui.fleet.records import create_fleet, take_lock
from ralph_tui.fleet.wording import lost_words
from tests.e2e.cli import here
from tests.fleet_events import a_loop, a_plan, started
from tests.world import FakeClock


def test_it_fits_80_columns(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goal = "Make everything in this repository twice as fast, and keep all of the tests green"
    plan = a_plan(a_loop("1", objective=goal), a_loop("2", objective=goal))
    events = [
        started(plan).model_copy(update={"root": str(git_repo)}),
        ev.LoopPlaced(loop="1", attempt=1, host="here", branch="ralph/fleet-001/1"),
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
        ev.LoopProgressed(
            loop="1", phase="agent", iteration=4, max_iterations=10, completion=0.95, cost_usd=1.2
        ),
        ev.LoopEnded(loop="1", outcome="limit_reached", reason="all 10 iterations " * 9),
    ]
    journal = Journal(create_fleet(git_repo).journal, FakeClock())
    for event in events:
        journal.append(event)
    journal.close()
    monkeypatch.setattr("ralph_tui.fleet.cli.showing.terminal_width", lambda: 80)
    lines = here("fleet", "status", cwd=git_repo).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = [line for line in lines if line.startswith("  1  ")]
    (loop, _) = json.loads(here("fleet", "status", "--json", cwd=git_repo).stdout)["loops"]
    assert loop["completions"] == [95.0], "in points, as of `status --json`"
    assert loop["tree"] == "/t", "its work has not been collected yet"
    assert row.split()[1:6] == ["limit", "reached", "4/10", "95", "%"]
    assert "Make everything" in row
    assert " ".join(" ".join(lines).split()).count("all 10 iterations") == 9


def test_an_open_question_has_the_command_that_answers_it(git_repo: Path) -> None:
    fleet, lock = create_fleet(git_repo), take_lock(git_repo, "f", "now")
    journal = Journal(fleet.journal, FakeClock())
    for event in (
        started(a_plan(a_loop("1"))).model_copy(update={"root": str(git_repo)}),
        ev.LoopPlaced(loop="1", attempt=1, host="here", branch="b"),
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
        ev.LoopProgressed(loop="1", phase="paused", question="Go on?", question_id="q"),
    ):
        journal.append(event)
    journal.close()
    lock.rename(fleet.name)
    _, _, question, answer = here("fleet", "status", cwd=git_repo).stdout.splitlines()
    lock.release()
    assert question.strip() == "Go on?"
    assert answer.strip() == "answer it: ralph-tui fleet decide 1"
    assert "answer it" not in here("fleet", "status", cwd=git_repo).stdout, "its process is gone"


def test_a_loop_is_watched_until_it_ends_and_not_until_its_fleet_does(git_repo: Path) -> None:
    fleet, lock = create_fleet(git_repo), take_lock(git_repo, "f", "now")
    journal = Journal(fleet.journal, FakeClock())
    for event in (
        started(a_plan(a_loop("1"), a_loop("2"))).model_copy(update={"root": str(git_repo)}),
        ev.LoopPlaced(loop="1", attempt=1, host="here", branch="b"),
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
        ev.LoopEnded(loop="1", outcome="limit_reached"),
        ev.ResultCollected(loop="1", branch="b", commit="c0"),
    ):
        journal.append(event)
    journal.close()
    lock.rename(fleet.name)
    shown = here("fleet", "attach", "1", cwd=git_repo)
    lock.release()
    assert "loop 1 is collected" in shown.stdout.splitlines()[-1]
    assert not shown.stderr, "there is nothing to wait for"
    assert shown.returncode == ExitCode.LIMIT_REACHED


def test_only_a_fleet_with_work_left_is_said_to_be_resumable(git_repo: Path) -> None:
    journal = Journal(create_fleet(git_repo).journal, FakeClock())
    journal.append(started(a_plan(a_loop("1"))).model_copy(update={"root": str(git_repo)}))
    stopped = here("fleet", "pause", "all", cwd=git_repo).stderr
    assert "or continue fleet-001 with 'ralph-tui fleet resume'" in stopped
    journal.append(ev.LoopSkipped(loop="1", reason="aborted by you", aborted=True))
    journal.append(ev.FleetFinished(outcome="aborted"))
    journal.close()
    over = here("fleet", "guide", "1", "Be brief", cwd=git_repo).stderr
    assert "start one with 'ralph-tui fleet run'" in over
    assert "fleet resume" not in over


def test_of_a_journal_that_breaks_off_it_says_what_resume_does(git_repo: Path) -> None:
    start = started(a_plan(a_loop("1"))).model_copy(update={"root": str(git_repo)})
    journal = Journal(create_fleet(git_repo).journal, FakeClock())
    journal.append(start)
    journal.append(ev.LoopPlaced(loop="1", attempt=1, host="here", branch="b"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"fake\n')

    shown = here("fleet", "status", cwd=git_repo).stdout
    status = json.loads(here("fleet", "status", "--json", cwd=git_repo).stdout)
    resumed = here("fleet", "resume", "--headless", cwd=git_repo).stderr

    sentence = lost_words("unheard")
    assert sentence.endswith("ralph-tui fleet resume shows what to do")
    assert sentence in shown
    assert status["sentence"] == sentence
    assert status["loops"][0]["sentence"] == "it was running when the fleet's record broke off"
    assert "events.jsonl:3 cannot be read" in shown
    assert "events.jsonl:3 cannot be read" in resumed
    assert "continue it" not in shown
    attached = here("fleet", "attach", cwd=git_repo)
    assert (attached.returncode, "see ralph-tui fleet status" in attached.stderr) == (1, True)


def test_of_an_empty_journal_nothing_is_shown_but_that(git_repo: Path) -> None:
    folder = create_fleet(git_repo)
    folder.journal.touch()
    attached = here("fleet", "attach", cwd=git_repo)
    assert (attached.returncode, "is empty" in attached.stderr) == (1, True)
    assert "fleet resume" not in attached.stdout + attached.stderr
    with pytest.raises(JournalError, match="is empty"):
        show_fleet(git_repo, folder)


def test_no_tree_is_named_that_was_removed(git_repo: Path) -> None:
    collected = ev.ResultCollected(loop="1", branch="", commit="c0")
    placed = ev.LoopPlaced(loop="1", attempt=1, host="here", branch="ralph/fleet-001/1")
    events = [
        started(a_plan(a_loop("1"))).model_copy(update={"root": str(git_repo)}),
        placed,
        ev.LoopBegan(loop="1", run_id="r", run="task-001/001", folder="/t"),
        ev.LoopEnded(loop="1", outcome="interrupted"),
        collected,
    ]
    journal = Journal(create_fleet(git_repo).journal, FakeClock())

    def tree() -> str:
        (loop,) = json.loads(here("fleet", "status", "--json", cwd=git_repo).stdout)["loops"]
        return str(loop["tree"])

    for event in events:
        journal.append(event)
    assert tree() == "/t", "it may go on there"
    again = placed.model_copy(update={"resumed": True})
    for event in (again, ev.LoopEnded(loop="1", outcome="limit_reached"), collected):
        journal.append(event)
    journal.close()
    assert tree() == ""
