"""A winner's command is verified again in a fresh clone with a loop's surroundings."""

from pathlib import Path

import pytest

from ralph_tui.adapters.clones.checking import Check, FreshCheck
from ralph_tui.adapters.clones.places import TreeFolder
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import UsageError
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.runtime.preflight import start_notices
from ralph_tui.fleet.runtime.results import CollectedWork
from ralph_tui.fleet.state import FleetState
from tests.fleet_events import a_loop, a_plan
from tests.hosted import FLEET, committed, git


@pytest.fixture
def root(git_repo: Path) -> Path:
    return committed(git_repo)


def verified(root: Path, trees: Path, command: str, **plan: object) -> ev.WinnerVerified:
    """Result of checking loop 1 of a fleet, whose work is the base."""
    made = a_plan(a_loop("1", command=command), **plan)
    commit = git(root, "rev-parse", "HEAD")
    known = {"fleet_id": FLEET, "name": "fleet-001", "root": str(root), "commit": commit}
    start = ev.FleetStarted.model_validate({**known, "plan": made})
    state = FleetState().replay(
        [start, ev.ResultCollected(loop="1", branch="ralph/fleet-001/1", commit=commit)]
    )
    return CollectedWork(open_repository(root), start, trees).verify(state.loops["1"])


def test_the_command_has_ports_and_names_as_its_loop_had(root: Path, tmp_path: Path) -> None:
    command = (
        'test "$RALPH_FLEET/$RALPH_FLEET_LOOP" = fleet-001/1 && test "$PORT_BASE" -gt 1024 '
        '&& test "$PORT_COUNT" = 7 && test "$RALPH_FLEET_SLOT" = 2'
    )
    check = verified(root, tmp_path / "trees", command, ports=7, agents=2)
    assert (check.passed, check.reason) == (True, "")
    assert not list((tmp_path / "trees").rglob("tree")), "its clone is removed"


def test_a_setup_whose_program_is_missing_is_called_the_setup(root: Path, tmp_path: Path) -> None:
    check = verified(root, tmp_path / "trees", "true", setup="no-such-program-here")
    assert not check.passed
    assert check.reason.startswith("The set-up command `no-such-program-here` was not found")
    assert "completion command" not in check.reason


def test_a_check_that_fails_says_how(root: Path, tmp_path: Path) -> None:
    folder = TreeFolder.of(tmp_path, FLEET, "check-1", 1)
    check = FreshCheck(folder, root, "echo red; exit 3", {"PATH": "/usr/bin:/bin"})
    commit = git(root, "rev-parse", "HEAD")
    assert check.run(commit) == Check(False, "it exited with code 3 in a fresh clone: red")


def test_agents_whose_cost_nobody_knows_are_named_where_there_is_a_budget(root: Path) -> None:
    def said(**plan: object) -> list[str]:
        loops = [a_loop("1", settings={"agent.name": "command"})]
        made = a_plan(*loops, **plan)
        repository = open_repository(root)
        notices = start_notices(repository, made, git(root, "rev-parse", "HEAD"))
        return [one.text for one in notices if isinstance(one, ev.FleetNoticed)]

    assert said() == []
    cost_notice = "command does not report its cost: the fleet's budget cannot limit it"
    assert said(budget_usd=5.0) == [cost_notice]


def test_a_repository_without_a_commit_says_what_to_do(tmp_path: Path) -> None:
    from ralph_tui.adapters.clones.sources import is_commit, source_of

    git(tmp_path, "init", "-q", "-b", "main")
    with pytest.raises(UsageError, match="create one with git commit"):
        source_of(open_repository(tmp_path), "HEAD")
    assert is_commit(tmp_path, "HEAD"), "the repository lacks it"
    assert not is_commit(tmp_path, "nosuchref")
