"""Reading a run at a terminal counts as having seen it."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.cli import here
from tests.e2e.tmux import Terminal

ENDED = ("run", "Fix it", "-c", "false", "--max-iterations", "1", "--headless")
AGENT = ("--agent", "command", "--agent-command", "cat >/dev/null")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_was_read_at_a_terminal_was_seen(git_repo: Path) -> None:
    here(*ENDED, *AGENT, cwd=git_repo)

    def read(*words: str) -> list[str]:
        """Read it in a terminal; what was seen of it by now."""
        terminal = Terminal(words, git_repo, width=100, height=30)
        try:
            assert terminal.exit_code() == 0
        finally:
            terminal.close()
        found = git_repo.glob(".aiwg/ralph/seen/*/task-001-001.json")
        return [path.read_text() for path in found]

    here("report", cwd=git_repo)
    assert read("status", "--line") == []
    (seen,) = read("report")
    assert '"over":true' in seen
