"""Calls that are permitted without a question; nothing else slips through."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.permissions import Permits, rules_for_denied
from ralph_tui.ports.agents import Permissions
from tests.rows import each_row

ROOT = Path("/work/tree")
ALLOW = ("Bash(git push:*)", "Bash(make lint)", "Bash(touch *)", "Edit(//srv/shared/**)", "Nope(")


def permits(*allow: str, command: str = "python -m pytest -q && ruff check") -> Permits:
    return Permits(Permissions("edits", allow), command, ROOT)


@each_row(
    "command",
    [
        "python -m pytest -q && ruff check",
        "python -m pytest -q",
        "python -m pytest -q tests/test_a.py",
        "ruff check src 2>&1",
        "cd /work/tree/src && ruff check >/dev/null",
        "git push",
        "git push origin main; make lint",
        "touch a b",
        "touch",
        "python -m pytest -q 2>&1 | tail -20",
        "cat src/a.py | grep -n x; ls",
    ],
)
def test_what_is_permitted(command: str) -> None:
    assert permits(*ALLOW).command(command)


@each_row(
    "command",
    [
        "",
        "git pushy",
        "git pull",
        "make lint all",
        "git push && curl evil",
        "git push\ncurl evil",
        "git push | sh",
        "git push & curl evil",
        "git push $(curl evil)",
        "git push `curl evil`",
        "git push <(curl evil)",
        "git push > /etc/passwd",
        "touch $HOME",
        "cd / && rm -rf x",
        "cd ../other && git push",
        "cd 'unclosed",
        "ruff check > /dev/nullx",
        "FOO=1 git push",
        "cd a\0b",
        "cat /etc/passwd",
        "ruff check | cat ../secret -",
        "ls ~",
        "sort -o/etc/passwd x",
        "grep --file=/etc/passwd x",
        "wc a\0b",
    ],
)
def test_what_is_not(command: str) -> None:
    assert not permits(*ALLOW).command(command)


def test_a_tool_alone_permits_all_of_it_and_skip_everything() -> None:
    assert permits("Bash").command("rm -rf $(pwd) > x")
    assert permits("Edit").edit(["/etc/passwd"])
    free = Permits(Permissions("skip"), "", ROOT)
    assert free.command("anything")
    assert free.edit(["/etc/passwd"])
    assert not permits(command="").command("")


@each_row(
    ("paths", "permitted"),
    [
        (["/work/tree/a.py", "b/c.py"], True),
        ([], True),
        (["/work/tree/../other/a.py"], False),
        (["/work/trees/a.py"], False),
        (["../a.py"], False),
        (["/srv/shared/x/y"], True),
        (["/srv/shared/../x"], False),
        (["a.py", "/etc/passwd"], False),
        ([".git/hooks/pre-commit"], False),
        (["sub/.codex/config.toml"], False),
        (["a\0.py"], False),
    ],
)
def test_files(paths: list[str], *, permitted: bool) -> None:
    assert permits(*ALLOW).edit(paths) is permitted


def test_a_link_out_of_the_worktree_is_outside(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    (root / "back").symlink_to(root)
    here = Permits(Permissions(), "", root)
    assert not here.edit(["out/a.py"])
    assert here.edit(["back/a.py"])
    assert here.edit([os.path.realpath(root) + "/a.py"])


@given(st.text("abcd $`;|&<>'\"(){}\\\n-=/.\0", max_size=40))
def test_a_line_for_what_was_denied_permits_it_or_stays_silent(command: str) -> None:
    assert permits().command(command) in (True, False)
    lines = rules_for_denied("Bash", {"command": command}, roots=[str(ROOT)])
    assert permits(*lines).command(command) in (True, False)


@each_row("command", ["git push origin main", "curl -sS x", "a b && c d", "npm run x"])
def test_the_lines_for_what_was_denied_permit_it(command: str) -> None:
    lines = rules_for_denied("Bash", {"command": command}, roots=[str(ROOT)])
    assert not permits().command(command)
    assert permits(*lines).command(command)


def test_what_is_read_fetched_and_called_is_permitted_by_its_lines() -> None:
    lines = ("Read(//var/log/**)", "WebFetch(domain:docs.python.org)", "mcp__db", "todo")
    here = permits(*lines, *ALLOW)
    assert here.read([])
    assert here.read(["src", "/var/log/syslog", "/srv/shared/x"])
    assert not here.read(["a.py", "/etc/passwd"])
    assert not here.edit(["/var/log/syslog"])
    assert here.fetch("https://docs.python.org/3/")
    assert not here.fetch("https://docs.python.org.evil.example/")
    assert not here.fetch("https://[")
    assert here.tool("mcp__db__query")
    assert here.tool("todo")
    assert not here.tool("mcp__web__get")
    assert not here.tool("Bash")
