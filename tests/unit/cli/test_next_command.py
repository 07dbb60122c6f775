"""A screen that ends with another command: it runs next, in the right folder."""

from pathlib import Path

import pytest

from ralph_tui.cli import dispatch, main
from ralph_tui.cli.commands import doctor, status
from ralph_tui.cli.exit_codes import NextCommand


def test_one_command_follows_the_other_in_its_worktree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, Path]] = []
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)

    def first(args: object) -> int:
        done.append(("status", Path.cwd()))
        raise NextCommand(("doctor",), there)

    def second(args: object) -> int:
        done.append(("doctor", Path.cwd()))
        return 3

    monkeypatch.setattr(status, "run", first)
    monkeypatch.setattr(doctor, "run", second)
    assert dispatch(["status"]) == 3
    assert done == [("status", here), ("doctor", there)]
    assert Path.cwd() == here


def test_a_worktree_that_is_gone_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def first(args: object) -> int:
        raise NextCommand(("doctor",), tmp_path / "gone")

    monkeypatch.setattr(status, "run", first)
    assert main(["status"]) == 2
    assert "gone" in capsys.readouterr().err
