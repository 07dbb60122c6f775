"""Kinds of action: an agent's name of a tool in the words of the schema."""

import pytest

from ralph_tui.text.tool_kinds import action_type


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        *(("MultiEdit", "edit"), ("NotebookEdit", "edit"), ("Write", "write"), ("LS", "glob")),
        *(("WebFetch", "read"), ("Task", "task"), ("shell", "bash"), ("apply_patch", "edit")),
    ],
)
def test_tools_have_the_types_of_the_schema(tool: str, kind: str) -> None:
    assert action_type(tool) == kind
