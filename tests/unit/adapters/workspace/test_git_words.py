"""Git's error messages are shortened to one line."""

from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult, git_error
from tests.rows import each_row

IGNORED = """The following paths are ignored by one of your .gitignore files:
.env
a
b
c
hint: Use -f if you really want to add them.
hint: Turn this message off by running"""


@each_row(
    ("said", "expected"),
    [
        (IGNORED, "paths are ignored by one of your .gitignore files: .env, a, b and 1 more"),
        ("warning: x\nfatal: bad object HEAD\nmore", "(status 1): fatal: bad object HEAD"),
        ("error: cannot write\nfatal: updating files failed", "error: cannot write"),
        ("hint: nothing but a hint", "no reason given"),
        ("", "no reason given"),
    ],
)
def test_the_line_that_says_what_is_wrong(said: str, expected: str) -> None:
    text = str(git_error(GitResult(1, b"", said), ["add"], Path("/tree")))
    assert text.startswith("git add failed in /tree (status 1): ")
    assert text.endswith(expected)
    assert "⏎" not in text
