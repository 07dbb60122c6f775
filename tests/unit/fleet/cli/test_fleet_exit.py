"""Messages and exit codes when the user leaves a fleet's screen."""

from pathlib import Path

from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.status_words import command_row as row
from ralph_tui.events.run import Outcome
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.cli.showing import choose_code, left_text
from ralph_tui.fleet.records import FleetFolder, create_fleet
from ralph_tui.fleet.state import FleetState, why_lost
from tests.fleet_events import SIX, stamped, started
from tests.hosted import git
from tests.rows import each_row


def a_state(*events: ev.FleetEvent) -> FleetState:
    return FleetState().replay(stamped([started(SIX), *events]))


@each_row(
    ("outcome", "code"), [("completed", 0), ("failed", 1), ("limit_reached", 3), ("aborted", 4)]
)
def test_the_exit_code_is_the_outcome_of_a_fleet_that_is_over(outcome: Outcome, code: int) -> None:
    over = a_state(ev.FleetFinished(outcome=outcome))
    assert choose_code(over, ExitCode.COMPLETED, lost="") == code
    assert choose_code(over, ExitCode.INTERRUPTED, lost="") == ExitCode.INTERRUPTED, (
        "a signal ended it"
    )
    assert choose_code(a_state(), ExitCode.COMPLETED, lost="") == ExitCode.COMPLETED, "it continues"
    assert choose_code(a_state(), ExitCode.COMPLETED, lost="died") == ExitCode.FAILED, "it has died"


def test_no_resume_is_promised_of_a_record_that_breaks_off(tmp_path: Path) -> None:
    failed = ev.CollectionFailed(loop="1", reason="its disk was full")
    ended = ev.LoopEnded(loop="1", outcome="completed")
    for over in ([], [ev.FleetFinished(outcome="completed")]):
        state = a_state(ended, failed, *over)
        lost = why_lost(state, "line 9 cannot be read", alive=False)
        words = left_text(FleetFolder(tmp_path / "fleet-001"), state, lost)
        assert "unknown: its record ends abruptly here, without an outcome" in words
        assert words.count("ralph-tui fleet resume") == 1
        assert "fleet resume shows what to do" in words
    assert why_lost(a_state(), "line 9 cannot be read", alive=True) == ""


def test_a_stopped_fleet_is_left_with_the_command_that_continues_it(tmp_path: Path) -> None:
    folder = FleetFolder(tmp_path / "fleet-001")
    over = ev.FleetFinished(outcome="interrupted")
    assert "ralph-tui fleet resume fleet-001" in left_text(folder, a_state(over))
    aborted = ev.StopAsked(by="you", abort=True)
    assert "fleet resume" not in left_text(folder, a_state(aborted, over))


def test_only_branches_that_there_are_are_named(tmp_path: Path) -> None:
    state = a_state(
        ev.ResultCollected(loop="1", branch="ralph/fleet-001/1", commit="c1", files=1),
        ev.ResultCollected(loop="2", branch="", commit="c0"),
        ev.ResultCollected(loop="4", branch="ralph/fleet-001/4", commit="c4", files=1),
        ev.FleetFinished(outcome="completed"),
    )
    words = left_text(FleetFolder(tmp_path / "fleet-001"), state)
    assert "its branches:      ralph/fleet-001/1, ralph/fleet-001/4\n" in words


def test_no_branch_is_named_that_has_been_deleted(git_repo: Path) -> None:
    state = a_state(
        *(
            ev.ResultCollected(loop=one, branch=f"ralph/fleet-001/{one}", commit="c", files=1)
            for one in "14"
        ),
        ev.FleetFinished(outcome="completed"),
    )
    folder = create_fleet(git_repo)
    git(git_repo, "branch", "ralph/fleet-001/4")
    assert "its branches:      ralph/fleet-001/4\n" in left_text(folder, state)
    git(git_repo, "branch", "-D", "ralph/fleet-001/4")
    assert "branches" not in left_text(folder, state)


@each_row("purpose", ["short", "a much longer purpose than that"])
def test_a_command_stands_apart_from_what_it_is_for(purpose: str) -> None:
    assert f"{purpose}: " in row(purpose, "ralph-tui status")


def test_the_winner_stands_apart_from_the_tries_that_it_beat(tmp_path: Path) -> None:
    tries = [
        ev.ResultCollected(loop=f"3{one}", branch=f"ralph/f/3{one}", commit="c", files=1)
        for one in "abc"
    ]
    alone = ev.ResultCollected(loop="1", branch="ralph/f/1", commit="c", files=1)
    won = ev.WinnerChosen(tries_at="3", loop="3b", reason="it completed first")
    over = ev.FleetFinished(outcome="completed")
    words = left_text(FleetFolder(tmp_path / "f"), a_state(*tries, alone, won, over))
    assert "the winner's:      ralph/f/3b\n" in words
    assert "the others':       ralph/f/3a, ralph/f/3c\n" in words
    assert "its branches:      ralph/f/1\n" in words
