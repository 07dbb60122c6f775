"""Completion as shells ask for it: a real one reads the script, and is asked what may follow."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.cli import here
from tests.foreign import unpacked
from tests.unit.test_import_contracts import loaded_after

ASK = """
eval "$(ralph-tui completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
read -ra COMP_WORDS <<<"$1"
_python_argcomplete ralph-tui
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does when the tab key is pressed; argcomplete names the function."""

Ask = Callable[[str], list[str]]


@pytest.fixture
def environ() -> dict[str, str]:
    """With this program on PATH."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture
def asked(git_repo: Path, environ: dict[str, str]) -> Ask:
    """What bash offers behind a line, in a repository with three attempts of two tasks."""
    tasks = git_repo / ".aiwg" / "ralph" / "tasks"
    for name in ("task-001/attempts/001", "task-001/attempts/002", "task-002/attempts/001"):
        (tasks / name).mkdir(parents=True)
        (tasks / name / "events.jsonl").touch()

    def ask(line: str) -> list[str]:
        done = subprocess.run(
            ["bash", "--norc", "-c", ASK, "bash", line],
            cwd=git_repo,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return sorted(word.strip() for word in done.stdout.splitlines() if word)

    return ask


def test_commands_and_options(asked: Ask) -> None:
    assert asked("ralph-tui re") == ["rebuild", "replay", "report", "restore", "resume"]
    assert asked("ralph-tui run 'a text' --ag") == ["--agent", "--agent-command"]
    assert "stats" in asked("ralph-tui memory ")


def test_runs(asked: Ask) -> None:
    both = ["task-001", "task-001/001", "task-001/002", "task-002"]
    assert asked("ralph-tui replay ") == both
    assert asked("ralph-tui status --run task-002/") == ["task-002/001"]
    assert asked("ralph-tui history task-002") == ["task-002"]


def test_runs_of_other_tools_where_they_can_be_read(asked: Ask, git_repo: Path) -> None:
    foreign = unpacked("ref-stuck", git_repo.parent)
    shutil.copytree(foreign / ".aiwg", git_repo / ".aiwg", dirs_exist_ok=True, symlinks=True)
    assert "aiwg/aabdb08a" in asked("ralph-tui replay ")
    assert asked("ralph-tui report aiwg/aab") == ["aiwg/aabdb08a"]
    assert "aiwg/aabdb08a" not in asked("ralph-tui resume ")


def test_settings_agents_and_scenarios(asked: Ask) -> None:
    assert asked("ralph-tui run --set limits.budget") == [
        "limits.budget_tokens=",
        "limits.budget_usd=",
    ]
    assert asked("ralph-tui run --set permissions.mode=") == ["ask", "edits", "skip"]
    assert asked("ralph-tui lab --set control.enabled=t") == ["true"]
    assert asked("ralph-tui demo --scenario st") == ["steady", "stuck"]
    assert asked("ralph-tui run --agent c") == ["claude", "codex", "command"]
    assert asked("ralph-tui run --agent o") == ["opencode"]
    named = asked("ralph-tui run --set agent.fallback=o")
    assert [word.rpartition("=")[2] for word in named] == ["opencode"]


def test_what_cannot_be_looked_up_is_nothing_to_offer(asked: Ask, git_repo: Path) -> None:
    tasks = git_repo / ".aiwg" / "ralph" / "tasks"
    (tasks / "a $(touch x)-003" / "attempts" / "001").mkdir(parents=True)
    (tasks / "a $(touch x)-003" / "attempts" / "001" / "events.jsonl").touch()
    assert not [name for name in asked("ralph-tui replay ") if "touch" in name]
    shutil.rmtree(git_repo / ".aiwg")
    (git_repo / ".aiwg").touch()
    assert asked("ralph-tui replay ") == []


def test_only_what_is_asked_for_is_loaded(git_repo: Path) -> None:
    """And a start that no shell has asked for loads none of it."""
    assert "argcomplete" not in loaded_after("import ralph_tui.cli; ralph_tui.cli.main(['-V'])")
    ask = "import os; os.environ.update(_ARGCOMPLETE='1', COMP_LINE={0!r}, COMP_POINT='{1}')\n"
    answer = "import sys, os, ralph_tui.cli.completion as c\n" + (
        "c.argcomplete.autocomplete = lambda *a, **k: None\nc.answer()"
    )
    for line, absent in (
        ("ralph-tui re", {"pydantic", "textual", "git"}),
        ("ralph-tui status ", {"pydantic", "textual", "git"}),
        ("ralph-tui run ", {"textual", "git"}),
    ):
        loaded = loaded_after(ask.format(line, len(line)) + answer)
        assert "argcomplete" in loaded
        assert not loaded & absent, line


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed here")
def test_in_fish(git_repo: Path, environ: dict[str, str]) -> None:
    words = 'ralph-tui completion fish | source; complete -C "ralph-tui re"'
    done = subprocess.run(
        ["fish", "--no-config", "-c", words],
        cwd=git_repo,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "replay\twatch a past run again" in done.stdout.splitlines()


def test_each_script_is_for_its_shell(git_repo: Path) -> None:
    assert "complete --command ralph-tui" in here("completion", "fish", cwd=git_repo).stdout
    zsh = here("completion", "zsh", cwd=git_repo).stdout
    assert zsh.startswith("#compdef ralph-tui\n")
    done = here("completion", "tcsh", cwd=git_repo)
    assert done.returncode == 2
    assert "takes bash, zsh, fish, not 'tcsh'" in done.stderr.replace(
        "'bash', 'zsh', 'fish'", "bash, zsh, fish"
    )
