"""Permission lines that the completion command needs."""

from ralph_tui.adapters.agents.claude.program import (
    Program,
    listed_flags,
    parse_version,
    permission_flags,
)
from ralph_tui.adapters.agents.permissions import rules_for_command, shell_parts
from ralph_tui.ports.agents import Permissions, Turn
from tests.rows import each_row


def test_parts_are_cut_outside_of_quotes_only() -> None:
    assert shell_parts("a && b || c; d | e & f\ng 2>&1") == ["a", "b", "c", "d", "e", "f", "g 2>&1"]
    assert shell_parts("echo 'a; b' \"c && d\" e\\;f") == ["echo 'a; b' \"c && d\" e\\;f"]
    assert shell_parts("echo 'never closed; x") == ["echo 'never closed; x"]


def test_the_completion_command_is_permitted_whole_and_in_parts() -> None:
    assert rules_for_command("pytest -q") == ["Bash(pytest -q)", "Bash(pytest -q:*)"]
    assert rules_for_command("cd a && pytest -q") == [
        "Bash(cd a && pytest -q)",
        "Bash(cd a && pytest -q:*)",
        "Bash(cd a:*)",
        "Bash(pytest -q:*)",
    ]
    assert rules_for_command("make\nmake test") == ["Bash(make:*)", "Bash(make test:*)"]
    assert rules_for_command(" ") == []


# -- the command line ------------------------------------------------------------------------------


def turn(tmp_path: object, **fields: object) -> Turn:
    facts = {"iteration": 1, "prompt": "p", "session_id": "u", "transcript": None, "stderr": None}
    return Turn(**{**facts, "command": "make test", **fields})  # type: ignore[arg-type]


@each_row(
    ("printed", "version"),
    [
        ("2.1.328 (Claude Code)\n", (2, 1, 328)),
        ("1.0.60", (1, 0, 60)),
        ("codex-cli 0.169.0", None),
        ("<html>", None),
        ("", None),
        ("2.1", None),
    ],
)
def test_versions(printed: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(printed) == version


def test_a_session_of_a_new_version() -> None:
    line = Program("/bin/claude", (2, 1, 328)).session(
        turn(None, budget_usd=0.5, permissions=Permissions("edits", ("WebSearch",))), "opus"
    )
    assert line == [
        "/bin/claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json",
        "--verbose", "--allowedTools", "Bash(make test)", "Bash(make test:*)", "WebSearch",
        "--permission-mode", "acceptEdits", "--replay-user-messages", "--max-budget-usd",
        "0.500000", "--model", "opus", "--session-id", "u",
    ]  # fmt: skip


def test_an_old_version_gets_no_flag_it_does_not_know() -> None:
    line = Program("claude", (1, 0, 60)).session(turn(None, budget_usd=0.5, resume="r"), None)
    assert not {"--replay-user-messages", "--max-budget-usd", "--session-id", "--model"} & {*line}
    assert line[-2:] == ["--resume", "r"]
    assert "--disallowedTools" in Program("claude", (1, 0, 60)).question("m")
    assert "--tools" in Program("claude", None).question(None)


def test_what_help_lists_counts() -> None:
    help_text = "Usage\n  --output-format <f>  x\n  -r, --resume [v]\n      --max-budget-usd <n>"
    assert listed_flags(help_text) == {"--output-format", "--resume", "--max-budget-usd"}
    assert listed_flags("unknown option --help") == frozenset()
    program = Program("claude", (1, 0, 60), listed_flags(help_text))
    assert program.knows("--max-budget-usd")
    assert not program.knows("--replay-user-messages")


def test_permissions_cannot_smuggle_in_a_flag() -> None:
    assert permission_flags(Permissions("skip", ("x",)), "make") == [
        "--dangerously-skip-permissions"
    ]
    rules = (" --dangerously-skip-permissions", "-p", "", "WebSearch")
    assert permission_flags(Permissions("edits", rules), "") == [
        "--allowedTools", "WebSearch", "--permission-mode", "acceptEdits",
    ]  # fmt: skip
