"""Kinds of action: an agent's tool names in the schema's words."""

from ralph_tui.text.tool_kinds import action_type, shows_failing_tests
from tests.rows import each_row


@each_row(
    ("tool", "kind"),
    [
        *(("MultiEdit", "edit"), ("NotebookEdit", "edit"), ("Write", "write"), ("LS", "glob")),
        *(("WebFetch", "read"), ("Task", "task"), ("shell", "bash"), ("apply_patch", "edit")),
    ],
)
def test_tools_have_the_types_of_the_schema(tool: str, kind: str) -> None:
    assert action_type(tool) == kind


@each_row(
    ("tool", "command", "result", "expected"),
    [
        ("Bash", "python -m pytest -q", "exit 1", True),
        ("shell", "cd web && npm run test -- --watch=false", "exit 1", True),
        ("Bash", "cargo test", "exit 1", True),
        ("Bash", "./check.sh", "2 failed, 17 passed", True),
        ("Bash", "pytest --no-such-option", "exit 4", False),
        ("Bash", "rm nothing", "exit 1", False),
        ("Bash", "cat pytest.ini.missing", "No such file or directory", False),
        ("Edit", "tests/test_a.py", "exit 1", False),
    ],
)
def test_a_test_run_that_fails_is_told_from_a_command_that_does(
    tool: str, command: str, result: str, *, expected: bool
) -> None:
    assert shows_failing_tests(tool, command, result) is expected
