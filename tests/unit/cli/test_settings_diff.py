"""The change of a settings file as it is shown: as difflib says it, without its work."""

import difflib

from ralph_tui.hooks.notes import settings_diff
from tests.rows import each_row

LINES = [f"line {number}" for number in range(40)]


@each_row("place", [0, 1, 3, 20, 39, 40])
@each_row("less", [0, 2])
def test_it_is_the_diff_of_the_whole_file(place: int, less: int) -> None:
    after = [*LINES[:place], "hook", "hook 2", *LINES[place + less :]]
    for was, will in ((LINES, after), (after, LINES), ([], after), (after, [])):
        name = ".claude/settings.json"
        expected = list(difflib.unified_diff(was, will, name, name, lineterm=""))
        assert list(settings_diff(*("\n".join(one).encode() for one in (was, will)))) == expected
