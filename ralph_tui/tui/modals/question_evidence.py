"""Evidence in a question: what an agent would do, or what a restore would change. Pure."""

from functools import lru_cache

from ralph_tui.events.asking import AgentRequest
from ralph_tui.events.waiting import Rollback
from ralph_tui.text.terms import ROLLED_BACK, WHY, WOULD_ALLOW, WOULD_DO
from ralph_tui.tui.draw.diff import rows_of
from ralph_tui.tui.draw.spans import Line, cells, clip, flat_name, wrap

MAX_ROWS = 4000
"""Maximum number of rows of one text: more than any valid text has, so nothing is silently cut."""
_SIGNS = {"+": "good", "-": "bad"}


def request_rows(request: AgentRequest, width: int, said: str) -> list[Line]:
    """Return what the agent would do, why, and what allowing it for the session would permit.

    The first part is left out if the text above (`said`) ends with it.
    """
    input_said = said.endswith(f": {request.input}")
    parts = [
        _block(WOULD_DO, "" if input_said else request.input, width),
        _block(WHY, request.why, width),
        _block(WOULD_ALLOW, request.rule, width),
    ]
    rows: list[Line] = []
    for part in parts:
        rows += [*([[]] if rows and part else []), *part]
    return rows


def _block(head: str, text: str, width: int) -> list[Line]:
    if not text:
        return []
    rows: list[Line] = [[(head, "dim")]]
    for line in text.split("\n"):
        style = _SIGNS.get(line[:1], "text")
        rows += [
            [("▎ ", "accent"), (row, style)] for row in wrap(line, max(1, width - 2), MAX_ROWS)
        ]
    return rows


def diff_rows(text: str) -> list[Line]:
    """Return the diff of an iteration; empty if there is none."""
    if not text:
        return []
    return [[("changes in this iteration", "dim")], *_diff_rows(text)]


@lru_cache(maxsize=2)
def _diff_rows(text: str) -> tuple[Line, ...]:
    """Cached, because a dialog is redrawn at every key."""
    return tuple(rows_of(text))


def rollback_rows(to: Rollback, width: int) -> list[Line]:
    """Return the names of the files that a restore would change."""
    if not to.paths:
        return []
    rows: list[Line] = [[(f"{ROLLED_BACK.glyph} ", "owner"), ("a restore would change", "dim")]]
    line: Line = [("  ", "")]
    for path in to.paths:
        name = clip(flat_name(path), max(1, width - 4))
        if cells(line) > 2 and cells(line) + cells([(name, "")]) > width:
            rows.append(line)
            line = [("  ", "")]
        line.append((f"{name}  ", "text"))
    more = f"and {to.files - len(to.paths)} more"
    if to.files > len(to.paths):
        if cells(line) + len(more) > width:
            rows.append(line)
            line = [("  ", "")]
        line.append((more, "dim"))
    return [*rows, *([line] if len(line) > 1 else [])]
