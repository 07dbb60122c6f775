"""Fingerprint the texts that a tool call replaces, from its arguments."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tui.text.json_fields import as_list, as_map, as_text

CUT: Final = 4000
"""Longer texts are ignored: the journal truncates them, so different texts can look alike."""
_MOST: Final = 50
_REPLACED: Final = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
)
_WHOLE: Final = ("content", "file_text")
_PATHS: Final = ("file_path", "filePath", "path")


class Edit(NamedTuple):
    """One text in a file replaced by another; fingerprints are valid in one process only."""

    path: str
    before: int | None
    """None if the call writes the whole file."""
    after: int


def edits_of(subject: str, params: Mapping[str, object]) -> tuple[Edit, ...]:
    """Return the edits that a call requests; `subject` is its file as shown to the user."""
    changes = [as_map(change) for change in as_list(params.get("changes"))[:_MOST]]
    found = [edit for change in changes if (edit := _of_diff(subject, change, len(changes)))]
    parts = [as_map(part) for part in as_list(params.get("edits"))[:_MOST]] or [params]
    found += [edit for part in parts for edit in _replacements(subject, part)]
    if any(as_text(params.get(name)) for name in _PATHS):
        whole = (params.get(name) for name in _WHOLE)
        found += [Edit(subject, None, hash(t)) for t in whole if isinstance(t, str) and _is_kept(t)]
    return tuple(found)


def _replacements(subject: str, part: Mapping[str, object]) -> Iterator[Edit]:
    for old, new in _REPLACED:
        before, after = part.get(old), part.get(new)
        if isinstance(before, str) and isinstance(after, str) and _is_kept(before, after):
            yield Edit(subject, hash(before), hash(after))


def _of_diff(subject: str, change: Mapping[str, object], of: int) -> Edit | None:
    """Return the edit of a unified diff; a new file's diff is its content."""
    diff = as_text(change.get("diff"))
    if not diff or not _is_kept(diff):
        return None
    path = subject if of == 1 else as_text(change.get("path"))
    lines = diff.splitlines()
    if not any(line.startswith("@@") for line in lines):
        return Edit(path, None, hash(diff))
    removed, added = (
        "\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return Edit(path, hash(removed), hash(added))


def _is_kept(*texts: str) -> bool:
    return all(len(text) < CUT for text in texts)
