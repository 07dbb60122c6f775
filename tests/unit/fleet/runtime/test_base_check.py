"""A fleet whose completion command already passes on its base is refused before it starts."""

import subprocess
from pathlib import Path

import pytest

from ralph_tui.adapters.clones.sources import source_of
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.base.errors import LockHeldError, UsageError
from ralph_tui.fleet.events import Reach
from ralph_tui.fleet.plan import Plan
from ralph_tui.fleet.records import take_lock
from ralph_tui.fleet.runtime.assembly import Connection, new_fleet
from ralph_tui.fleet.runtime.preflight import check_base
from ralph_tui.ports.clones import Loop


def committed(root: Path) -> Repository:
    root.mkdir()
    (root / "a.txt").write_text("a")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "a")):
        subprocess.run(["git", *words], cwd=root, check=True)
    return open_repository(root)


def test_each_command_is_run_once_in_a_clone_of_the_base(tmp_path: Path) -> None:
    root, trees, ran = tmp_path / "repo", tmp_path / "trees", tmp_path / "ran"
    trees.mkdir()
    repository = committed(root)
    source = source_of(repository, "HEAD")

    def check(*loops: Loop) -> None:
        check_base(repository, source, Plan(loops=loops), trees)

    fails = f"echo x >> {ran}; test -e none"
    check(*(Loop(id=str(k), objective="o", command=fails) for k in range(3)))
    assert ran.read_text() == "x\n"
    check(Loop(id="1", objective="o", command="test -e a.txt", until_promise=True))
    check(Loop(id="1", objective="o", command="test -e a.txt", criterion="fast"))
    with pytest.raises(UsageError) as refused:
        check(
            Loop(id="1", objective="Fix it", command="false"),
            Loop(id="2", objective="Speed it up", command="test -e a.txt"),
        )
    for words in ('objective "Speed it up"', 'criterion = "..."', "until_promise = true"):
        assert words in str(refused.value)
    assert not list(trees.iterdir())


def test_a_second_fleet_is_refused_before_any_command_runs(tmp_path: Path) -> None:
    root, ran = tmp_path / "repo", tmp_path / "ran"
    committed(root)
    loop = Loop(
        id="1",
        objective="o",
        command=f"touch {ran}",
        settings={"agent.name": "command", "agent.command": "true"},
    )
    connection = Connection(Reach(trees=str(tmp_path / "trees")))
    lock = take_lock(root, "first", "2026-01-01T00:00:00Z")
    try:
        with (
            pytest.raises(LockHeldError, match="is already running in"),
            new_fleet(root, Plan(loops=(loop,)), connection),
        ):
            pass
        assert not ran.exists()
    finally:
        lock.release()
    with (
        pytest.raises(UsageError, match="--until-promise"),
        new_fleet(root, Plan(loops=(loop,)), connection),
    ):
        pass
    assert ran.exists()
    take_lock(root, "third", "2026-01-01T00:00:00Z").release()
