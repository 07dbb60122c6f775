"""The first error is about the argument: before the terminal, the repository and the agent."""

import os
import pty
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.options import PLAIN_VALUES
from ralph_tui.config.sources import problem_of
from tests.e2e.cli import CLI, here

RUN = ("run", "Fix it", "-c", "true")
WRONG = [
    (("run", " ", "-c", "true"), "the objective is empty"),
    (("run", "Fix it"), "needs a command that checks whether the work is done"),
    ((*RUN, "--criterion", "reads well", "--until-promise"), "omit --until-promise or --criterion"),
    ((*RUN, "--detach", "--json"), "cannot be combined with --headless or --json"),
    ((*RUN, "--max-iterations", "0"), "limits.max_iterations (--max-iterations) must be at least"),
    ((*RUN, "--max-iterations", "many"), "must be a whole number"),
    ((*RUN, "--timeout", "5w", "--json"), "must be seconds or a duration such as 90s"),
    ((*RUN, "--budget", "-1"), "limits.budget_usd (--budget) must be above 0"),
    ((*RUN, "--permissions", "all"), "must be 'edits', 'ask' or 'skip'"),
    ((*RUN, "--agent", "cloude"), "unknown agent 'cloude' (--agent): did you mean claude?"),
    ((*RUN, "--agent", "demo"), "run ralph-tui demo"),
    ((*RUN, "--agent", "command"), "needs a command"),
    ((*RUN, "--agent", "claude", "--agent-command", "x"), "but --agent selects claude; omit one"),
    (
        (*RUN, "--set", "agent.name=claude", "--agent-command", "x"),
        "--agent-command is for the agents acp and command, but --set agent.name selects claude",
    ),
    ((*RUN, "--set", "agent.name=nobody"), "unknown agent 'nobody'"),
    ((*RUN, "--set", "bogus=1"), "'bogus' (--set) is not a setting"),
    ((*RUN, "--max-iteration", "3"), "did you mean --max-iterations?"),
    (("demo", "--scenario", "stack"), "no demo scenario 'stack'"),
    (("demo", "--max-iterations", "0"), "must be at least 1"),
    (("resume", "--max-iterations", "0"), "must be at least 1"),
    (("resume", "--set", "nope=1"), "is not a setting"),
    (("replay", "--at", "0"), "--at takes an event number"),
    (("replay", "--at", "x"), "--at takes a whole number"),
    (("attach", "--foo"), "has no option --foo"),
    (("guide", " "), "the text is empty"),
]


@pytest.mark.parametrize(("words", "says"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_without_repository_agent_and_terminal_the_argument_is_told_of(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    done = here(*words, cwd=tmp_path, PATH="/usr/bin:/bin")
    assert done.returncode == ExitCode.USAGE
    first = done.stderr.splitlines()[0]
    assert says in first
    assert "git" not in first
    assert "no run" not in first


def on_terminal(lines: list[tuple[str, ...]], cwd: Path) -> str:
    """All output of these command lines, run in turn on a terminal."""
    script = "; ".join(shlex.join([*CLI, *line]) for line in lines)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["sh", "-c", script], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"},
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        try:
            while data := os.read(ours, 65536):
                written += data
        except OSError:  # how Linux tells the end of a terminal
            pass
        finally:
            process.kill()
            os.close(ours)
    return written.decode()


def test_on_a_terminal_no_screen_comes_and_goes(git_repo: Path) -> None:
    lines = [(*RUN, "--max-iterations", "0"), RUN]
    written = on_terminal(lines, git_repo)
    assert "\x1b[?1049h" not in written
    assert "limits.max_iterations (--max-iterations) must be at least 1" in written
    assert "no agent found" in written
    assert "opencode in the 2 folders of PATH" in written


texts = st.sampled_from(list(PLAIN_VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.from_regex(PLAIN_VALUES[name], fullmatch=True))
)


@given(texts)
def test_what_counts_as_plainly_right_is_right(value: tuple[str, str]) -> None:
    assert problem_of(*value) == ""
