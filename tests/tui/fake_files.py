"""Snapshots that were never taken: the same files and diffs for every picture."""

import time

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events.workspace import FileChange

LEXER = """\
diff --git a/ralph_parser/lexer.py b/ralph_parser/lexer.py
index 3b18e51..9daeafb 100644
--- a/ralph_parser/lexer.py
+++ b/ralph_parser/lexer.py
@@ -41,9 +41,11 @@ class Lexer:
     def _quoted(self) -> Token:
         start = self._at
-        while self._peek() != '"':
+        while (char := self._peek()) != '"':
+            if char == "\\\\":
+                self._skip()  # an escaped quote does not end the token
             self._skip()
-        return Token("quoted", self._text[start : self._at])
+        return Token("quoted", self._text[start : self._at], closed=True, line=self.row, at=start)
     def _word(self) -> Token:
@@ -80,3 +82,4 @@ class Lexer:
     def _skip(self) -> None:
         self._at += 1
+        self._seen += 1
\\ No newline at end of file
"""
SCRIPT = """\
diff --git a/tools/check b/tools/check
new file mode 100755
index 0000000..e69de29
--- /dev/null
+++ b/tools/check
@@ -0,0 +1,2 @@
+#!/bin/sh
+exec python -m pytest -q "$@"
"""
ICON = """\
diff --git a/docs/icon.png b/docs/icon.png
index 1c5d1f2..7d3aa10 100644
Binary files a/docs/icon.png and b/docs/icon.png differ
"""
OLD = """\
diff --git a/tests/test_old.py b/tests/test_old.py
deleted file mode 100644
index 2b1f3c4..0000000
--- a/tests/test_old.py
+++ /dev/null
@@ -1,3 +0,0 @@
-def test_nothing():
--- [red]not a header[/red]
-    assert True
"""
DIFFS = {
    "docs/icon.png": ICON,
    "ralph_parser/lexer.py": LEXER,
    "tests/test_old.py": OLD,
    "tools/check": SCRIPT,
}


def change(path: str, status: object, category: object, added: int, removed: int) -> FileChange:
    return FileChange.model_validate(
        {"path": path, "status": status, "category": category, "added": added, "removed": removed}
    )


CHANGES = (
    change("docs/icon.png", "modified", "docs", 0, 0),
    change("ralph_parser/lexer.py", "modified", "source", 5, 2),
    change("tests/test_old.py", "deleted", "test", 0, 3),
    change("tools/check", "added", "other", 2, 0),
)


class FakeFiles:
    """`Files` with one answer for every pair of trees."""

    def __init__(self, *, gone: str = "", takes_s: float = 0.0) -> None:
        self.gone = gone
        self.takes_s = takes_s
        self.asked: list[tuple[str, str, str | None]] = []

    def changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        if self.gone:
            raise WorkspaceError(self.gone)
        return () if since == until else CHANGES

    def from_present(self, tree: str) -> tuple[FileChange, ...]:
        return self.changes("the present", tree)

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        self.asked.append((since, until, path))
        time.sleep(self.takes_s)
        return "".join(DIFFS.values()) if path is None else DIFFS[path]
