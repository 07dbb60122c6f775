"""A new user's first session: from an empty home to a completed run without a manual."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tui.adapters.records.drafts import read_draft
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.ports.new_runs import Draft
from tests.e2e.cli import project
from tests.e2e.tmux import Terminal
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository without a commit, with four failing tests and a Makefile that runs them."""
    folder = tmp_path / "new"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "Makefile").write_text("test:\n\t@sh checks.sh\n")
    return project(folder)


@pytest.fixture
def screen(root: Path) -> Iterator[Terminal]:
    """Home at 80x24, on a machine without any agent that is known here."""
    git = Path(shutil.which("git") or "git").parent
    terminal = Terminal([], root, width=80, height=24, PATH=f"{git}:/usr/bin:/bin")
    yield terminal
    terminal.close()


def test_a_first_loop_is_started_from_home_and_completes(root: Path, screen: Terminal) -> None:
    screen.shows("No run is recorded", "✓ git repository", "none yet", "looked for   claude, codex")
    screen.press("n")
    screen.shows("a new run in", "↓ inserts make test (Makefile has a test target)")
    screen.type("Make the checks pass")
    screen.press("Tab", "Tab", "Down")
    screen.shows("types: ralph-tui run 'Make the checks pass' -c 'make test'")
    screen.press("C-t")
    screen.shows("tap: 0 of 4 pass")
    screen.press("C-s")
    screen.shows("◆ choose an agent")
    screen.press(*["Right"] * 6)
    screen.shows("its command")
    screen.press("Tab")
    screen.type("touch done-0.txt done-1.txt done-2.txt done-3.txt")
    screen.shows("--agent-command")
    screen.press("C-s")
    screen.shows("✓ completed", "4/4 tests")
    screen.press("q")
    screen.shows("1 run", "✓ completed", "Make the checks pass")
    screen.press("n")
    assert "Make the checks pass" not in screen.shows("a new run in", "↓ inserts")
    screen.type("Something else")
    screen.shows("'Something else'")
    screen.press("Escape")
    screen.shows("1 run", "✓ completed")
    screen.press("n")
    screen.shows("(your draft)", "Something else")
    screen.press("Escape")
    screen.shows("1 run", "✓ completed")
    screen.press("q")
    assert screen.exit_code() == 0


def test_a_terminal_that_is_closed_takes_the_trial_with_it_and_not_what_was_typed(
    root: Path, screen: Terminal
) -> None:
    pids = root / "pids"
    screen.shows("No run is recorded")
    screen.press("n")
    screen.shows("a new run in", "↓ inserts make test")
    screen.press("Tab", "Tab")
    screen.type(f"trap '' HUP TERM; sleep 300 & echo $! $$ > {pids}; wait")
    screen.press("C-t")
    screen.shows("running for")
    written = until(lambda: pids.read_text().split() if pids.exists() else [])
    screen.close()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in written))
    until(lambda: "sleep 300" in (read_draft(root) or Draft()).command)
    assert not ralph_folder(root).exists()
