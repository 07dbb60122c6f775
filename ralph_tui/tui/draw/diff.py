"""A unified diff as rows for reading. Pure functions; signs stay, so colour is never the only cue.

The diff is untrusted: it is cleaned line by line, so that a control sequence cannot swallow later
lines.
"""

from ralph_tui.text.git_diff import HEAD, path_of
from ralph_tui.text.sanitize import one_line, spelled_name, strip_controls
from ralph_tui.text.secrets import redact
from ralph_tui.text.terms import WARNING
from ralph_tui.tui.draw.spans import Line

MAX_LINES = 20_000
MAX_CHARACTERS = 2_000_000
LONGEST = 4_000
"""Maximum length of a line, in characters."""
PIECE = 50
"""Number of lines that are redacted together."""
MODES = {"100755": "executable", "120000": "symbolic link", "100644": "plain file"}
SIGNS = {"+": "good", "-": "bad", "\\": "dim"}


def rows_of(text: str) -> list[Line]:
    """Return the rows of a diff; a very long one is cut, with a note at the end."""
    whole = text.count("\n")
    kept = text[:MAX_CHARACTERS].split("\n")[:MAX_LINES]
    cleaned = _without_secrets([strip_controls(line[:LONGEST]) for line in kept])
    if cleaned[-1] == "":
        cleaned.pop()
    rows: list[Line] = []
    head: list[str] | None = None
    for line in cleaned:
        if line.startswith(HEAD):
            rows += _head(head)
            head = [line]
        elif head is not None and not line.startswith("@@"):
            head.append(line)
        else:
            rows += _head(head)
            head = None
            rows.append([(line.expandtabs(4), _style(line))])
    rows += _head(head)
    if len(kept) < whole:
        left = whole - len(kept)
        rows.append([(f"{WARNING.glyph} cut here: {left:,} more lines", "warn")])
    return rows


def _without_secrets(lines: list[str]) -> list[str]:
    """Redact in small batches, to keep the screen responsive; a private key is never split."""
    cleaned: list[str] = []
    piece: list[str] = []
    inside = False
    for line in lines:
        piece.append(line)
        if "PRIVATE KEY-----" in line:
            inside = "-----BEGIN" in line
        if len(piece) >= PIECE and not inside:
            cleaned += redact("\n".join(piece)).split("\n")
            piece = []
    return cleaned + (redact("\n".join(piece)).split("\n") if piece else [])


def _style(line: str) -> str:
    return "accent" if line.startswith("@@") else SIGNS.get(line[:1], "text")


def _head(lines: list[str] | None) -> list[Line]:
    """Return the heading row of a file."""
    if not lines:
        return []
    path = one_line(spelled_name(path_of(lines[0])))
    facts = []
    old = ""
    for line in lines[1:]:
        if line.startswith(("new file mode ", "deleted file mode ")):
            what, mode = line.split(" ", 1)[0], line.rsplit(" ", 1)[-1]
            kind = MODES.get(mode, mode)
            facts.append(f"{what} {'file' if mode == '100644' else kind}")
        elif line.startswith("old mode "):
            old = MODES.get(line.rsplit(" ", 1)[-1], "")
        elif line.startswith("new mode "):
            facts.append(f"{old} → {MODES.get(line.rsplit(' ', 1)[-1], '')}")
        elif line.startswith("Binary files "):
            facts.append("binary file")
    suffix = f"  {', '.join(facts)}" if facts else ""
    return [[("── ", "accent"), (path, "strong"), (suffix, "dim")]]
