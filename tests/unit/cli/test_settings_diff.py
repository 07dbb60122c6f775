"""The diff of a settings file, as difflib would show it but faster."""

import difflib
import random

from ralph_tui.hooks.command import END, settings_diff
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


def test_of_a_long_line_its_ends_are_shown_without_secrets() -> None:
    """All settings may be on one line, where a cut could expose part of a secret."""
    key = "".join(random.Random(1).choices("aCdEfGhJk23456789", k=300))
    filled = '"a": "' + "x" * 100_000 + '"'
    for begin in range(END - 340, END + 10, 35):
        held = f'"password": "{key}", "b": "{"p" * begin}"'
        line = f'{{"b": "{"p" * begin}", {held[: -begin - 9]}, {filled}, {held}}}'
        _, _, _, row = settings_diff(None, line.encode())
        assert len(row) == 2 * END + 3
        assert row.startswith('+{"b": "pppp')
        assert not any(key[at : at + 8] in row for at in range(len(key)))
