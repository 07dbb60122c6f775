"""Every command line of the pages for users runs as it is written, in a project with records."""

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from ralph_tui.cli.exit_codes import ExitCode
from tests.e2e.cli import CHECKS, ONE_MORE, Command, here, run
from tests.e2e.test_fallback import DONE, Agents, bash
from tests.foreign import unpacked
from tests.unit.test_docs import PAGES, commands, parsed
from tests.waiting import until

AT_ONCE = "touch done-0.txt done-1.txt done-2.txt done-3.txt"
"""What an agent does that makes every test pass at once."""
UNITTEST = """\
import pathlib, unittest

class It(unittest.TestCase):
    def test_it(self):
        self.assertTrue(pathlib.Path("done-3.txt").exists())
"""
EXPECTED = [
    ("decide|checkpoint --rollover", ExitCode.USAGE, "no active run"),
    ("fleet (status|attach|guide|pause|decide|abort|stop|resume)", ExitCode.USAGE, "no fleet"),
    ("attach hooks", ExitCode.USAGE, "no Claude Code session under the hooks"),
    ("hooks install|restore iter-3|memory delete", ExitCode.USAGE, "not a terminal"),
    ("memory edit", ExitCode.USAGE, "an editor needs a terminal"),
    ("resume$", ExitCode.USAGE, "allow more with --max-iterations"),
    ("resume --set limits.budget_tokens", ExitCode.USAGE, "which is now not set"),
    ("attach$|demo --keep", ExitCode.LIMIT_REACHED, ""),
    ("run .* --permissions", ExitCode.ABORTED, ""),  # nobody allows what the agent wants
    ("", ExitCode.COMPLETED, ""),
]
"""By the beginning of a command: its exit code here, and what it says where it is refused."""
ELSEWHERE = ("demo --scenario", "fleet run", "fleet worker", "run .* acp ")
"""Commands that other tests run: demos that take long, many loops, machines, and protocols."""
AFRESH = ("run", "demo", "resume")
"""Commands that need a process of their own."""


def lines() -> list[str]:
    """Each command line of the pages once, without the program's name and without pipes."""
    found = (re.split(r" (?:\||>|&&|;) ", line)[0] for page in PAGES for line in commands(page))
    return [
        line.removeprefix("ralph-tui ")
        for line in dict.fromkeys(found)
        if not any(re.match(f"ralph-tui {begins}", line) for begins in ELSEWHERE)
    ]


def sample(line: str) -> list[str]:
    """The lines that a page shows below a command, if it is the only one of its block."""
    fences = [
        (info, text) for page in PAGES for kind, info, text in parsed(page) if kind == "fence"
    ]
    shown = (
        below
        for (_, text), (info, below) in pairwise(fences)
        if info == "text" and text.strip() == f"ralph-tui {line}"
    )
    return [row for below in shown for row in below.splitlines()]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, first_repo: Path) -> Path:
    """A home with a project, its records, and copies of them."""
    home = tmp_path_factory.mktemp("docs") / "home"
    root = Path(shutil.copytree(first_repo, home / "repo", symlinks=True))
    (root / "checks.sh").write_text(CHECKS)
    (root / "test_it.py").write_text(UNITTEST)
    (root / "my.tpl").write_text("$objective\n\n$state\n\n$contract\n")
    shutil.copytree(unpacked("ref-stuck", home) / ".aiwg", root / ".aiwg")
    shutil.copytree(root / ".aiwg", home / "copies" / ".aiwg")
    order = ("-c", "sh checks.sh", "--agent-command", ONE_MORE, "--headless")
    for objective, most in ("Fix the tests", "4"), ("Fix the tests", "4"), ("Divide by zero", "3"):
        for done in root.glob("done-*"):
            done.unlink()
        run("run", objective, *order, "--max-iterations", most, cwd=root)
    agents = Agents(home / "agents")
    for name, script in {"pytest": "exec sh checks.sh", "my-agent": AT_ONCE}.items():
        (agents.programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (agents.programs / name).chmod(0o755)
    return home


@pytest.mark.parametrize("line", lines())
def test_a_command_of_the_pages_runs(line: str, recorded: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(recorded, tmp_path / "home", symlinks=True))
    root = home / "repo"
    agents = Agents(home / "agents")
    agents.claude([bash(AT_ONCE), DONE])
    agents.codex([bash(AT_ONCE), DONE])
    ids = re.findall(r"learn-\w+", here("memory", "list", cwd=root).stdout)
    names = {"learn-4f": ids[0], "learn-9a": ids[-1], "aiwg/1a2b3c4d": "aiwg/aabdb08a", "334": "30"}
    words = [names.get(word, word).replace("~", str(home)) for word in shlex.split(line)]
    if words[:2] == ["memory", "import"]:
        here("memory", "export", words[2], cwd=root)
    fast = ["--fast"] if words[0] == "demo" and "--fast" not in words else []
    by: Command = run if words[0] in AFRESH else here
    environ = {**agents.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    done = by(*words, *fast, cwd=root, **environ)
    code, says = next((code, says) for begins, code, says in EXPECTED if re.match(begins, line))
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if words[0] == "lab":  # the others show numbers and times of one run
        assert sample(line)
        assert set(sample(line)) <= set(done.stdout.splitlines())
    if "--detach" in words:
        until(lambda: "completed" in here("status", cwd=root).stdout)
