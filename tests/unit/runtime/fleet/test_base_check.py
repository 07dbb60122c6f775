"""A fleet whose completion command passes on its base already is refused before it starts."""

import subprocess
from pathlib import Path

import pytest

from ralph_tui.adapters.fleet.trees.sources import source_of
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.errors import UsageError
from ralph_tui.fleet.plan import Loop, Plan
from ralph_tui.runtime.fleet.base_check import check_base


def test_each_command_is_run_once_in_a_clone_of_the_base(tmp_path: Path) -> None:
    root, trees, ran = tmp_path / "repo", tmp_path / "trees", tmp_path / "ran"
    root.mkdir()
    trees.mkdir()
    (root / "a.txt").write_text("a")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "a")):
        subprocess.run(["git", *words], cwd=root, check=True)
    repository = open_repository(root)
    source = source_of(repository, "HEAD")

    def check(*loops: Loop) -> None:
        check_base(repository, source, Plan(loops=loops), trees)

    fails = f"echo x >> {ran}; test -e none"
    check(*(Loop(id=str(k), objective="o", command=fails) for k in range(3)))
    assert ran.read_text() == "x\n"
    check(Loop(id="1", objective="o", command="test -e a.txt", until_promise=True))
    check(Loop(id="1", objective="o", command="test -e a.txt", criterion="fast"))
    with pytest.raises(UsageError, match="--until-promise"):
        check(Loop(id="1", objective="o", command="test -e a.txt"))
    assert not list(trees.iterdir())
