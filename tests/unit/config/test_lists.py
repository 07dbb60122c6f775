"""Lists where only text can be written: ``--set``, environment."""

import pytest

from ralph_tui.base.errors import UsageError
from ralph_tui.config.sources import load
from tests.rows import each_row


def allow(text: str) -> tuple[str, ...]:
    return load(None, {}, {}, [f"permissions.allow={text}"]).settings.permissions.allow


@each_row(
    ("text", "rules"),
    [
        ('["Bash(make test)", "Read"]', ("Bash(make test)", "Read")),
        ("['Bash(a,b:*)',\n 'Edit(//o/**)']", ("Bash(a,b:*)", "Edit(//o/**)")),
        (' [ "WebSearch" ] ', ("WebSearch",)),
        ("[]", ()),
        ("Read", ("Read",)),
        ("Bash(a b)\nRead", ("Bash(a b)", "Read")),
    ],
)
def test_a_list_is_read_as_a_list(text: str, rules: tuple[str, ...]) -> None:
    assert allow(text) == rules


@each_row("text", ["[Read]", '["Read"', '["Read"]\nx = 1', "[1]", '["Read"] more', "[" * 5000])
def test_what_looks_like_a_list_and_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"permissions\.allow"):
        allow(text)
