"""Which texts a tool call replaces, in the arguments of several agents."""

from typing import Any

from ralph_tui.text.tool_edits import CUT, Edit, edits_of
from tests.rows import each_row

HUNK = "@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
ONE = Edit("a.py", hash("old"), hash("new"))


@each_row(
    ("params", "edits"),
    [
        ({"file_path": "/r/a.py", "old_string": "old", "new_string": "new"}, (ONE,)),
        ({"filePath": "/r/a.py", "oldString": "old", "newString": "new"}, (ONE,)),
        ({"path": "/r/a.py", "old_str": "old", "new_str": "new"}, (ONE,)),
        ({"edits": [{"old_string": "old", "new_string": "new"}, {"old_string": 3}]}, (ONE,)),
        ({"file_path": "/r/a.py", "content": "all"}, (Edit("a.py", None, hash("all")),)),
        ({"changes": [{"path": "/r/a.py", "diff": HUNK}]}, (ONE,)),
        ({"changes": [{"path": "a.py", "diff": "all"}]}, (Edit("a.py", None, hash("all")),)),
        ({"content": "a note"}, ()),
        ({"command": "sed -i s/old/new/ a.py"}, ()),
        ({"old_string": "old" * CUT, "new_string": "new"}, ()),
        ({"file_path": "a.py", "content": "x" * CUT}, ()),
        ({"edits": "text", "changes": {"diff": 3}}, ()),
    ],
)
def test_arguments_show_what_is_replaced(params: dict[str, Any], edits: tuple[Edit, ...]) -> None:
    assert edits_of("a.py", params) == edits


def test_each_file_of_a_change_has_its_own_path() -> None:
    found = edits_of("a.py and 1 more", {"changes": [{"path": p, "diff": HUNK} for p in "ab"]})
    assert [edit.path for edit in found] == ["a", "b"]
