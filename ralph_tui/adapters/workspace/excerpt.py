"""A size-limited diff between two trees, for a person or a model to read.

Each file gets a share, so that a large one does not crowd out the others, and omissions are noted.
Secrets are removed before anything is cut, because a cut must not split one.
"""

from ralph_tui.adapters.workspace.changes import DiffEntry, diff_trees
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.text.format import count
from ralph_tui.text.git_diff import parts_of
from ralph_tui.text.sanitize import plain

MAX_FILES = 100
"""Maximum number of files whose text is read."""
MAX_LINES = 5000
"""Maximum number of changed lines in a file whose text is read."""
MAX_BYTES = 262_144
"""Maximum size, in bytes, of a file whose text is read."""
GAP_NOTE_ROOM = 60
"""Characters reserved for the note about a cut."""


def excerpt(private: PrivateRepository, since: str, until: str, limit: int) -> str:
    """Return a unified diff between two trees, cut to `limit` characters; untrusted text."""
    if since == until:
        return ""
    entries = diff_trees(private, since, until, "--numstat")
    read = [path for path, entry in sorted(entries.items()) if _is_short(entry)][:MAX_FILES]
    texts = _read(private, since, until, read) if read else []
    left = len(entries) - len(texts)
    note = (
        f"({count(left, 'changed file')} not shown: too large, binary, or too many)\n"
        if left
        else ""
    )
    return "".join(share_limit([plain(text) for text in texts], limit - len(note))) + note


def share_limit(texts: list[str], limit: int) -> list[str]:
    """Cut the texts to `limit` characters in total; long ones keep their beginnings."""
    kept, room = [""] * len(texts), max(0, limit)
    by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for place, index in enumerate(by_length):
        kept[index] = _cut(texts[index], room // (len(texts) - place))
        room -= len(kept[index])
    return kept


def _cut(text: str, most: int) -> str:
    """Keep whole lines, and note how many are missing."""
    if len(text) <= most:
        return text
    head = text[: max(0, most - GAP_NOTE_ROOM)]
    head = head[: head.rfind("\n") + 1]
    said = f"({count(text.count(chr(10), len(head)), 'more line')} of this file not shown)\n"
    return head + said if len(head) + len(said) <= most else ""


def _is_short(entry: DiffEntry) -> bool:
    return entry.lines is None or sum(entry.lines) <= MAX_LINES


def _read(private: PrivateRepository, since: str, until: str, paths: list[str]) -> list[str]:
    threshold = f"core.bigFileThreshold={MAX_BYTES}"
    options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    result = private.git(
        *("-c", threshold, "--literal-pathspecs", "diff-tree", *options, since, until),
        *("--", *paths),
    )
    return [text for _, text in parts_of(result.out.decode("utf-8", "replace"))]
