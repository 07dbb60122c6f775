"""Permission lines that would have allowed a denied call, from the agent's own wording."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.permissions import prefix, rules_for_denied, shell_parts
from tests.rows import each_row

ROOTS = ("/p",)
ASKED = "This Bash command contains multiple operations. The following parts require approval: "


def rules(command: str, message: str = "", reason: str = "") -> list[str]:
    return rules_for_denied("Bash", {"command": command}, message, reason, ROOTS)


@each_row(
    ("command", "permit"),
    [
        ("touch /home/dev/project/x", "Bash(touch:*)"),
        ("npm run build -- --prod", "Bash(npm run build:*)"),
        ("npm test", "Bash(npm test:*)"),
        ("git commit -m 'a; b'", "Bash(git commit:*)"),
        ("git -C /x status", "Bash(git -C:*)"),
        ("cd src && npm install", "Bash(npm install:*)"),
        ("ls", "Bash(ls:*)"),
        ("python3 -m pytest -q tests", "Bash(python3 -m pytest:*)"),
        ("/usr/bin/python3 script.py", "Bash(/usr/bin/python3 script.py:*)"),
        ("python3 -c 'print(1)'", "Bash(python3 -c:*)"),
        ("FOO=1 BAR=2 make all", "Bash(FOO=1 BAR=2 make all:*)"),
        ("docker compose up -d", "Bash(docker compose up:*)"),
        ("uv run pytest -x", "Bash(uv run pytest:*)"),
        ("", "Bash"),
        (";;", "Bash"),
    ],
)
def test_a_denied_command_is_permitted_by_what_it_does(command: str, permit: str) -> None:
    assert rules(command) == [permit]


def test_every_part_that_was_refused_is_named_and_no_other() -> None:
    command = "echo a > b.txt && curl -s http://x.invalid/ && git push origin main"
    message = f"{ASKED}curl -s http://x.invalid/, git push origin main"
    assert rules(command, message) == ["Bash(curl:*)", "Bash(git push:*)"]
    assert rules(command, f"{ASKED}git push origin main") == ["Bash(git push:*)"]
    loop = "for i in 1 2; do rm x; done && make x"
    assert rules(loop, f"{ASKED}rm x") == ["Bash(rm:*)"]
    assert rules(loop) == ["Bash(rm:*)", "Bash(make x:*)"]
    assert rules("make x; touch x", "touch in '/p/x' needs approval.") == ["Bash(touch:*)"]


OUTSIDE = "needs approval. The path is outside the working directories for this session ('/p')."
BLOCKED = "was blocked. For security, Claude Code may only create files in the allowed directories."


@each_row(
    ("command", "message", "permit"),
    [
        ("touch /o/d/z", f"touch in '/o/d/z' {OUTSIDE}", "Edit(//o/d/**)"),
        ("touch /o/d/z", f"touch in '/o/d/z' {BLOCKED}", "Edit(//o/d/**)"),
        ("echo a >/o/z", f"Output redirection to '/o/z' {OUTSIDE}", "Edit(//o/**)"),
        ("rm -rf /o/d", f"rm in '/o/d' {OUTSIDE}", "Edit(//o/d/**)"),
        ("cat /o/d/x", f"cat in '/o/d/x' {BLOCKED}", "Read(//o/d/**)"),
        ("touch /z", f"touch in '/z' {OUTSIDE}", "Edit(//**)"),
        ("touch '/o*/z'", f"touch in '/o*/z' {OUTSIDE}", "Edit"),
        ("echo $(curl x)", "Contains command_substitution", "Bash(echo $(curl x))"),
        ("rm $a", "A variable in this command can't be checked", "Bash(rm $a)"),
        ("cd /o && git status", "This command changes directory before running git.", "Bash"),
    ],
)
def test_a_command_that_reaches_out_is_permitted_by_where(
    command: str, message: str, permit: str
) -> None:
    assert rules(command, message) == [permit]


@each_row(
    ("tool", "arguments", "permits"),
    [
        ("WebFetch", {"url": "https://docs.example.com/a"}, ["WebFetch(domain:docs.example.com)"]),
        ("WebFetch", {"url": "http://[bad"}, ["WebFetch"]),
        ("WebFetch", {"url": 5}, ["WebFetch"]),
        ("WebSearch", {"query": "x"}, ["WebSearch"]),
        ("Bash", {"command": ["a"]}, ["Bash"]),
        ("Edit", {"file_path": "/etc/passwd"}, ["Edit(//etc/**)"]),
        ("Write", {"file_path": "/o/d/y"}, ["Edit(//o/d/**)"]),
        ("NotebookEdit", {"notebook_path": "/o/n"}, ["Edit(//o/**)"]),
        ("Read", {"file_path": "/o/d/y"}, ["Read(//o/d/**)"]),
        ("Grep", {"pattern": "x", "path": "/o/d"}, ["Read(//o/d/**)"]),
        ("mcp__github__create_issue", {}, ["mcp__github__create_issue"]),
    ],
)
def test_other_tools(tool: str, arguments: dict[str, object], permits: list[str]) -> None:
    assert rules_for_denied(tool, arguments, roots=ROOTS) == permits


def test_what_no_line_permits_has_none() -> None:
    inside = {"file_path": "/p/.claude/settings.json"}
    assert rules_for_denied("Write", inside, roots=ROOTS) == []
    assert rules_for_denied("Write", {"file_path": "/o/x"}, "", "safetyCheck", ROOTS) == []
    assert rules("git push", "Permission to use Bash has been denied.", "rule") == []
    said = "Dangerous rm operation detected: '/'. It cannot be auto-allowed by permission rules."
    assert rules("rm -rf /", said) == []


@given(st.text(max_size=60), st.text(max_size=20))
def test_any_command_has_lines_of_one_line_each(command: str, message: str) -> None:
    for permit in rules(command, message):
        assert permit == "Bash" or (permit.startswith("Bash(") and permit.endswith(")"))
        assert "\n" not in permit
    for part in shell_parts(command):
        assert len(prefix(part)) <= len(part)
