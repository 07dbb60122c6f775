"""An agent's command is checked before a shell runs it; only certain errors are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents import AGENTS
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.programs import can_run, first_program, missing_program
from ralph_tui.base.errors import UsageError
from ralph_tui.config.settings import AgentSettings
from tests.examples import FEWER
from tests.rows import each_row


@each_row(
    ("command", "word"),
    [
        ("my-agent --acp", "my-agent"),
        ("  'my-agent' --acp", "my-agent"),
        ("KEY=a OTHER='b c' my-agent", "my-agent"),
        ("my-agent;rm x", "my-agent"),
        ("env KEY=a my-agent", "env"),
        ("./bin/agent <x", "./bin/agent"),
        ("~/bin/agent", "~/bin/agent"),
        ("my-agent\nother", "my-agent"),
        ("cd x && my-agent", ""),
        ("$HOME/bin/agent", ""),
        ('"$AGENT"', ""),
        ("`which x`", ""),
        ("(my-agent)", ""),
        ("{ my-agent; }", ""),
        ("<in my-agent", ""),
        ("while read x; do agent; done", ""),
        ("f() { cat; }; f", ""),
        ("KEY=a", ""),
        ("'open", ""),
        ("", ""),
    ],
)
def test_the_program_that_a_shell_looks_for_first(command: str, word: str) -> None:
    assert first_program(command) == word


def test_what_is_there_is_not_missing(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "my-agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "bin" / "notes").write_text("no program")
    on_path = {"PATH": str(program.parent)}
    assert missing_program("my-agent -x", on_path, tmp_path) == ""
    assert missing_program("my-agent -x", {"PATH": "/nowhere"}, tmp_path) == "my-agent"
    assert missing_program("bin/my-agent", {}, tmp_path) == ""
    assert missing_program("bin/other", {}, tmp_path) == "bin/other"
    assert missing_program("bin/notes", {}, tmp_path) == "bin/notes"
    assert missing_program("bin", on_path, tmp_path) == "bin"
    assert missing_program("true", {"PATH": ""}, tmp_path) == ""
    assert not can_run(None, on_path)
    assert can_run("my-agent", on_path)


@each_row("name", ["acp", "command"])
@each_row(
    ("command", "what"),
    [("no-such-agent --acp", "is not on PATH"), ("./no/such", "is not an executable program")],
)
def test_one_that_is_missing_is_told_before_a_run(
    tmp_path: Path, name: str, command: str, what: str
) -> None:
    (agent,) = (one for one in AGENTS if one.name == name)
    settings = AgentSettings(name=name, command=command)
    assert not agent.is_ready(settings, {})
    with pytest.raises(UsageError, match=what) as refused:
        agent.check(AgentContext(settings, tmp_path))
    assert repr(command) in str(refused.value)


@FEWER
@given(st.text())
def test_no_command_breaks_it(command: str) -> None:
    assert missing_program(command, {}, Path("/")) in ("", first_program(command))
