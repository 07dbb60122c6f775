"""A page of facts, tables and lists: as text for a terminal, or as Markdown for a file.

Cells and items are foreign text; both formats sanitize them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ralph_tui.text.sanitize import one_line


@dataclass(frozen=True)
class Section:
    """A part of a page; empty parts are left out."""

    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    """Name and text; facts without text are left out."""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Table rows under `head`."""
    items: Sequence[str] = ()

    def with_title(self, title: str) -> "Section":
        return replace(self, title=title)

    @property
    def empty(self) -> bool:
        return not (any(words for _, words in self.facts) or self.rows or self.items)


@dataclass(frozen=True)
class Page:
    """A title and the sections below it."""

    title: str
    sections: Sequence[Section] = field(default=())


def as_text(page: Page) -> str:
    """Format a page for a terminal; ends with a newline."""
    parts = [one_line(page.title)]
    parts += ["\n".join(_text_lines(section)) for section in page.sections if not section.empty]
    return "\n\n".join(parts) + "\n"


def _text_lines(section: Section) -> Iterator[str]:
    if section.title:
        yield one_line(section.title)
    known = [(name, one_line(words)) for name, words in section.facts if words]
    width = max((len(name) for name, _ in known), default=0)
    yield from (f"{name:<{width}}  {words}" for name, words in known)
    if section.rows:
        yield from align_columns([section.head, *section.rows])
    for item in section.items:
        yield f"  - {one_line(item)}"


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the rows of a table in columns; the last column is not padded."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def as_markdown(page: Page) -> str:
    """Format a page for a file; ends with a newline."""
    from ralph_tui.analysis.report.markdown import escaped, table  # noqa: PLC0415 - keeps a list quick

    parts = [f"# {escaped(page.title)}"]
    for section in page.sections:
        if section.empty:
            continue
        parts += [f"## {escaped(section.title)}"] if section.title else []
        facts = [f"- {name}: {escaped(words)}" for name, words in section.facts if words]
        parts += ["\n".join(facts)] if facts else []
        if section.rows:
            cells = [[escaped(cell).replace("|", "\\|") for cell in row] for row in section.rows]
            parts.append(table(section.head, cells))
        parts += ["\n".join(f"- {escaped(item)}" for item in section.items)] * bool(section.items)
    return "\n\n".join(parts) + "\n"
