"""What an agent that asks us may do without its owner being asked."""

from pathlib import Path

import pytest

from ralph_tui.adapters.agents.permitted import (
    Permitted,
    line_for_address,
    lines_for_file,
    lines_for_shell,
)

TESTS = "python3 -m unittest"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        (TESTS, True),
        (f"{TESTS} -v tests", True),
        (f"{TESTS} 2>&1 | tail -20", True),
        (f"{TESTS} >/dev/null 2>&1", True),
        (f"cd src && {TESTS}", True),
        (f"cd / && {TESTS}", False),
        (f"{TESTS}; rm -rf /", False),
        (f"{TESTS} > ../out.txt", False),
        (f"{TESTS} \\' > ../out.txt \\'", False),
        (f"{TESTS} $(rm x)", False),
        (f"{TESTS}\nrm x", False),
        ("python3 -m unittestx", False),
        ("rm x", False),
        ("cat /etc/passwd", False),
        ("cat ../secret", False),
        ("", False),
        (" ; ", False),
    ],
)
def test_a_command_is_permitted_part_by_part(root: Path, command: str, *, allowed: bool) -> None:
    assert Permitted(TESTS, (), str(root)).shell(command) is allowed


@pytest.mark.parametrize(
    ("line", "command", "allowed"),
    [
        ("Bash(npm run build:*)", "npm run build --prod", True),
        ("Bash(npm run build:*)", "npm run builder", False),
        ("Bash(npm run *)", "npm run x", True),
        ("Bash(git log)", "git log", True),
        ("Bash(git log)", "git log -1", False),
        ("Bash(make * CC=cc)", "make all CC=cc", True),
        ("Bash", "anything; at all > x", True),
        ("Bash(echo $HOME > x)", "echo $HOME > x", True),
        ("Edit", "rm x", False),
        ("nonsense(", "rm x", False),
    ],
)
def test_lines_permit_what_they_name(root: Path, line: str, command: str, *, allowed: bool) -> None:
    assert Permitted("", (line,), str(root)).shell(command) is allowed


def test_files_of_the_worktree_may_be_changed_but_not_those_of_git(root: Path) -> None:
    (root / "away").symlink_to("/etc")
    rules = Permitted(TESTS, ("Edit(//tmp/notes/**)",), str(root))
    assert rules.write([str(root / "src/a.py"), "b.py"])
    assert not rules.write([])
    assert not rules.write([str(root / ".git/hooks/pre-commit")])
    assert not rules.write(["../outside.txt"])
    assert not rules.write(["away/passwd"])
    assert rules.write(["/tmp/notes/a/b.md"])
    assert not rules.write(["/tmp/notes.md"])
    assert rules.read([])
    assert rules.read(["src"])
    assert rules.read(["/tmp/notes/x"])
    assert not rules.read(["/etc/passwd"])


def test_addresses_and_tools_are_permitted_by_name(root: Path) -> None:
    rules = Permitted("", ("WebFetch(domain:docs.python.org)", "mcp__db", "todo"), str(root))
    assert rules.fetch("https://docs.python.org/3/")
    assert not rules.fetch("https://docs.python.org.evil.example/")
    assert not rules.fetch("https://[")
    assert rules.tool("mcp__db__query")
    assert rules.tool("todo")
    assert not rules.tool("mcp__web__get")
    assert not rules.tool("other")


@pytest.mark.parametrize("command", ["rm x", "npm run build && git push", "echo $X > y"])
def test_the_lines_for_a_command_permit_it(root: Path, command: str) -> None:
    lines = lines_for_shell(command, str(root))
    assert Permitted("", lines, str(root)).shell(command)


def test_the_lines_for_a_file_and_an_address_permit_them(root: Path) -> None:
    outside = str(root.parent / "other" / "x.txt")
    writes = lines_for_file(outside, str(root), writes=True)
    reads = lines_for_file(outside, str(root), writes=False)
    assert Permitted("", writes, str(root)).write([outside])
    assert Permitted("", reads, str(root)).read([outside])
    assert lines_for_file(str(root / ".git/config"), str(root), writes=True) == []
    url = "https://example.org/x"
    assert Permitted("", (line_for_address(url),), str(root)).fetch(url)
