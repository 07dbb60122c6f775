"""What differs between two trees, to be read by a person or a model: a diff of bounded size.

Each file gets its share, so that a large one does not push out the others; what is left out is
said. Secrets are taken out before anything is cut: a cut must not halve one.
"""

from ralph_tui.adapters.workspace.changes import DiffEntry, diff_trees
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.text.format import count
from ralph_tui.text.git_diff import parts_of
from ralph_tui.text.sanitize import plain

MOST_FILES = 100
"""Files whose text is read."""
MOST_LINES = 5000
"""Lines that differ in a file whose text is read."""
MOST_BYTES = 262_144
"""Of a file whose text is read."""
LEFT_OUT_ROOM = 60
"""Characters of the words that say what was cut."""


def excerpt(private: PrivateRepository, since: str, until: str, limit: int) -> str:
    """A unified diff of two trees, at most `limit` characters of it; untrusted text."""
    if since == until:
        return ""
    entries = diff_trees(private, since, until, "--numstat")
    read = [path for path, entry in sorted(entries.items()) if _is_short(entry)][:MOST_FILES]
    texts = _read(private, since, until, read) if read else []
    left = len(entries) - len(texts)
    note = (
        f"({count(left, 'changed file')} not shown: too large, binary, or too many)\n"
        if left
        else ""
    )
    return "".join(shared([plain(text) for text in texts], limit - len(note))) + note


def shared(texts: list[str], limit: int) -> list[str]:
    """The texts, `limit` characters of all together; of a longer one the beginning is kept."""
    kept, room = [""] * len(texts), max(0, limit)
    by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for place, index in enumerate(by_length):
        kept[index] = _cut(texts[index], room // (len(texts) - place))
        room -= len(kept[index])
    return kept


def _cut(text: str, most: int) -> str:
    """Whole lines of it, and how many more there are."""
    if len(text) <= most:
        return text
    head = text[: max(0, most - LEFT_OUT_ROOM)]
    head = head[: head.rfind("\n") + 1]
    said = f"({count(text.count(chr(10), len(head)), 'more line')} of this file not shown)\n"
    return head + said if len(head) + len(said) <= most else ""


def _is_short(entry: DiffEntry) -> bool:
    return entry.lines is None or sum(entry.lines) <= MOST_LINES


def _read(private: PrivateRepository, since: str, until: str, paths: list[str]) -> list[str]:
    threshold = f"core.bigFileThreshold={MOST_BYTES}"
    options = ("-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    result = private.git(
        *("-c", threshold, "--literal-pathspecs", "diff-tree", *options, since, until),
        *("--", *paths),
    )
    return [text for _, text in parts_of(result.out.decode("utf-8", "replace"))]
