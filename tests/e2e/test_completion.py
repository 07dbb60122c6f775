"""Shell completion: a real shell reads the script and requests completions."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from tests.e2e.cli import here
from tests.foreign import unpacked
from tests.forks import RALPH, completed
from tests.unit.test_import_contracts import loaded_after
from tests.waiting import PATIENCE_S

ASK = """
eval "$(ralph-tui completion bash)"
for line; do
    COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9
    read -ra COMP_WORDS <<<"$line"
    _python_argcomplete ralph-tui
    printf '%s\\n' "${COMPREPLY[@]}" =
done
"""
"""Does what bash does on the tab key; argcomplete names the function."""

Ask = Callable[..., list[list[str]]]


@pytest.fixture
def environ() -> dict[str, str]:
    """The environment with this program on PATH."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture
def asked(git_repo: Path) -> Ask:
    """Completions for these lines, in a repository with three attempts at two tasks."""
    tasks = git_repo / ".aiwg" / "ralph" / "tasks"
    for name in ("task-001/attempts/001", "task-001/attempts/002", "task-002/attempts/001"):
        (tasks / name).mkdir(parents=True)
        (tasks / name / "events.jsonl").touch()

    def ask(*lines: str) -> list[list[str]]:
        return [offered(line, git_repo) for line in lines]

    return ask


def offered(line: str, folder: Path) -> list[str]:
    """The program's own answer to a completion request, without the shell."""
    offers = folder.with_name("offers")
    shell = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_IFS": "\n"}
    shell |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(offers)}
    shell |= {"COMP_LINE": line, "COMP_POINT": str(len(line))}
    with TemporaryFile() as said, Path(os.devnull).open() as nobody:
        streams = (nobody.fileno(), said.fileno(), said.fileno())
        code = completed(RALPH, (), folder, {**os.environ, **shell}, streams, PATIENCE_S)
        said.seek(0)
        assert (code, said.read()) == (0, b"")
    return sorted(word.strip() for word in offers.read_text().splitlines() if word)


def test_bash_asks_and_offers(git_repo: Path, environ: dict[str, str]) -> None:
    expected = {
        "ralph-tui re": ["rebuild", "replay", "report", "restore", "resume"],
        "ralph-tui run 'a text' --ag": ["--agent", "--agent-command"],
        "ralph-tui run --set permissions.mode=": ["ask", "edits", "skip"],
    }
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", *expected],
        cwd=git_repo,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    offers = re.split(r"(?m)^=\n", done.stdout)[:-1]
    words = [sorted(word.strip() for word in offer.splitlines() if word) for offer in offers]
    assert dict(zip(expected, words, strict=True)) == expected


def test_all_that_a_line_may_be_followed_by(asked: Ask) -> None:
    expected = {
        "ralph-tui replay ": ["task-001", "task-001/001", "task-001/002", "task-002"],
        "ralph-tui status --run task-002/": ["task-002/001"],
        "ralph-tui history task-002": ["task-002"],
        "ralph-tui run --set limits.budget": ["limits.budget_tokens=", "limits.budget_usd="],
        "ralph-tui lab --set control.enabled=t": ["control.enabled=true"],
        "ralph-tui demo --scenario st": ["steady", "stuck"],
        "ralph-tui run --agent c": ["claude", "codex", "command"],
        "ralph-tui run --agent o": ["opencode"],
    }
    *offers, named, memory = asked(
        *expected, "ralph-tui run --set agent.fallback=o", "ralph-tui memory "
    )
    assert dict(zip(expected, offers, strict=True)) == expected
    assert [word.rpartition("=")[2] for word in named] == ["opencode"]
    assert "stats" in memory


def test_runs_of_other_tools_where_they_can_be_read(asked: Ask, git_repo: Path) -> None:
    foreign = unpacked("ref-stuck", git_repo.parent)
    shutil.copytree(foreign / ".aiwg", git_repo / ".aiwg", dirs_exist_ok=True, symlinks=True)
    replay, report, resume = asked(
        "ralph-tui replay ", "ralph-tui report aiwg/aab", "ralph-tui resume "
    )
    assert "aiwg/aabdb08a" in replay
    assert report == ["aiwg/aabdb08a"]
    assert "aiwg/aabdb08a" not in resume


def test_what_cannot_be_looked_up_is_nothing_to_offer(asked: Ask, git_repo: Path) -> None:
    tasks = git_repo / ".aiwg" / "ralph" / "tasks"
    (tasks / "a $(touch x)-003" / "attempts" / "001").mkdir(parents=True)
    (tasks / "a $(touch x)-003" / "attempts" / "001" / "events.jsonl").touch()
    (offer,) = asked("ralph-tui replay ")
    assert offer
    assert not [name for name in offer if "touch" in name]
    shutil.rmtree(git_repo / ".aiwg")
    (git_repo / ".aiwg").touch()
    assert asked("ralph-tui replay ") == [[]]


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
    assert "replay\treplay a past run" in done.stdout.splitlines()


def test_each_script_is_for_its_shell(git_repo: Path) -> None:
    assert "complete --command ralph-tui" in here("completion", "fish", cwd=git_repo).stdout
    zsh = here("completion", "zsh", cwd=git_repo).stdout
    assert zsh.startswith("#compdef ralph-tui\n")
    done = here("completion", "tcsh", cwd=git_repo)
    assert done.returncode == 2
    assert "takes bash, zsh, fish, not 'tcsh'" in done.stderr.replace(
        "'bash', 'zsh', 'fish'", "bash, zsh, fish"
    )
